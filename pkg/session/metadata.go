package session

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// information_schema is answered by a server, which knows more than a client of the cluster has made: Skarv's own
// database, and the invisible key of tables without a primary key. A SELECT from the tables that would show them
// reads derived tables without them. Servers merge these into the query: it is as fast as before.

// metadataFilter is what hides from an information_schema table: the column that names the database, and the
// condition besides the table being one with a hidden key for a row to be hidden; "" for tables that do not show keys.
type metadataFilter struct{ schema, hidden string }

func metadataFilterOf(table string) (metadataFilter, bool) {
	const column = "column_name = '" + catalog.HiddenKey + "'"
	switch strings.ToLower(table) {
	case "schemata":
		return metadataFilter{"schema_name", ""}, true
	case "tables", "views", "referential_constraints", "routines", "triggers", "partitions", "parameters", "events", "check_constraints",
		"geometry_columns", "st_geometry_columns", "columns_extensions", "tables_extensions", "table_constraints_extensions",
		"schemata_extensions", "view_table_usage", "view_routine_usage", "periods", "key_period_usage":
		return metadataFilter{map[string]string{
			"referential_constraints": "constraint_schema", "routines": "routine_schema", "triggers": "trigger_schema",
			"parameters": "specific_schema", "events": "event_schema", "check_constraints": "constraint_schema",
			"geometry_columns": "f_table_schema", "table_constraints_extensions": "constraint_schema", "schemata_extensions": "schema_name",
			"view_table_usage": "view_schema",
		}[strings.ToLower(table)], ""}, true
	case "columns", "statistics", "key_column_usage":
		return metadataFilter{"", column}, true
	case "table_constraints":
		return metadataFilter{"", "constraint_type = 'PRIMARY KEY'"}, true
	}
	return metadataFilter{}, false
}

// condition is what a row must fulfil to be shown.
func (f metadataFilter) condition(hidden []byte) string {
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

// metadataGroup is where it is read what all servers know: the first node group is asked on MariaDB, for it alone has the sequences, but any
// other while it is down.
func (s *Session) metadataGroup() placement.NodeGroupID {
	if g := s.sequenceGroup(); s.cfg.Dialect.MariaDB() && s.cfg.Pools.Up(g) {
		return g
	}
	return s.anyGroup()
}

// selectMetadata runs a SELECT whose tables are all of information_schema. handled is false for those a server may
// answer as they are.
func (s *Session) selectMetadata(p *plan.Plan) (handled bool, err error) {
	// Values of parameters become text: the servers have no such statement prepared.
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(s.args.AppendStatement(nil), s.mode); err != nil {
		return true, err
	}
	refs, sure := st.Tables()
	if err := s.checkMetadata(refs, sure, sure && !qualifiesBySchema(st)); err != nil {
		return true, err
	}
	if !sure || qualifiesBySchema(st) {
		err := s.wholeAccounts(refs)
		return err != nil, err
	}
	edits, err := s.metadataTables(st, refs)
	if err != nil {
		return true, err
	}
	if len(edits) == 0 {
		return false, nil
	}
	if s.cfg.Dialect.MariaDB() {
		edits = append(edits, writtenNames(st)...)
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.span.Start - b.span.Start })
	sql, out, at := st.SQL(), []byte(nil), 0
	for _, e := range edits {
		out = append(append(out, sql[at:e.span.Start]...), e.text...)
		at = e.span.End
	}
	out = append(out, sql[at:]...)
	g := s.anyGroup()
	if slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool { return !strings.EqualFold(r.Name, "processlist") }) {
		g = s.metadataGroup() // what runs is told even while that one hangs, and nobody has found it down yet
	}
	if p.Relay != nil && p.Relay.Target.Kind == plan.OneGroup {
		g = p.Relay.Target.Group // the one that has single tables
	}
	c, err := s.Get(g)
	if err != nil {
		return true, err
	}
	if s.cfg.Dialect.MariaDB() {
		s.derivedFrom = derivedFrom(st, refs)
		defer func() { s.derivedFrom = nil }()
	}
	sum, err := s.copyResults(c, out)
	if err == nil {
		s.renewWarnings(c, &sum)
	}
	s.done(c, err)
	if err != nil {
		return true, txn.Lost(c, err)
	}
	s.rowCount, s.foundRows = -1, sum.Rows
	return true, nil
}

// derivedFrom says which table of information_schema, as MariaDB writes it, each derived table of a statement shows.
func derivedFrom(st *sqlparse.Statement, refs []sqlparse.TableRef) map[string]string {
	from := map[string]string{}
	for _, r := range refs {
		alias := aliasOf(st, r.Span)
		if alias == "" {
			alias = r.Name
		}
		from[strings.ToLower(alias)] = strings.ToUpper(r.Name)
	}
	return from
}

