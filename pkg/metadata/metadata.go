// Package metadata says what a client sees of the tables that every server has for itself: information_schema, the process list, and those
// of accounts. A server answers a SELECT from them, which knows more than a client of the cluster has made, Skarv's own database and the
// invisible key of tables without a primary key, and less: sizes on other node groups, accounts, events' last runs. So derived tables are
// put into the text, which show what the account may see. Servers merge these into the query: it is as fast as before.
// And what servers answer to SHOW of the rows that each of them has is added up.
package metadata

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/event"
	"skarv/pkg/placement"
	"skarv/pkg/planner"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// MaxRows bounds what is asked of one server.
const MaxRows = 1 << 20

// Viewer is the account for which a statement is rewritten, and what its tables are made of. It is used for one statement, by one goroutine.
type Viewer struct {
	Snapshot *catalog.Snapshot
	Account  *catalog.Account      // with what its active roles may
	Roles    []catalog.AccountName // that are active
	User     catalog.AccountName   // the name of Account
	Database string                // where tables without a database are; "" if there is none
	Dialect  *sqlparse.Dialect
	Mode     sqlparse.Mode // of the statement made

	// Columns are those that a table has on the servers, which is named with its database.
	Columns func(table string) ([]sqltypes.Column, error)
	// Query runs a query on a node group's server, and returns at most MaxRows rows.
	Query func(g placement.NodeGroupID, sql string) ([][][]byte, error)
	// Processes is the process list as a derived table without an alias.
	Processes func() string
	// EventStates are those of the cluster's events.
	EventStates func() (map[catalog.EventKey]event.State, error)
}

// Rewritten is a statement with derived tables in place of those that show too much or too little.
type Rewritten struct {
	SQL []byte
	// Processes: the process list is all it reads.
	Processes bool
	// From says which table each derived table shows, as MariaDB writes it in metadata, by its name or alias in small letters.
	From map[string]string
}

// Rewrite returns what is to be sent for a SELECT whose tables are all the servers' own; nil if that is the statement as it is. The error is
// for the client: that the account may not see a table, that the form of the query hides whether it may, or one of Viewer's functions.
func (v *Viewer) Rewrite(st *sqlparse.Statement) (*Rewritten, error) {
	refs, sure := st.Tables()
	plain := sure && !qualifiesBySchema(st)
	if err := v.check(refs, sure, plain); err != nil {
		return nil, err
	}
	if !plain {
		return nil, v.refuseAccounts(refs)
	}
	edits, err := v.edits(st, refs)
	if len(edits) == 0 || err != nil {
		return nil, err
	}
	edits = append(edits, keptNames(st, edits)...)
	if v.Dialect.MariaDB() {
		edits = append(edits, writtenNames(st)...)
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.span.Start - b.span.Start })
	r := &Rewritten{Processes: !slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool { return !isProcesslist(r.Name) })}
	if v.Dialect.MariaDB() {
		r.From = derivedFrom(st, refs)
	}
	sql, at := st.SQL(), 0
	for _, e := range edits {
		r.SQL = append(append(r.SQL, sql[at:e.span.Start]...), e.text...)
		at = e.span.End
	}
	r.SQL = append(r.SQL, sql[at:]...)
	return r, nil
}

// isProcesslist reports whether a table of information_schema or performance_schema is the process list.
func isProcesslist(name string) bool { return strings.EqualFold(name, "processlist") }

// filter is what hides from an information_schema table: the column that names the database, "" for table_schema, the one that names the table, ""
// for tables that have none, and the condition besides the table being one with a hidden key for a row to be hidden; "" for tables that do not show
// keys. A row of those that are ofDatabases is one database. sees reports whether a row is shown to who has privileges on what it is of, and reads
// whether with its text, which is in the column that is named.
type filter struct {
	schema, table, hidden string
	ofDatabases           bool
	sees, reads           right
	text                  string
	definer               func() string // the column DEFINER as the cluster has it, "" if servers do not differ; nil: there is none
}

// right tells what an account may do: with a table, or in all of a database where table is "", and for tables of rows about functions and procedures with
// one of these.
type right struct {
	table   func(db, table string) bool
	routine func(*catalog.Routine) bool
}

