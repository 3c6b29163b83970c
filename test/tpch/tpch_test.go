// Package tpch runs the queries of TPC-H, and such as TPC-DS has, on one server and on a cluster with the same small data, and compares.
package tpch

import (
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// coverage is set to write docs/sql-coverage.md:
//
//	go test ./test/tpch -write-coverage
var coverage = flag.Bool("write-coverage", false, "write docs/sql-coverage.md from what the tests find")

// TestTPCH runs the 22 queries of TPC-H on one server and on a cluster with the same small data, and compares.
func TestTPCH(t *testing.T) {
	a, b := load(t, "tpch", "schema.sql", tpchRows(15000))
	queries, _ := run(t, a, b, "queries.sql", "Q")
	shapes, _ := run(t, a, b, "shapes.sql", "D")
	t.Log("\n" + queries + "\n" + shapes)
	if *coverage && !t.Failed() {
		writeCoverage(t, "tpch", queries)
		writeCoverage(t, "shapes", shapes)
	}
}

// load starts one server and a cluster, and gives both the tables and rows.
func load(t *testing.T, database, schema string, rows []string) (one, many *sql.Conn) {
	one, many = connect(t, cluster.StartServer(t).DSN("")), connect(t, cluster.Start(t, cluster.Groups(4)).DSN(""))
	text, err := os.ReadFile("testdata/" + schema)
	require.NoError(t, err)
	load := []string{"CREATE DATABASE " + database, "USE " + database}
	for stmt := range strings.SplitSeq(string(text), ";\n") {
		if stmt != "" {
			load = append(load, stmt)
		}
	}
	for _, stmt := range append(load, rows...) {
		_, err := one.ExecContext(t.Context(), withoutPlacement(stmt))
		require.NoError(t, err, "%.200s", stmt)
		_, err = many.ExecContext(t.Context(), stmt)
		require.NoError(t, err, "%.200s", stmt)
	}
	return one, many
}

// run runs the queries of a file on both and returns a table of how they ran, and how they are numbered.
func run(t *testing.T, a, b *sql.Conn, file, letter string) (written string, numbers []string) {
	text, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	var table strings.Builder
	for _, text := range strings.Split("\n"+string(text), "\n-- "+letter)[1:] {
		name, query, _ := strings.Cut(text, "\n")
		name = letter + name
		number, _, _ := strings.Cut(name, " ")
		numbers = append(numbers, number)
		if only, rest, ok := strings.Cut(query, "\n"); ok && strings.HasPrefix(only, "-- only: ") {
			if query = rest; only != "-- only: "+string(cluster.TestEngine()) {
				continue
			}
		}
		// What is refused is marked, and must be as long as it is. The mark names the engine, for it may work on the other.
		var refusal string
		if mark, rest, ok := strings.Cut(query, "\n"); ok && strings.HasPrefix(mark, "-- refused on ") {
			query = rest
			if of, text, _ := strings.Cut(strings.TrimPrefix(mark, "-- refused on "), ": "); of == string(cluster.TestEngine()) {
				refusal = text
			}
		}
		query = strings.TrimSuffix(strings.TrimSpace(query), ";")
		t.Run(name, func(t *testing.T) {
			if refusal != "" {
				_, err := rowsOf(t, a, query)
				require.NoError(t, err)
				_, err = rowsOf(t, b, query)
				require.ErrorContains(t, err, "Error 1235 (42000): Skarv doesn't yet support '"+refusal+";")
				fmt.Fprintf(&table, "| %s | refused | | | |\n", name)
				return
			}
			var alone, took [runs]time.Duration
			var want []string
			for i := range runs {
				start := time.Now()
				want, err = rowsOf(t, a, query)
				require.NoError(t, err)
				alone[i] = time.Since(start)
				start = time.Now()
				got, err := rowsOf(t, b, query)
				took[i] = time.Since(start)
				require.NoError(t, err)
				require.Equal(t, want, got, query)
			}
			require.Greater(t, len(want), 1, "a query without rows shows nothing")
			require.NotRegexp(t, `^((NULL|0) ?\|? ?)+$`, strings.Join(want[1:], " | "), "nor does one that finds nothing to count")
			strategy := explained(t, b, query)
			fmt.Fprintf(&table, "| %s | %s | %d | %.1f ms | %.1f ms |\n", name, strategy, len(want)-1, ms(alone[:]), ms(took[:]))
		})
	}
	return table.String(), numbers
}

// runs is how often a query runs on either; the tables show the median.
const runs = 3

// ms is the median in milliseconds.
func ms(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1000
}

// withoutPlacement is a table definition as a plain server takes it.
func withoutPlacement(stmt string) string {
	if i := strings.Index(stmt, " PARTITION BY KEY"); i >= 0 {
		return stmt[:i]
	}
	return stmt
}

// explained is the strategy EXPLAIN names: the way that is taken, if there are several.
func explained(t *testing.T, c *sql.Conn, query string) string {
	rows, err := c.QueryContext(t.Context(), "EXPLAIN "+query)
	if err != nil {
		return "refused"
	}
	defer rows.Close()
	var first, line string
	for rows.Next() {
		require.NoError(t, rows.Scan(&line))
		if first == "" {
			first = line
		}
		if way, ok := strings.CutPrefix(line, "now: "); ok && !strings.HasPrefix(way, "fragment") && !strings.HasPrefix(way, "relayed") {
			way, _, _ = strings.Cut(way, ":")
			return way
		}
	}
	require.NoError(t, rows.Err())
	switch {
	case strings.HasPrefix(first, "workspace"):
		return "workspace"
	case strings.HasPrefix(first, "relay"):
		return "relay"
	}
	return "scatter"
}

// writeCoverage writes one table of docs/sql-coverage.md, between its marks.
func writeCoverage(t *testing.T, name, rows string) {
	const file = "../../docs/sql-coverage.md"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	head, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, begin)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, end)
	table := "| query | strategy | rows | one server | 4 node groups |\n|---|---|---|---|---|\n" + rows
	require.NoError(t, os.WriteFile(file, []byte(head+begin+table+end+tail), 0o644))
}