// checkMetadata refuses an account that may not see everything the tables that show what others do, and all of them if they
// cannot be filtered: the servers take us for an administrator.
func (s *Session) checkMetadata(refs []sqlparse.TableRef, sure, filtered bool) error {
	if s.account.Privilege("*") >= catalog.Admin {
		return nil
	}
	for _, r := range refs {
		_, narrowed := metadataFilterOf(r.Name)
		switch {
		case isProcesslist(r.Name) && filtered: // shows the account's own sessions
		case strings.HasSuffix(strings.ToLower(r.Name), "_privileges") && filtered: // shows the account itself
		case narrowed, forEverybody(r.Name):
		default:
			return sqlerr.AccessDeniedDB.New(s.user, s.host, "information_schema")
		}
	}
	if !sure || !filtered && s.account.Privilege("*") == catalog.NoAccess {
		return sqlerr.Unsupported("this form of a query of information_schema", "give its tables aliases and qualify columns by them")
	}
	return nil
}

// forEverybody tells the tables of information_schema that say nothing of databases, accounts or what others do.
func forEverybody(table string) bool {
	switch strings.ToLower(table) {
	case "character_sets", "collations", "collation_character_set_applicability", "engines", "plugins", "all_plugins", "keywords",
		"sql_functions", "spatial_ref_sys", "st_spatial_reference_systems", "st_units_of_measure", "system_variables", "session_variables",
		"global_variables", "session_status", "global_status", "profiling", "applicable_roles", "enabled_roles", "optimizer_costs":
		return true
	}
	return false
}

// visible is the condition that hides databases the account may not read.
func (s *Session) visible(f metadataFilter) string {
	if s.account.Privilege("*") > catalog.NoAccess {
		return ""
	}
	schema := f.schema
	if schema == "" {
		schema = "table_schema"
	}
	list := "'information_schema'"
	for db, p := range s.account.Grants {
		if p > catalog.NoAccess {
			list += "," + s.quoted(db)
		}
	}
	return " AND " + schema + " IN (" + list + ")"
}

// edit is a text to put in the place of another.
type edit struct {
	span sqlparse.Span
	text string
}

// metadataTables puts derived tables in the places of the tables that show more than clients may see.
func (s *Session) metadataTables(st *sqlparse.Statement, refs []sqlparse.TableRef) (edits []edit, err error) {
	var hidden []byte
	apart := ""
	if s.account.Privilege("*") == catalog.NoAccess && planner.Tells(st) {
		// Else the server may merge it into the query, whose conditions may then see rows that its own would hide.
		apart = " LIMIT 18446744073709551615"
	}
	for _, r := range refs {
		if isProcesslist(r.Name) && (isSystemDB(r.DB) || r.DB == "" && isSystemDB(s.db)) {
			text := string(s.appendDerived(nil, s.processlistTable()))
			if !aliased(st, r.Span) {
				text += " AS " + sqltypes.QuoteName(r.Name)
			}
			edits = append(edits, edit{r.Span, text})
			continue
		}
		if text, err := s.accountTable(r); err != nil {
			return nil, err
		} else if text != "" {
			if !aliased(st, r.Span) {
				text += " AS " + sqltypes.QuoteName(r.Name)
			}
			edits = append(edits, edit{r.Span, text})
			continue
		}
		f, ok := metadataFilterOf(r.Name)
		if !ok || !strings.EqualFold(r.DB, "information_schema") && (r.DB != "" || !strings.EqualFold(s.db, "information_schema")) {
			continue
		}
		if hidden == nil {
			hidden = s.hiddenKeys()
		}
		shown := "SELECT * FROM information_schema." + r.Name
		if strings.EqualFold(r.Name, "triggers") && s.hasPrograms() {
			shown = metadataTriggers()
		}
		if strings.EqualFold(r.Name, "events") {
			events, err := s.metadataEvents()
			if err != nil {
				return nil, err
			}
			if events != "" {
				shown = events
			}
		}
		text := "(" + shown + " WHERE " + f.condition(hidden) + s.visible(f) + apart + ")"
		if strings.EqualFold(r.Name, "tables") && len(s.snap.Groups) > 1 && namesSizes(st) {
			summed, err := s.summedTables(f.condition(hidden) + s.visible(f))
			if err != nil {
				return nil, err
			}
			if summed != "" {
				text = strings.TrimSuffix(summed, ")") + apart + ")"
			}
		}
		if !aliased(st, r.Span) {
			text += " AS " + sqltypes.QuoteName(r.Name)
		}
		edits = append(edits, edit{r.Span, text})
	}
	return edits, nil
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
		for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
			if tok.Kind != sqlparse.Word && tok.Kind != sqlparse.QuotedName && !inner.Is(tok, ".") {
				name = nil // an expression
				break
			}
			name = inner.AppendName(name[:0], tok)
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
func (s *Session) hiddenKeys() []byte {
	list := []byte{}
	for _, db := range sortedKeys(s.snap.Databases) {
		tables := s.snap.Databases[db].Tables
		for _, name := range slices.DeleteFunc(sortedKeys(tables), func(n string) bool { return !tables[n].HiddenKey }) {
			if len(list) > 0 {
				list = append(list, ", "...)
			}
			list = append(list, "("+s.quoted(db)+", "+s.quoted(name)+")"...)
		}
	}
	return list
}