func (v *Viewer) filterOf(table string) (filter, bool) {
	f, ok := filterOf(table)
	switch strings.ToLower(table) {
	case "schemata", "schemata_extensions":
		f.sees = v.may(catalog.AllOfDatabase)
	case "routines", "parameters":
		f.sees = right{func(db, _ string) bool { return v.Account.SeesPrograms(db) }, v.Account.SeesRoutine}
	case "triggers":
		f.sees = v.may(catalog.MayTrigger)
	case "events":
		f.sees = v.may(catalog.MayEvent)
	default:
		f.sees = v.may(catalog.AllOfTable | catalog.MayGrant)
	}
	switch strings.ToLower(table) {
	case "routines":
		f.definer = v.definersOfRoutines
		f.text, f.reads = "ROUTINE_DEFINITION", right{func(db, _ string) bool { return v.Account.ReadsPrograms(db) }, v.Account.ReadsRoutine}
	case "views":
		f.definer = v.definersOfViews
		f.text, f.reads = "VIEW_DEFINITION", right{table: func(db, table string) bool {
			const need = catalog.MaySelect | catalog.MayShowView
			return v.Account.Privileges(db, table)&need == need
		}}
	}
	return f, ok
}

// may is the right that one of the privileges gives.
func (v *Viewer) may(p catalog.Privilege) right {
	return right{table: func(db, table string) bool { return v.Account.Privileges(db, table)&p != 0 }}
}

func filterOf(table string) (filter, bool) {
	const column = "column_name <=> '" + catalog.HiddenKey + "'" // NULL for an index over an expression
	switch strings.ToLower(table) {
	case "schemata", "schemata_extensions":
		return filter{schema: "schema_name", ofDatabases: true}, true
	case "tables", "views", "referential_constraints", "routines", "triggers", "partitions", "parameters", "events", "check_constraints",
		"geometry_columns", "st_geometry_columns", "columns_extensions", "tables_extensions", "table_constraints_extensions",
		"view_table_usage", "view_routine_usage", "periods", "key_period_usage":
		return filter{schema: map[string]string{
			"referential_constraints": "constraint_schema", "routines": "routine_schema", "triggers": "trigger_schema",
			"parameters": "specific_schema", "events": "event_schema", "check_constraints": "constraint_schema",
			"geometry_columns": "f_table_schema", "table_constraints_extensions": "constraint_schema", "view_table_usage": "view_schema",
		}[strings.ToLower(table)], table: map[string]string{
			"tables": "table_name", "views": "table_name", "partitions": "table_name", "referential_constraints": "table_name", "triggers": "event_object_table",
		}[strings.ToLower(table)]}, true
	case "columns", "statistics", "key_column_usage":
		return filter{table: "table_name", hidden: column}, true
	case "table_constraints":
		return filter{table: "table_name", hidden: "constraint_type = 'PRIMARY KEY'"}, true
	}
	return filter{}, false
}

// condition is what a row must fulfil to be shown.
func (f filter) condition(hidden []byte) string {
	schema := f.schema
	if schema == "" {
		schema = "table_schema"
	}
	c := schema + " <> '" + catalog.OwnDB + "'"
	if f.hidden != "" && len(hidden) > 0 {
		c += " AND NOT (" + f.hidden + " AND (table_schema, table_name) IN (" + string(hidden) + "))"
	}
	return c
}

// derivedFrom says which table of information_schema, as MariaDB writes it, each derived table of a statement shows.
func derivedFrom(st *sqlparse.Statement, refs []sqlparse.TableRef) map[string]string {
	from := map[string]string{}
	for _, r := range refs {
		alias := st.Alias(r)
		if alias == "" {
			alias = r.Name
		}
		from[strings.ToLower(alias)] = strings.ToUpper(r.Name)
	}
	return from
}

