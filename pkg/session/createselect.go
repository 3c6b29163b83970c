package session

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// createSelect is CREATE TABLE ... SELECT in its parts.
type createSelect struct {
	ifNotExists bool
	verb        string        // of the INSERT that fills the table
	definition  sqlparse.Span // columns and options
	partition   sqlparse.Span // PARTITION BY ..., for Skarv, if End is not 0
	query       sqlparse.Span
	limit       sqlparse.Span           // the query's own LIMIT, or the place for one before its locks, if End is not 0
	limited     bool                    // the query has something else behind which no LIMIT may stand
	versioned   bool                    // WITH SYSTEM VERSIONING
	refers      bool                    // a foreign key
	warned      []diagnostics.Condition // of the definition
}

// numberedCheck is the name that MySQL gives a CHECK constraint of the table in which defineFromSelect sees what the query makes.
var numberedCheck = regexp.MustCompile("\n  CONSTRAINT [`\"]?_skarv_select_*_chk_[0-9]+[`\"]?")

// findCreateSelect takes a CREATE TABLE apart; ok is false when it has no query.
func (s *Session) findCreateSelect() (c createSelect, ok bool) {
	st := s.stmt
	refs, _ := st.Tables()
	if len(refs) == 0 {
		return c, false
	}
	for toks := st.Tokens(); ; {
		t := toks.Next()
		if t.Start >= refs[0].Start || t.Kind == sqlparse.EOF {
			break
		}
		c.ifNotExists = c.ifNotExists || st.Is(t, "EXISTS")
	}
	if !c.findQuery(st, refs[0].End) {
		return c, false
	}
	c.findLimit(st)
	return c, true
}

// selectsNull returns a user variable in the select list of a query that has been set to NULL and is not CAST. One server knows of what type
// it was.
func (s *Session) selectsNull(query sqlparse.Span) string {
	var before, last sqlparse.Token
	for tokens := s.stmt.TokensFrom(query.Start); ; {
		t := tokens.Next()
		switch {
		case t.Kind == sqlparse.EOF, t.Depth == 0 && s.stmt.Is(t, "FROM"):
			return ""
		case t.Kind == sqlparse.UserVar && !(s.stmt.Is(last, "(") && (s.stmt.Is(before, "CAST") || s.stmt.Is(before, "CONVERT"))):
			text := s.stmt.Text(t.Span)
			if v, set := s.state.Get("@" + sqltypes.QuoteName(variable.UserName(text))); set && v == "NULL" {
				return string(text)
			}
		}
		before, last = last, t
	}
}

// selectsParameter refuses parameters of prepared statements in what a CREATE TABLE ... SELECT selects: servers give such columns a type when they
// prepare the statement, and the values that are sent to them have one of their own. Conditions give columns no type.
func (s *Session) selectsParameter(query sqlparse.Span) error {
	inCondition := []bool{false} // by depth of parentheses
	for tokens := s.stmt.TokensFrom(query.Start); ; {
		t := tokens.Next()
		last := len(inCondition) - 1
		switch {
		case t.Kind == sqlparse.EOF || t.Kind == sqlparse.Invalid:
			return nil
		case s.stmt.Is(t, "("):
			inCondition = append(inCondition, inCondition[last])
		case s.stmt.Is(t, ")") && last > 0:
			inCondition = inCondition[:last]
		case t.Kind == sqlparse.Param && !inCondition[last]:
			return sqlerr.Unsupported("parameters in what CREATE TABLE ... SELECT selects",
				"write the value, or CREATE the TABLE first and INSERT ... SELECT: servers choose a parameter's type before they know its value")
		case last > 0 && inCondition[last-1]: // all that a condition holds
		case s.stmt.Is(t, "WHERE"), s.stmt.Is(t, "HAVING"), s.stmt.Is(t, "LIMIT"), s.stmt.Is(t, "BY"):
			inCondition[last] = true
		case s.stmt.Is(t, "SELECT"), s.stmt.Is(t, "VALUES"): // behind UNION
			inCondition[last] = false
		}
	}
}

