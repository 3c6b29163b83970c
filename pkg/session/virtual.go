package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/metrics"
	"skarv/pkg/placement"
	"skarv/pkg/processlist"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// The virtual database skarv shows the cluster. A SELECT from it is run by one of the servers, with the rows of each
// virtual table put into the text as a derived table: so all of SQL works on them.

// selectVirtual runs the statement at hand, whose tables are all virtual.
func (s *Session) selectVirtual() error {
	refs, sure := s.stmt.Tables()
	if !sure {
		return sqlerr.Unsupported("this form of SELECT from the database skarv", "write it without table expressions in other places than FROM")
	}
	out, at := []byte(nil), 0
	for _, r := range refs {
		t, err := s.virtualTable(r.Name)
		if err != nil {
			return err
		}
		out = s.args.AppendSpan(out, sqlparse.Span{Start: at, End: r.Start})
		out = s.appendDerived(out, t)
		if s.stmt.Alias(r) == "" {
			out = append(out, " AS "...)
			out = append(out, sqltypes.QuoteName(r.Name)...)
		}
		at = r.End
	}
	out = s.args.AppendSpan(out, sqlparse.Span{Start: at, End: len(s.stmt.SQL())})
	return s.runRewritten(s.anyGroup(), out)
}

// appendDerived writes t as a derived table without an alias, for a statement of the session.
func (s *Session) appendDerived(dst []byte, t *table) []byte {
	if len(t.rows) == 0 {
		dst = append(dst, "(SELECT "...)
		for i, c := range t.columns {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(append(dst, "NULL AS "...), sqltypes.QuoteName(c.Name)...)
		}
		return append(dst, " FROM DUAL WHERE 1 = 0)"...)
	}
	dst = append(dst, "(WITH v ("...)
	for i, c := range t.columns {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, sqltypes.QuoteName(c.Name)...)
	}
	dst = append(dst, ") AS (VALUES "...)
	for i, row := range t.rows {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if !s.cfg.Dialect.MariaDB() {
			dst = append(dst, "ROW"...)
		}
		dst = append(dst, '(')
		for j, v := range row {
			if j > 0 {
				dst = append(dst, ", "...)
			}
			switch v := v.(type) {
			case nil:
				dst = append(dst, "NULL"...)
			case string:
				dst = append(dst, s.quoted(v)...)
			default:
				dst = fmt.Append(dst, v)
			}
		}
		dst = append(dst, ')')
	}
	return append(dst, ") SELECT * FROM v)"...)
}

// virtual is a table of the database skarv.
type virtual struct {
	name string
	rows func(*Session) (*table, error) // its present contents
}

// virtuals are the tables of the database skarv, by name.
func virtuals() []virtual {
	return []virtual{
		{"events", (*Session).eventsTable},
		{"node_groups", (*Session).nodeGroupsTable},
		{"partitions", (*Session).partitionsTable},
		{"processlist", (*Session).clientsTable},
		{"reorganisations", (*Session).reorganisationsTable},
		{"schema_changes", (*Session).schemaChangesTable},
		{"session_trace", (*Session).sessionTraceTable},
		{"statements", (*Session).statementsTable},
		{"tables", (*Session).tablesTable},
		{"transactions", (*Session).transactionsTable},
	}
}

// virtualTable makes the present contents of a table of the database skarv.
func (s *Session) virtualTable(name string) (*table, error) {
	for _, v := range virtuals() {
		if strings.EqualFold(v.name, name) {
			return v.rows(s)
		}
	}
	return nil, sqlerr.NoSuchTable.New(catalog.VirtualDB, name)
}

// showVirtualTables is SHOW [FULL] TABLES FROM skarv.
func (s *Session) showVirtualTables() error {
	full := s.says("FULL")
	t := newTable("Tables_in_" + catalog.VirtualDB)
	if full {
		t = newTable("Tables_in_"+catalog.VirtualDB, "Table_type")
	}
	for _, v := range virtuals() {
		if full {
			t.add(v.name, "SYSTEM VIEW")
		} else {
			t.add(v.name)
		}
	}
	return s.showVirtual(t)
}