// rowsOf is the names and types of the columns and the rows of a query as text; without ORDER BY there is one row only.
func rowsOf(t *testing.T, c *sql.Conn, query string) (all []string, err error) {
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	var head []string
	for _, c := range columns {
		_, scale, _ := c.DecimalSize()
		head = append(head, fmt.Sprintf("%s %s %d", c.Name(), c.DatabaseTypeName(), scale))
	}
	all = append(all, strings.Join(head, " | "))
	values := make([]sql.RawBytes, len(columns))
	dest := make([]any, len(columns))
	for i := range values {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		var row []string
		for _, v := range values {
			if v == nil {
				row = append(row, "NULL")
			} else {
				row = append(row, string(v))
			}
		}
		all = append(all, strings.Join(row, " | "))
	}
	return all, rows.Err()
}

func connect(t *testing.T, dsn string) *sql.Conn {
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// tpchRows are INSERT statements of rows like those of the benchmark's own generator, always the same.
func tpchRows(orders int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	words := func() string {
		return pick("furiously", "quickly", "special", "Customer", "slyly") + " " + pick("final", "pending", "regular", "Complaints", "requests") +
			" " + pick("deposits", "requests", "Complaints", "accounts")
	}
	date := func(day int) string { return time.Date(1992, 1, 1+day, 0, 0, 0, 0, time.UTC).Format("2006-01-02") }
	var rows inserts
	add := rows.add
	money := func(low, high int) string { return fmt.Sprintf("%.2f", float64(low*100+r.IntN((high-low)*100))/100) }
	for i, n := range []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"} {
		add("region", i, n, words())
	}
	nations := strings.Fields("ALGERIA:0 ARGENTINA:1 BRAZIL:1 CANADA:1 EGYPT:4 ETHIOPIA:0 FRANCE:3 GERMANY:3 INDIA:2 INDONESIA:2 IRAN:4 IRAQ:4" +
		" JAPAN:2 JORDAN:4 KENYA:0 MOROCCO:0 MOZAMBIQUE:0 PERU:1 CHINA:2 ROMANIA:3 SAUDI-ARABIA:4 VIETNAM:2 RUSSIA:3 UNITED-KINGDOM:3 UNITED-STATES:1")
	for i, n := range nations {
		name, region, _ := strings.Cut(n, ":")
		add("nation", i, name, int(region[0]-'0'), words())
	}
	suppliers, parts, customers := max(orders/75, 10), orders/7, orders/10
	phone := func(nation int) string {
		return fmt.Sprintf("%d-%03d-%03d-%04d", nation+10, r.IntN(1000), r.IntN(1000), r.IntN(10000))
	}
	for i := range suppliers {
		n := i * 7 % 25
		add("supplier", i+1, fmt.Sprintf("Supplier#%09d", i+1), words(), n, phone(n), money(-999, 9999), words())
	}
	for i := range parts {
		add("part", i+1, pick("green", "blue", "red", "ivory")+" "+pick("green", "forest", "almond", "navy"), fmt.Sprintf("Manufacturer#%d", 1+r.IntN(5)),
			fmt.Sprintf("Brand#%d%d", 1+r.IntN(5), 1+r.IntN(5)),
			pick("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")+" "+pick("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")+" "+
				pick("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"),
			1+r.IntN(50), pick("SM", "LG", "MED", "JUMBO", "WRAP")+" "+pick("CASE", "BOX", "BAG", "JAR", "PKG", "PACK"), money(900, 2000), words()[:8])
		for j := range 4 {
			add("partsupp", i+1, 1+(i+j*(suppliers/4+1))%suppliers, 1+r.IntN(200), money(1, 1000), words())
		}
	}
	for i := range customers {
		n := r.IntN(25)
		add("customer", i+1, fmt.Sprintf("Customer#%09d", i+1), words(), n, phone(n), money(-999, 9999),
			pick("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"), words())
	}
	for i := range orders {
		day := r.IntN(2400)
		add("orders", i*4+1, 1+r.IntN(customers)*2/3, pick("F", "O", "P"), money(900, 400000), date(day),
			pick("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"), fmt.Sprintf("Clerk#%09d", r.IntN(1000)), 0, words())
		for l := range 1 + r.IntN(7) {
			ship := day + 1 + r.IntN(121)
			part := r.IntN(parts)
			add("lineitem", i*4+1, part+1, 1+(part+r.IntN(4)*(suppliers/4+1))%suppliers, l+1, 1+r.IntN(50), money(900, 90000),
				fmt.Sprintf("0.%02d", r.IntN(11)), fmt.Sprintf("0.%02d", r.IntN(9)), pick("R", "A", "N"), pick("O", "F"), date(ship), date(day+30+r.IntN(60)),
				date(ship+1+r.IntN(30)), pick("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"),
				pick("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"), words())
		}
	}
	return rows.statements()
}

