package planner

import (
	"cmp"
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

const rowByRowDoc = `Triggers of the table read or write tables, which only a session can do for all node groups. What the statement
makes of its rows is computed first, by a server that has a table like the target; then each row goes its way alone: triggers before it,
the row, triggers behind it, in the order in which one server would. Nothing that a row's triggers do changes what the
statement makes of a later row: servers refuse triggers that write to a table of the statement. So goes an UPDATE of a table whose triggers
servers fire, where only all node groups together know which rows it finds, and a change with ORDER BY of keys that foreign keys refer to. It must not fire for the rows
themselves, nor where a server decides while it writes which event a row is (ON DUPLICATE KEY UPDATE, REPLACE) if the
triggers differ with that.`

// insertRowByRow is the rule RowByRow of INSERT and REPLACE.
func insertRowByRow(b *build) (bool, error) {
	in, t := b.ins, b.ins.table
	events := []string{"INSERT"}
	switch {
	case b.plan.Kind == plan.Replace:
		events = append(events, "DELETE")
	case len(in.stmt.OnDup) > 0:
		events = append(events, "UPDATE")
	}
	if b.sess.RowWrite || !t.HasPrograms(events...) && !b.sess.Checked {
		return false, nil
	}
	b.rowByRow = true
	const twoSteps = "look for the row with SELECT ... FOR UPDATE, then INSERT or UPDATE it"
	switch {
	case b.sess.Checked && b.ignores():
		return false, b.refuseRows(t, "INSERT IGNORE", "leave out IGNORE")
	case b.returning:
		return false, b.refuseRows(t, "RETURNING", "read the rows with a SELECT")
	case len(in.stmt.OnDup) > 0 && t.HasPrograms("UPDATE"):
		return false, b.refuseRows(t, "ON DUPLICATE KEY UPDATE", twoSteps)
	case in.stmt.RowAlias != nil && len(in.stmt.RowAlias.Columns) > 0: // each row is written with all columns, in the table's order
		return false, b.refuseRows(t, "names for the columns of the new row", "write AS new without them, and new.column")
	case b.plan.Kind == plan.Replace && t.HasPrograms("DELETE"):
		return false, b.refuseRows(t, "REPLACE", twoSteps)
	case in.query == nil && len(b.a.insts) > 0:
		return false, b.refuseRows(t, "INSERT with subqueries in VALUES", "use INSERT ... SELECT")
	case in.query != nil && len(in.stmt.OnDup) > 0:
		return false, b.refuseRows(t, "INSERT ... SELECT ... ON DUPLICATE KEY UPDATE", "select first, then insert the rows")
	}
	return b.byRow(t, &plan.RowByRow{Table: t, Event: "INSERT", Sets: in.columns, Query: in.query != nil})
}

// modifyRowByRow is the rule RowByRow of UPDATE and DELETE.
func modifyRowByRow(b *build) (bool, error) {
	m, event := b.mod, "UPDATE"
	if m.del != nil {
		event = "DELETE"
	}
	at := slices.IndexFunc(m.written, func(in *instance) bool { return in.table.HasPrograms(event) || b.sess.Checked })
	if b.sess.RowWrite || at < 0 {
		return false, nil
	}
	b.rowByRow = true
	return b.modifyByRow(m.written[at], event)
}

// changeByRow is RowByRow for an UPDATE or DELETE that copies cannot do: each row that is found is written by a statement of its own, whether it
// changes or not. keys: it changes keys, or what foreign keys speak of, so that ORDER BY must say in which order rows are changed. ok is false
// where it cannot be run so.
func (b *build) changeByRow(keys bool) (ok bool) {
	m, event := b.mod, "UPDATE"
	if m == nil || !m.analysed || len(m.written) != 1 || b.a == nil || keys && !m.inOneOrder() {
		return false
	}
	if m.del != nil {
		event = "DELETE"
	}
	kept := *b.plan
	if _, err := b.modifyByRow(m.written[0], event); err != nil {
		*b.plan = kept
		return false
	}
	b.rowByRow = true
	b.plan.Relay = kept.Relay // one write, where all its rows are
	b.plan.Rules = append(b.plan.Rules, "RowByRow")
	return true
}

// inOneOrder reports whether ORDER BY tells all rows of the table written apart.
func (m *modification) inOneOrder() bool {
	t := m.written[0].table
	if t == nil || len(t.Primary) == 0 {
		return false
	}
	return !slices.ContainsFunc(t.Primary, func(c int) bool {
		return !slices.ContainsFunc(m.orderBy(), func(o *sqlparser.Order) bool {
			name, is := o.Expr.(*sqlparser.ColName)
			return is && t.Column(name.Name.String()) == c
		})
	})
}

// modifyByRow plans an UPDATE or DELETE of in row by row.
func (b *build) modifyByRow(in *instance, event string) (bool, error) {
	m, t := b.mod, in.table
	if len(m.scope.insts) > 1 {
		return false, b.refuseRows(t, "UPDATE or DELETE with joins", "select the keys first, then write to one table")
	}
	with, ignore := false, false
	var sets []int
	if u := m.update; u != nil {
		with, ignore = u.With != nil, bool(u.Ignore)
		for _, e := range u.Exprs {
			if readsQuery(e.Expr) {
				return false, b.refuseRows(t, "UPDATE with subqueries in SET", "select the values first")
			}
			c := t.Column(e.Name.Name.String())
			if c < 0 {
				return false, sqlerr.UnknownColumn.New(e.Name.Name.String(), fieldList(b.snap.Flavor))
			}
			sets = append(sets, c)
		}
	} else {
		with, ignore = m.del.With != nil, bool(m.del.Ignore)
		if len(m.del.Targets) > 0 {
			return false, b.refuseRows(t, "DELETE with a list of tables", "write DELETE FROM t WHERE ...")
		}
	}
	switch {
	case b.returning:
		return false, b.refuseRows(t, "RETURNING", "read the rows with a SELECT ... FOR UPDATE first")
	case with:
		return false, b.refuseRows(t, "WITH in a write", "use a subquery")
	case ignore:
		return false, b.refuseRows(t, "UPDATE IGNORE and DELETE IGNORE", "leave out IGNORE")
	}
	return b.byRow(t, &plan.RowByRow{Table: t, Event: event, Alias: in.name, Sets: sets, Finds: b.findsFirst(in)})
}

// readsQuery reports whether there is a subquery in an expression.
func readsQuery(e sqlparser.Expr) (found bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		_, is := n.(*sqlparser.Subquery)
		found = found || is
		return !found, nil
	}, e)
	return found
}