// showVirtualColumns is SHOW [FULL] COLUMNS, or DESCRIBE, of a table of the database skarv.
func (s *Session) showVirtualColumns(name string) error {
	of, err := s.virtualTable(name)
	if err != nil {
		return err
	}
	full := s.says("FULL")
	t := newTable("Field", "Type", "Null", "Key", "Default", "Extra")
	if full {
		t = newTable("Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment")
	}
	for _, c := range of.columns {
		kind := "text"
		if c.Type == sqltypes.TypeLongLong {
			kind = "bigint"
		}
		if full {
			t.add(c.Name, kind, nil, "YES", "", nil, "", "select", "")
		} else {
			t.add(c.Name, kind, "YES", "", nil, "")
		}
	}
	return s.showVirtual(t)
}

// showVirtual answers the SHOW at hand with those rows of t that its LIKE, which is about the first column, or its WHERE takes.
func (s *Session) showVirtual(t *table) error {
	sql := append(s.appendDerived([]byte("SELECT * FROM "), t), " AS shown"...)
	tokens := s.stmt.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		like := s.stmt.Is(tok, "LIKE")
		if like {
			sql = append(append(sql, " WHERE "...), sqltypes.QuoteName(t.columns[0].Name)...)
		}
		if like || s.stmt.Is(tok, "WHERE") {
			sql = s.args.AppendSpan(append(sql, ' '), sqlparse.Span{Start: tok.Start, End: len(s.stmt.SQL())})
			break
		}
	}
	return s.runRewritten(s.anyGroup(), sql)
}

// says reports whether the second word of the statement at hand is the given one.
func (s *Session) says(word string) bool {
	tokens := s.stmt.Tokens()
	tokens.Next()
	return s.stmt.Is(tokens.Next(), word)
}

// nodeGroupsTable is the node groups, as this process finds them.
func (s *Session) nodeGroupsTable() (*table, error) {
	t := newTable("#id", "name", "primary_addr", "version", "#partitions", "state", "last_error")
	for _, g := range s.snap.Groups {
		state := "down"
		h := s.cfg.Pools.Health(g.ID)
		if h.Up {
			state = "up"
		}
		t.add(int(g.ID), g.Name, g.Primary.Addr, g.Primary.Version, len(s.snap.Map.Owned(g.ID)), state, h.LastError)
	}
	return t, nil
}

// tablesTable is where the rows of all tables live.
func (s *Session) tablesTable() (*table, error) {
	t := newTable("table_schema", "table_name", "kind", "distribution_key", "#node_group")
	for _, db := range slices.Sorted(maps.Keys(s.snap.Databases)) {
		d := s.snap.Databases[db]
		for _, name := range slices.Sorted(maps.Keys(d.Tables)) {
			tab := d.Tables[name]
			var keys []string
			for _, c := range tab.Distribution {
				keys = append(keys, tab.Columns[c].Name)
			}
			var group any
			if tab.Kind == catalog.Single {
				group = int(tab.Group)
			}
			t.add(db, name, string(tab.Kind), strings.Join(keys, ","), group)
		}
	}
	return t, nil
}

// clientsTable is the clients of all processes.
func (s *Session) clientsTable() (*table, error) {
	t := newTable("#id", "user", "host", "db", "command", "#seconds", "info")
	for _, p := range s.processes() {
		t.add(p.ID, p.User, p.Host, p.DB, p.Command, secondsOf(&p), p.SQL)
	}
	return t, nil
}

// perSecond is a rate as a row shows it.
type perSecond float64

func (r perSecond) String() string { return strconv.FormatFloat(float64(r), 'f', 3, 64) }

// partitionsTable is the partition map, and how busy all processes together find the partitions.
func (s *Session) partitionsTable() (*table, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	rates, err := s.cfg.PartitionLoad(ctx)
	if err != nil {
		return nil, sqlerr.UnknownError.New(err.Error())
	}
	t := newTable("#partition_id", "#node_group", "#epoch", "#statements_per_second")
	for i := range placement.Partitions {
		t.add(i, int(s.snap.Map.Owner(placement.Partition(i))), s.snap.Map.Epoch(), perSecond(rates[i]))
	}
	return t, nil
}