// findQuery finds what stands between the table's name, which ends at from, and the query, and where that begins; it returns false when
// there is none.
func (c *createSelect) findQuery(st *sqlparse.Statement, from int) bool {
	c.verb = "INSERT INTO"
	c.definition.Start = from
	part := &c.definition // what t belongs to; nil: neither to the definition nor to PARTITION BY
	end := func(at int) {
		if part != nil {
			part.End, part = at, nil
		}
	}
	var open sqlparse.Token // the first of the parentheses just read, which stands in no other
	for toks := st.TokensFrom(from); ; {
		t, outermost := toks.Next(), open
		open = sqlparse.Token{}
		switch {
		case t.Kind == sqlparse.EOF || t.Kind == sqlparse.Invalid:
			return false
		case st.Is(t, "("):
			if open = outermost; t.Depth == 0 {
				open = t
			}
		case outermost.End > 0 && (st.Is(t, "SELECT") || st.Is(t, "WITH") || st.Is(t, "VALUES")):
			end(outermost.Start)
			c.query.Start = outermost.Start
			return true
		case t.Kind == sqlparse.Word && st.Is(t, "REFERENCES"):
			c.refers = true
		case t.Depth > 0 || t.Kind != sqlparse.Word:
		case st.Is(t, "WITH") && isNext(st, toks, "SYSTEM"):
			c.versioned = true
		case st.Is(t, "SELECT") || st.Is(t, "WITH") || st.Is(t, "VALUES") || st.Is(t, "TABLE"):
			end(t.Start)
			c.query.Start = t.Start
			return true
		case st.Is(t, "PARTITION"):
			end(t.Start)
			part = &c.partition
			part.Start = t.Start
		case st.Is(t, "IGNORE"):
			end(t.Start)
			c.verb = "INSERT IGNORE INTO"
		case st.Is(t, "REPLACE"):
			end(t.Start)
			c.verb = "REPLACE INTO"
		case st.Is(t, "AS"):
			end(t.Start)
		}
	}
}

// findLimit finds the end of the query, its own LIMIT, and whether it has something else behind which no LIMIT may stand.
func (c *createSelect) findLimit(st *sqlparse.Statement) {
	c.query.End = len(st.SQL())
	var t, before sqlparse.Token
	for toks := st.TokensFrom(c.query.Start); ; {
		before, t = t, toks.Next()
		switch {
		case t.Kind == sqlparse.EOF || t.Kind == sqlparse.Invalid:
			if c.limit.Start > 0 && c.limit.End == 0 {
				c.limit.End = c.query.End
			}
			return
		case t.Depth != 0:
		case t.Kind == sqlparse.Word && st.Is(t, "LIMIT") && !st.Is(before, "."):
			c.limit = sqlparse.Span{Start: t.Start}
		case st.Is(t, "FOR") || st.Is(t, "LOCK") || st.Is(t, "INTO") || st.Is(t, "PROCEDURE") || st.Is(t, "FETCH"):
			switch {
			case c.limit.Start > 0 && c.limit.End == 0:
				c.limit.End = t.Start
			case c.limit.Start > 0:
			case !c.limited && (st.Is(t, "FOR") && (isNext(st, toks, "UPDATE") || isNext(st, toks, "SHARE")) || st.Is(t, "LOCK") && isNext(st, toks, "IN")):
				c.limit = sqlparse.Span{Start: t.Start, End: t.Start}
			default:
				c.limited = true
			}
		}
	}
}

// unparenthesised is a list of VALUES, or a query that begins by WITH, without the parentheses around it, behind which servers do not take
// them in INSERT; any other query as it is. with says that it is one with WITH.
func (s *Session) unparenthesised(query []byte) (bare []byte, with bool) {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if st.Scan(query, s.Mode) != nil {
		return query, false
	}
	toks := st.Tokens()
	opened := 0
	first := toks.Next()
	for ; st.Is(first, "("); first = toks.Next() {
		opened++
	}
	with = st.Is(first, "WITH")
	if opened == 0 || with && opened > 1 || !with && !st.Is(first, "VALUES") { // MariaDB takes WITH in one pair only
		return query, false
	}
	for end := 0; ; {
		switch t := toks.Next(); {
		case t.Depth < opened && st.Is(t, ")"):
			if end == 0 {
				end = t.Start
			}
		case t.Kind == sqlparse.EOF && t.Depth == 0 && end > 0:
			return query[first.Start:end], with
		case t.Kind == sqlparse.EOF, t.Depth < opened: // something behind the parentheses
			return query, false
		}
	}
}

// isNext reports whether a word is what comes next.
func isNext(st *sqlparse.Statement, toks sqlparse.Tokens, word string) bool {
	return st.Is(toks.Next(), word)
}