// check refuses an account that may not see everything the tables that show what others do, and all of them if they
// cannot be filtered: the servers take us for an administrator.
func (v *Viewer) check(refs []sqlparse.TableRef, sure, filtered bool) error {
	if v.Account.Administers() {
		return nil
	}
	for _, r := range refs {
		_, narrowed := filterOf(r.Name)
		switch {
		case isProcesslist(r.Name) && filtered: // shows the account's own sessions
		case strings.HasSuffix(strings.ToLower(r.Name), "_privileges") && filtered: // shows the account itself
		case narrowed, forEverybody(r.Name):
		case strings.HasPrefix(strings.ToLower(r.Name), "innodb_") && v.Account.Global()&catalog.MayProcess != 0:
		default:
			return sqlerr.AccessDeniedDB.New(v.User.User(), v.User.Host(), "information_schema")
		}
	}
	if !sure || !filtered && v.hides(refs) {
		return sqlerr.Unsupported("this form of a query of information_schema", "give its tables aliases and qualify columns by them")
	}
	return nil
}

// forEverybody tells the tables of information_schema that say nothing of databases, accounts or what others do.
func forEverybody(table string) bool {
	switch strings.ToLower(table) {
	case "character_sets", "collations", "collation_character_set_applicability", "engines", "plugins", "all_plugins", "keywords",
		"sql_functions", "spatial_ref_sys", "st_spatial_reference_systems", "st_units_of_measure", "system_variables", "session_variables",
		"global_variables", "session_status", "global_status", "profiling", "applicable_roles", "enabled_roles",
		"administrable_role_authorizations", "role_table_grants", "role_column_grants", "role_routine_grants", "optimizer_costs":
		return true
	}
	return false
}

// hides reports whether there may be rows of the tables, or texts in them, that the account may not see.
func (v *Viewer) hides(refs []sqlparse.TableRef) bool {
	return slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool {
		f, ok := v.filterOf(r.Name)
		return ok && (!f.sees.table("*", "") || f.reads.table != nil && !f.reads.table("*", ""))
	})
}

// where is the condition of the rows on whose databases and tables the account has what has asks for; "": of all.
func (v *Viewer) where(f filter, r right) string {
	has := r.table
	if has("*", "") || f.ofDatabases && v.Account.Global()&catalog.MayShowDatabases != 0 {
		return ""
	}
	schema := cmp.Or(f.schema, "table_schema")
	list, tables := "'information_schema'", ""
	for _, db := range sorted(v.Account.Grants) {
		if db != "*" && has(db, "") {
			list += "," + v.quoted(db)
		}
	}
	for _, db := range sorted(v.Account.Tables) {
		switch {
		case has(db, ""):
		case f.ofDatabases:
			list += "," + v.quoted(db)
		case f.table != "":
			var names []string
			for _, name := range sorted(v.Account.Tables[db]) {
				if has(db, name) {
					names = append(names, v.quoted(name))
				}
			}
			if names != nil {
				tables += " OR " + schema + " = " + v.quoted(db) + " AND " + f.table + " IN (" + strings.Join(names, ",") + ")"
			}
		}
	}
	if r.routine != nil {
		for _, one := range v.routines() {
			if !has(one.Database, "") && r.routine(one) {
				tables += " OR " + v.isRoutine(one, schema)
			}
		}
	}
	if tables != "" {
		return "(" + schema + " IN (" + list + ")" + tables + ")"
	}
	return schema + " IN (" + list + ")"
}

// visible is where of the rows that the account may see, behind another condition.
func (v *Viewer) visible(f filter) string {
	if where := v.where(f, f.sees); where != "" {
		return " AND " + where
	}
	return ""
}

// withoutTexts is a SELECT of a table of information_schema with the definers that the catalog knows and without the texts
// that the account may not read, as servers of the kind leave them out.
func (v *Viewer) withoutTexts(table string, f filter) (string, error) {
	where := ""
	if f.reads.table != nil {
		where = v.where(f, f.reads)
	}
	definer := ""
	if f.definer != nil {
		definer = f.definer()
	}
	if where == "" && definer == "" {
		return "SELECT * FROM information_schema." + table, nil
	}
	hidden := "NULL"
	if f.table != "" { // of a view
		hidden = "''"
	}
	return v.with(table, func(name, column string) string {
		switch {
		case definer != "" && name == "DEFINER":
			return definer
		case where != "" && name == f.text:
			return "IF(" + where + ", " + column + ", " + hidden + ")"
		}
		return ""
	})
}