// transactionsTable is the transactions over several node groups that are prepared, and how those ended that are not
// forgotten yet.
func (s *Session) transactionsTable() (*table, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	list, err := s.cfg.ListTransactions(ctx, "")
	if err != nil {
		if e, ok := errors.AsType[*sqlerr.Error](err); ok {
			return nil, e
		}
		return nil, sqlerr.UnknownError.New(err.Error())
	}
	t := newTable("id", "state", "#node_group", "#seconds", "reason")
	for _, i := range list {
		t.add(string(i.ID), string(i.State), int(i.Group), int(i.Age.Seconds()), i.Reason)
	}
	return t, nil
}

// statementsTable is what statements of each shape have cost on all processes.
func (s *Session) statementsTable() (*table, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	list, err := s.cfg.ListStatements(ctx)
	if err != nil {
		return nil, sqlerr.UnknownError.New(err.Error())
	}
	t := newTable("db", "statement", "strategy", "#count", "#errors", "#total_us", "#average_us", "#max_us", "#rows_sent", "#bytes_sent", "first_seen", "last_seen")
	for _, r := range list {
		t.add(nullable(r.Database), r.Text, strings.Join(metrics.Ways(r.Ways), ", "), r.Count, r.Errors, r.Total.Microseconds(), r.Average().Microseconds(),
			r.Most.Microseconds(), r.Rows, r.Bytes, r.First.UTC().Format(time.DateTime), r.Last.UTC().Format(time.DateTime))
	}
	return t, nil
}

// listTimeout bounds the look at all node groups' transactions.
const listTimeout = 10 * time.Second

// Reorganisation is a row of skarv.reorganisations.
type Reorganisation struct {
	ID, Kind, State, Outcome, Problem string
	Partitions                        int
	Paused                            bool
	Created                           time.Time
	Rows, RowsEstimated, Bytes        int64
	Lag, ETA, Pause                   time.Duration
	Throttled                         string
	Waiting                           string // for what it has waited longest
	Advice                            string // what happens next, and what can be done
}

// reorganisationsTable is the moves of partitions, those that are over included.
func (s *Session) reorganisationsTable() (*table, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	list, err := s.cfg.ListReorganisations(ctx)
	if err != nil {
		return nil, sqlerr.UnknownError.New(err.Error())
	}
	t := newTable("id", "kind", "state", "outcome", "#partitions", "#paused", "created", "#rows_copied", "#rows_estimated", "#bytes_copied",
		"#lag_ms", "#eta_seconds", "#cutover_ms", "throttled", "waiting_for", "problem", "advice")
	for _, r := range list {
		paused := 0
		if r.Paused {
			paused = 1
		}
		t.add(r.ID, r.Kind, r.State, r.Outcome, r.Partitions, paused, r.Created.UTC().Format(time.DateTime), r.Rows, r.RowsEstimated, r.Bytes,
			r.Lag.Milliseconds(), int(r.ETA.Seconds()), r.Pause.Milliseconds(), r.Throttled, r.Waiting, r.Problem, r.Advice)
	}
	return t, nil
}

// SchemaChange is a row of skarv.schema_changes.
type SchemaChange struct {
	ID, State, Statement, User, Database, Progress, Problem, Error string
	Created                                                        time.Time
}

// schemaChangesTable is the schema changes of all clients, those that are over included.
func (s *Session) schemaChangesTable() (*table, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	list, err := s.cfg.ListSchemaChanges(ctx)
	if err != nil {
		return nil, sqlerr.UnknownError.New(err.Error())
	}
	t := newTable("id", "state", "created", "user", "db", "statement", "progress", "problem", "error")
	for _, c := range list {
		t.add(c.ID, c.State, c.Created.UTC().Format(time.DateTime), c.User, nullable(c.Database), processlist.ShownText(c.Statement), c.Progress, c.Problem, c.Error)
	}
	return t, nil
}