// createFromSelect runs CREATE TABLE ... SELECT: a server says what table the query makes, the controller makes it, the rows are
// inserted as by INSERT ... SELECT. If that fails the table goes again, and with OR REPLACE so has the one before it, as on one
// server. handled is false for other statements.
func (s *Session) createFromSelect(p *plan.Plan) (handled bool, err error) {
	if !p.Change.Creates(plan.ObjectTable) {
		return false, nil
	}
	c, ok := s.findCreateSelect()
	if !ok {
		return false, nil
	}
	if c.versioned {
		return true, sqlerr.Unsupported("system versioning", "keep the history in a table of its own")
	}
	if err := s.selectsParameter(c.query); err != nil {
		return true, err
	}
	if name := s.selectsNull(c.query); name != "" {
		return true, sqlerr.Unsupported("CREATE TABLE ... SELECT of the user variable "+name+", which is NULL: its type is not remembered", "CAST it")
	}
	old, verb := s.snap.Table(p.Database, p.Name), "CREATE TABLE "
	if p.Change.OrReplace {
		verb = "CREATE OR REPLACE TABLE "
		if err := s.replaceable(p, &c, old); err != nil {
			return true, err
		}
	} else if old != nil {
		return true, s.tableExists(p, &c)
	}
	if c.refers {
		if s.cfg.Dialect.MariaDB() {
			return true, sqlerr.Unsupported("CREATE TABLE ... SELECT with a foreign key", "create the table first, then use INSERT ... SELECT")
		}
		return true, sqlerr.ForeignKeyWithSelect.New()
	}
	name := sqltypes.QuoteIn(p.Database, p.Name)
	query, none := s.queryOf(&c)
	definition, columns, err := s.defineFromSelect(p, &c, query, none)
	if err != nil {
		return true, err
	}
	create := s.ddlRequest()
	create.SQL = verb + name + " " + definition
	if c.partition.End > 0 {
		create.SQL += " " + string(s.args.AppendSpan(nil, c.partition))
	}
	made, err := s.controllerDDL(create)
	if sqlerr.HasCode(err, sqlerr.TableExists) { // as a sequence, or since a moment
		return true, s.tableExists(p, &c)
	} else if err != nil {
		return true, err
	}
	filled, err := s.fillFromSelect(&c, name, columns, query)
	if err == nil {
		err = s.commitImplicit() // without autocommit
	}
	if err != nil {
		s.endTransaction()
		drop := s.ddlRequest()
		drop.SQL, drop.Made = "DROP TABLE "+name, made.Made // another one of that name may be somebody else's
		if _, derr := s.controllerDDL(drop); derr != nil {
			s.log.Warn("table of a failed CREATE TABLE ... SELECT stays", "database", p.Database, "table", p.Name, "error", derr)
		}
		return true, err
	}
	return true, s.ok(filled)
}

// queryOf is the query, and the query so that it returns no rows.
func (s *Session) queryOf(c *createSelect) (query []byte, none string) {
	query, with := s.unparenthesised(s.args.AppendSpan(nil, c.query))
	switch {
	case c.limited || with:
		return query, "SELECT * FROM (" + string(query) + ") AS skarv_query LIMIT 0"
	case c.limit.Start > 0: // in its place: a table made of a derived one has other defaults
		return query, string(s.args.AppendSpan(nil, sqlparse.Span{Start: c.query.Start, End: c.limit.Start})) + " LIMIT 0 " +
			string(s.args.AppendSpan(nil, sqlparse.Span{Start: c.limit.End, End: c.query.End}))
	}
	return query, string(query) + " LIMIT 0"
}

// fillFromSelect inserts the rows of the query into the table that has been made, and returns what the whole statement answers.
func (s *Session) fillFromSelect(c *createSelect, name string, columns []string, query []byte) (wire.OK, error) {
	take := &capture{}
	if err := s.within(fmt.Appendf(nil, "%s %s (%s) %s", c.verb, name, strings.Join(columns, ", "), query), take); err != nil {
		return wire.OK{}, err
	}
	s.diagnostics.Conditions = slices.Concat(c.warned, s.diagnostics.Conditions)
	ok := wire.OK{AffectedRows: uint64(max(s.diagnostics.RowCount, 0)), LastInsertID: take.ok.LastInsertID, Warnings: uint16(min(s.diagnostics.Count(), math.MaxUint16)), Info: take.ok.Info}
	if len(ok.Info) == 0 || len(c.warned) > 0 {
		ok.Info = recordsInfo(ok.AffectedRows, ok.Warnings)
	}
	return ok, nil
}

// recordsInfo is the text with which servers answer an INSERT of several rows, none of which was a duplicate.
func recordsInfo(rows uint64, warnings uint16) []byte {
	return fmt.Appendf(nil, "Records: %d  Duplicates: 0  Warnings: %d", rows, warnings)
}

// tableExists answers where the table is there.
func (s *Session) tableExists(p *plan.Plan, c *createSelect) error {
	exists := sqlerr.TableExists.New(p.Name)
	if !c.ifNotExists {
		return exists
	}
	if s.diagnostics.Clear(); s.notes() {
		s.diagnostics.Add(diagnostics.Of(diagnostics.Note, exists))
	}
	return s.ok(wire.OK{Warnings: s.diagnostics.Warnings()})
}