// withPrivileges is a SELECT of information_schema.columns with what the account may do with the columns.
func (v *Viewer) withPrivileges(f filter) (string, error) {
	return v.with("columns", func(name, column string) string {
		if name == "PRIVILEGES" {
			return "IF(table_schema = 'information_schema', " + column + ", " + v.privilegesOf(f) + ")"
		}
		return ""
	})
}

// with is a SELECT of a table of information_schema with other expressions in the place of some columns: instead has a
// column's name in upper case and the name quoted, and answers "" for a column that stays.
func (v *Viewer) with(table string, instead func(name, column string) string) (string, error) {
	table = "information_schema." + table
	columns, err := v.Columns(table)
	if err != nil {
		return "", err
	}
	list := make([]string, len(columns))
	for i := range columns {
		list[i] = sqltypes.QuoteName(columns[i].Name)
		if expression := instead(strings.ToUpper(columns[i].Name), list[i]); expression != "" {
			list[i] = expression + " AS " + list[i]
		}
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + table, nil
}

// privilegesOf is an expression of the privileges on the table of a row, as servers write them.
func (v *Viewer) privilegesOf(f filter) string {
	text := "COALESCE(CONCAT_WS(','"
	for _, name := range catalog.OfColumns.Names() {
		p := catalog.PrivilegeNamed(name)
		word := "'" + strings.ToLower(name) + "'"
		if where := v.where(f, v.may(p)); where != "" {
			word = "IF(" + where + ", " + word + ", NULL)"
		}
		text += ", " + word
	}
	return text + "), '')" // which is not NULL, as a server's column
}

// edit is a text to put in the place of another.
type edit struct {
	span sqlparse.Span
	text string
}

// edits puts derived tables in the places of the tables that show more than clients may see.
func (v *Viewer) edits(st *sqlparse.Statement, refs []sqlparse.TableRef) (list []edit, err error) {
	apart := ""
	if v.hides(refs) && planner.Tells(st) {
		// Else the server may merge it into the query, whose conditions may then see rows that its own would hide.
		apart = " LIMIT 18446744073709551615"
	}
	for _, r := range refs {
		text, err := v.derived(st, r, apart)
		if err != nil {
			return nil, err
		}
		if text == "" {
			continue
		}
		if st.Alias(r) == "" {
			text += " AS " + sqltypes.QuoteName(r.Name)
		}
		list = append(list, edit{r.Span, text})
	}
	return list, nil
}

// derived is the derived table that stands for r, "" if r is shown as it is. apart ends those that are to be computed by themselves.
func (v *Viewer) derived(st *sqlparse.Statement, r sqlparse.TableRef, apart string) (text string, err error) {
	db := cmp.Or(r.DB, v.Database)
	if kind := catalog.KindOf(db); isProcesslist(r.Name) && (kind == catalog.ServerDatabase || kind == catalog.VirtualDatabase) {
		return v.Processes(), nil
	}
	if catalog.ShowsAccounts(db, r.Name) {
		return v.accounts(strings.ToLower(db) + "." + strings.ToLower(r.Name))
	}
	f, ok := v.filterOf(r.Name)
	if !ok || !strings.EqualFold(db, "information_schema") {
		return "", nil
	}
	condition := f.condition(v.hiddenKeys()) + v.visible(f)
	shown, err := v.withoutTexts(r.Name, f)
	if err != nil {
		return "", err
	}
	switch {
	case strings.EqualFold(r.Name, "columns") && v.Account.Global()&catalog.OfColumns != catalog.OfColumns && names(st, "privileges"):
		if shown, err = v.withPrivileges(f); err != nil {
			return "", err
		}
	case strings.EqualFold(r.Name, "triggers") && v.hasPrograms():
		shown = v.triggers()
	case strings.EqualFold(r.Name, "events") && len(v.Snapshot.Events) > 0:
		if shown, err = v.events(); err != nil {
			return "", err
		}
	case strings.EqualFold(r.Name, "tables") && len(v.Snapshot.Groups) > 1 && namesSizes(st):
		summed, err := v.summedTables(condition)
		if err != nil || summed != "" {
			return "(" + summed + apart + ")", err
		}
	}
	return "(" + shown + " WHERE " + condition + apart + ")", nil
}

// keptNames gives columns of a SELECT that are named by a text with edits in it the names that they have without.
func keptNames(st *sqlparse.Statement, edits []edit) (names []edit) {
	for _, item := range st.SelectItems(nil) {
		inside := slices.ContainsFunc(edits, func(e edit) bool { return item.Expr.Start <= e.span.Start && e.span.End <= item.Expr.End })
		if inside && !item.Star && item.Alias.Start == item.Alias.End {
			at := item.Expr.End
			names = append(names, edit{sqlparse.Span{Start: at, End: at}, " AS " + sqltypes.QuoteName(string(st.AppendColumnName(nil, item)))})
		}
	}
	return names
}

// writtenNames gives plain columns in the list of a SELECT the names they are written with: as MariaDB does for the
// tables of information_schema, but not for derived tables.
func writtenNames(st *sqlparse.Statement) (edits []edit) {
	for _, item := range st.SelectItems(nil) {
		if item.Star || item.Alias.End > item.Alias.Start {
			continue
		}
		var name []byte
		inner := st.Dialect().NewStatement()
		if inner.Scan(st.Text(item.Expr), st.Mode()) != nil {
			continue
		}
		tokens := inner.Tokens()
		for named := true; ; named = !named {
			tok := tokens.Next()
			if tok.Kind == sqlparse.EOF {
				break
			}
			if named != (tok.Kind == sqlparse.Word || tok.Kind == sqlparse.QuotedName) || !named && !inner.Is(tok, ".") {
				name = nil // an expression
				break
			}
			if named {
				name = inner.AppendName(name[:0], tok)
			}
		}
		if len(name) > 0 {
			at := item.Expr.End
			edits = append(edits, edit{sqlparse.Span{Start: at, End: at}, " AS " + sqltypes.QuoteName(string(name))})
		}
		inner.Done()
	}
	return edits
}

// qualifiesBySchema reports whether a column is written schema.table.column: a derived table has no schema.
func qualifiesBySchema(st *sqlparse.Statement) bool {
	var last [3]sqlparse.Token
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if st.Is(tok, ".") && st.Is(last[1], ".") {
			if db := string(st.AppendName(nil, last[0])); strings.EqualFold(db, "information_schema") || strings.EqualFold(db, "mysql") {
				return true
			}
		}
		last = [3]sqlparse.Token{last[1], last[2], tok}
	}
	return false
}