// inserts are rows of some tables, as INSERT statements of many rows each.
type inserts struct {
	sqls   []string
	tables []string // in the order of their first rows
	batch  map[string][]string
}

// add adds a row of a table; strings and what prints itself are quoted, nil is NULL.
func (i *inserts) add(table string, values ...any) {
	if i.batch[table] == nil {
		i.tables = append(i.tables, table)
	}
	var s []string
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			s = append(s, "NULL")
		case string, fmt.Stringer:
			s = append(s, fmt.Sprintf("'%s'", v))
		default:
			s = append(s, fmt.Sprint(v))
		}
	}
	if i.batch == nil {
		i.batch = map[string][]string{}
	}
	if i.batch[table] = append(i.batch[table], "("+strings.Join(s, ",")+")"); len(i.batch[table]) >= 500 {
		i.flush(table)
	}
}

// flush makes a statement of the rows of a table that are in none yet.
func (i *inserts) flush(table string) {
	if len(i.batch[table]) > 0 {
		i.sqls = append(i.sqls, "INSERT INTO "+table+" VALUES "+strings.Join(i.batch[table], ","))
		i.batch[table] = nil
	}
}

// statements are the statements of all rows.
func (i *inserts) statements() []string {
	for _, table := range i.tables {
		i.flush(table)
	}
	return i.sqls
}