func fieldList(f catalog.Flavor) string {
	if f == catalog.MariaDB {
		return "SET"
	}
	return "field list"
}

// byRow makes n the plan of the statement.
func (b *build) byRow(t *catalog.Table, n *plan.RowByRow) (bool, error) {
	switch {
	case len(t.Primary) == 0 || t.HiddenKey:
		return false, b.refuseRows(t, "a write to rows without a primary key", "give the table a primary key")
	case len(b.reads) > 0:
		return false, b.refuseRows(t, "functions that read tables in a write", "select their values first")
	case b.plan.Uses&(plan.WritesUserVariable|plan.SetsLastInsertID) != 0:
		return false, b.refuseRows(t, "assigning variables in a write", "compute the value first, with SET or SELECT")
	case b.st.Uses()&sqlparse.ReadsUserVariable != 0 && !b.oneRow() && b.triggersAssign():
		return false, b.refuseRows(t, "a user variable, which triggers may assign for each row, in a write of several rows", "write the value itself, or one row a statement")
	}
	n.Tables = b.a.tables()
	if !slices.Contains(n.Tables, t) {
		n.Tables = append(n.Tables, t)
	}
	b.plan.Root, b.plan.Relay, b.plan.Refuse, b.done = n, nil, nil, true
	return true, nil
}