// hiddenKeys lists the tables with a hidden key as SQL, ('db', 'table'), ...; empty, not nil, if there are none.
func (v *Viewer) hiddenKeys() []byte {
	list := []byte{}
	for _, db := range sorted(v.Snapshot.Databases) {
		tables := v.Snapshot.Databases[db].Tables
		for _, name := range slices.DeleteFunc(sorted(tables), func(n string) bool { return !tables[n].HiddenKey }) {
			if len(list) > 0 {
				list = append(list, ", "...)
			}
			list = append(list, "("+v.quoted(db)+", "+v.quoted(name)+")"...)
		}
	}
	return list
}

// refuseAccounts refuses a query of accounts whose tables cannot be told from its text.
func (v *Viewer) refuseAccounts(refs []sqlparse.TableRef) error {
	for _, r := range refs {
		if db := cmp.Or(r.DB, v.Database); catalog.ShowsAccounts(db, r.Name) {
			return sqlerr.Unsupported("this form of a query of "+strings.ToLower(db+"."+r.Name)+", which shows the cluster's accounts",
				"give its tables aliases and qualify columns by them")
		}
	}
	return nil
}

// quoted is text as a literal of the statement made.
func (v *Viewer) quoted(text string) string {
	return sqltypes.Quoted(text, v.Mode&sqlparse.NoBackslashEscapes != 0)
}

// sorted are the keys of a map in order.
func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