// replaceable returns an error if the query of CREATE OR REPLACE TABLE ... SELECT reads the table that it replaces, old.
func (s *Session) replaceable(p *plan.Plan, c *createSelect, old *catalog.Table) error {
	if c.ifNotExists {
		return sqlerr.WrongUsage.New("OR REPLACE", "IF NOT EXISTS")
	}
	if old == nil {
		return nil
	}
	if old.Kind == catalog.View {
		return sqlerr.IsView.New(p.Database + "." + p.Name)
	}
	query := s.cfg.Dialect.NewStatement()
	defer query.Done()
	if err := query.Scan(s.stmt.SQL()[c.query.Start:c.query.End], s.Mode); err != nil {
		return err
	}
	refs, sure := query.Tables()
	if !sure {
		return sqlerr.Unsupported("this form of CREATE OR REPLACE TABLE ... SELECT", "drop the table first")
	}
	for _, r := range refs {
		r.DB = cmp.Or(r.DB, s.db)
		if s.snap.LowerCaseTableNames != 0 {
			r.DB, r.Name = strings.ToLower(r.DB), strings.ToLower(r.Name)
		}
		switch t := s.snap.Table(r.DB, r.Name); {
		case t == old:
			return sqlerr.UpdateTableUsed.New(p.Name, "CREATE")
		case t != nil && t.Kind == catalog.View:
			return sqlerr.Unsupported("CREATE OR REPLACE TABLE ... SELECT from a view", "drop the table first")
		}
	}
	return nil
}

// defineFromSelect lets a server say what columns and options the table has, and which columns the query fills; none is the query so that it
// returns no rows.
func (s *Session) defineFromSelect(p *plan.Plan, c *createSelect, query []byte, none string) (definition string, columns []string, err error) {
	made := sqltypes.QuoteIn(p.Database, s.freeName(p.Database, "_skarv_select"))
	var b *backend.Conn
	if s.temps != nil { // the query may read the session's temporary tables
		if b, err = s.acquire(s.temps.conn.Group); err != nil {
			return "", nil, err
		}
		defer func() {
			_, drop := b.Exec("DROP TEMPORARY TABLE IF EXISTS " + made)
			s.done(b, drop)
		}()
	} else {
		if b, err = s.cfg.Pools.Get(s.anyGroup(), s.profile, s.state, nil, s.claim()); err != nil {
			return "", nil, err
		}
		b.Dirty = true // the temporary table goes with the reset
		defer b.Release()
	}
	s.client.Enter(b)
	defer s.client.Leave(b)
	st, err := b.Prepare(query)
	if err != nil {
		return "", nil, txn.Lost(b, err)
	}
	b.CloseStmt(st.ID)
	for i := range st.Columns {
		columns = append(columns, sqltypes.QuoteName(st.Columns[i].Name))
	}
	ok, err := b.Exec("CREATE TEMPORARY TABLE " + made + " " + string(s.args.AppendSpan(nil, c.definition)) + " AS " + none)
	if err != nil {
		return "", nil, txn.Lost(b, err)
	}
	if ok.Warnings > 0 {
		const nameIgnored, deprecated = 1280, 1681 // what else there is, filling the table tells, too
		c.warned = slices.DeleteFunc(s.appendWarnings(nil, b), func(w diagnostics.Condition) bool { return w.Code != nameIgnored && w.Code != deprecated })
	}
	_, rows, err := b.QueryAll("SHOW CREATE TABLE "+made, 1)
	if err != nil {
		return "", nil, txn.Lost(b, err)
	}
	if len(rows) != 1 || len(rows[0]) < 2 {
		return "", nil, sqlerr.Internal.New("SHOW CREATE TABLE of a temporary table: unexpected result")
	}
	text := numberedCheck.ReplaceAllStringFunc(string(rows[0][1]), func(check string) string {
		_, number, _ := strings.Cut(strings.TrimRight(check, "`\""), "_chk_")
		return "\n  CONSTRAINT " + sqltypes.QuoteName(p.Name+"_chk_"+number)
	})
	at := strings.Index(text, "(")
	if at < 0 {
		return "", nil, sqlerr.Internal.New("SHOW CREATE TABLE of a temporary table: unexpected text")
	}
	return text[at:], columns, nil
}

// controllerDDL is changeSchema by a part of the statement at hand, whatever becomes of its client.
func (s *Session) controllerDDL(r DDLRequest) (DDLResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), ddlTimeout)
	defer cancel()
	return s.changeSchema(ctx, r)
}