// oneRow reports whether the statement is an INSERT of a single row, whose values are computed before any trigger.
func (b *build) oneRow() bool {
	if b.ins == nil || b.ins.query != nil || len(b.ins.stmt.OnDup) > 0 {
		return false
	}
	rows, ok := b.ins.stmt.Rows.(sqlparser.Values)
	return ok && len(rows) == 1
}

// triggersAssign reports whether any trigger that sessions run may assign user variables, by itself or in a procedure. What it writes may
// fire the triggers of any other table.
func (b *build) triggersAssign() bool {
	for _, d := range b.snap.Databases {
		for _, t := range d.Tables {
			for _, tr := range t.Triggers {
				if tr.Program != nil && assigns(b.st.Dialect(), tr.Program) {
					return true
				}
			}
		}
	}
	return false
}

// assigns reports whether a trigger may assign user variables: SET @x =, @x :=, INTO @x, or CALL.
func assigns(d *sqlparse.Dialect, p *catalog.TriggerProgram) bool {
	st := d.NewStatement()
	defer st.Done()
	if st.Scan([]byte("CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW "+p.Body), sqlparse.ParseMode(p.SQLMode)) != nil {
		return true
	}
	list := false // behind SET or INTO
	var before sqlparse.Token
	for toks := st.Tokens(); ; {
		t := toks.Next()
		switch {
		case t.Kind == sqlparse.EOF || t.Kind == sqlparse.Invalid:
			return t.Kind == sqlparse.Invalid
		case st.Is(before, ".") || st.Is(t, "."):
		case t.Kind == sqlparse.Word && st.Is(t, "CALL"):
			return true
		case st.Is(t, "SET"), st.Is(t, "INTO"):
			list = true
		case st.Is(t, ";"), st.Is(t, "SELECT"), st.Is(t, "FROM"):
			list = false
		case st.Is(t, ":="), t.Kind == sqlparse.UserVar && list && t.Depth == 0 && (st.Is(before, "SET") || st.Is(before, "INTO") || st.Is(before, ",")):
			return true
		}
		before = t
	}
}

func (b *build) refuseRows(t *catalog.Table, what, how string) *sqlerr.Error {
	why := "whose triggers use other tables"
	if b.sess.Checked {
		why = "through a view with CHECK OPTION"
	}
	return sqlerr.Unsupported(what+" of table '"+t.Name+"', "+why, how)
}

// programs refuses statements that the rule RowByRow has not seen and that may write to a table whose triggers sessions run.
func (b *build) programs() error {
	if _, planned := b.plan.Root.(*plan.RowByRow); planned || b.sess.RowWrite {
		return nil
	}
	var events []string
	switch {
	case b.st.Kind() == sqlparse.LoadData, b.plan.Kind == plan.Replace:
		events = []string{"INSERT", "DELETE"}
	case b.plan.Kind == plan.Insert:
		events = []string{"INSERT", "UPDATE"}
	case b.plan.Kind == plan.Update:
		events = []string{"UPDATE"}
	case b.plan.Kind == plan.Delete:
		events = []string{"DELETE"}
	default:
		return nil
	}
	if b.sess.Checked {
		return sqlerr.Unsupported("this form of a write through a view with CHECK OPTION", "write it with plain INSERT or UPDATE, or to the table")
	}
	if b.mod != nil && b.mod.analysed || b.ins != nil && b.ins.analysed {
		return nil
	}
	refs, _ := b.st.Tables()
	for _, r := range refs {
		db := cmp.Or(r.DB, b.db)
		if t, err := b.table(db, r.Name); err == nil && r.Write && t.HasPrograms(events...) {
			return b.refuseRows(t, "this form of a write", "write it with plain INSERT, UPDATE or DELETE")
		}
	}
	return nil
}
