package metadata

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/event"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// TestGolden rewrites the statements of testdata for accounts of different rights, in a cluster of two node groups with two databases.
// Commands: mariadb, mysql: what the servers are; as ACCOUNT: the statement is its; [in=DATABASE].
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		dialect := sqlparse.NewDialect(true, "10.11")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "mariadb":
				dialect = sqlparse.NewDialect(true, "10.11")
				return ""
			case "mysql":
				dialect = sqlparse.NewDialect(false, "9.7.0")
				return ""
			}
			st := dialect.NewStatement()
			defer st.Done()
			require.NoError(t, st.Scan([]byte(d.Input), 0))
			v := viewer(catalog.AccountName(d.CmdArgs[0].Key), dialect)
			d.MaybeScanArgs(t, "in", &v.Database)
			r, err := v.Rewrite(st)
			switch {
			case err != nil:
				e := sqlerr.From(err)
				return e.Error() + "\n"
			case r == nil:
				return "as it is\n"
			}
			return string(r.SQL) + "\n"
		})
	})
}

// viewer is an account of a small cluster: root may do all, reader reads one of two databases, owner owns one, and all reads all.
func viewer(name catalog.AccountName, dialect *sqlparse.Dialect) *Viewer {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	snap := &catalog.Snapshot{
		Groups: []*catalog.NodeGroup{{ID: 1}, {ID: 2}},
		Accounts: catalog.Accounts{
			"root":   {Name: "root", AuthPlugin: "mysql_native_password", AuthString: "*R", Grants: map[string]catalog.Privilege{"*": catalog.All}},
			"all":    {Name: "all", AuthPlugin: "mysql_native_password", Grants: map[string]catalog.Privilege{"*": account.Read}},
			"reader": {Name: "reader", AuthPlugin: "mysql_native_password", AuthString: "*S", Grants: map[string]catalog.Privilege{"o'ne": account.Read}},
			"clerk": {Name: "clerk", AuthPlugin: "mysql_native_password", Grants: map[string]catalog.Privilege{"three": catalog.MaySelect},
				Tables: map[string]map[string]catalog.Privilege{"two": {"t": catalog.MaySelect | catalog.MayCreateView | catalog.MayGrant}}},
			"caller":  {Name: "caller", AuthPlugin: "mysql_native_password", Grants: map[string]catalog.Privilege{"two": catalog.MayExecute}},
			"monitor": {Name: "monitor", AuthPlugin: "mysql_native_password", Grants: map[string]catalog.Privilege{"*": catalog.MayProcess | catalog.MayShowDatabases}},
			"owner":   {Name: "owner", AuthPlugin: "caching_sha2_password", Grants: map[string]catalog.Privilege{"two": catalog.AllOfDatabase}},
		},
		Databases: map[string]*catalog.Database{
			"o'ne": {Tables: map[string]*catalog.Table{
				"keyless": {Database: "o'ne", Name: "keyless", Kind: catalog.Sharded, HiddenKey: true,
					Triggers: []catalog.Trigger{{Name: "tr", Event: "INSERT", Program: &catalog.TriggerProgram{}}}},
			}},
			"two": {Tables: map[string]*catalog.Table{
				"t": {Database: "two", Name: "t", Kind: catalog.Sharded}, "single": {Database: "two", Name: "single", Kind: catalog.Single, Group: 2},
				"copied": {Database: "two", Name: "copied", Kind: catalog.Reference},
			}},
		},
	}
	e := &catalog.Event{Database: "two", Name: "tick", Definer: "owner", Status: "ENABLED", Since: since}
	snap.Events = map[catalog.EventKey]*catalog.Event{e.Key(): e}
	return &Viewer{
		Snapshot: snap, Account: snap.Accounts[name], User: name, Dialect: dialect,
		Columns: func(table string) ([]sqltypes.Column, error) {
			switch table {
			case "information_schema.tables":
				return []sqltypes.Column{{Name: "TABLE_SCHEMA"}, {Name: "TABLE_NAME"}, {Name: "TABLE_ROWS"}, {Name: "AVG_ROW_LENGTH"}}, nil
			case "information_schema.columns":
				return []sqltypes.Column{{Name: "COLUMN_NAME"}, {Name: "PRIVILEGES"}}, nil
			case "information_schema.views":
				return []sqltypes.Column{{Name: "TABLE_NAME"}, {Name: "VIEW_DEFINITION"}}, nil
			case "information_schema.routines":
				return []sqltypes.Column{{Name: "ROUTINE_NAME"}, {Name: "ROUTINE_DEFINITION"}}, nil
			}
			return []sqltypes.Column{{Name: "Host"}, {Name: "User"}, {Name: "Select_priv"}, {Name: "Insert_priv"}, {Name: "plugin"},
				{Name: "authentication_string"}, {Name: "max_questions", Type: sqltypes.TypeLong}}, nil
		},
		Query: func(g placement.NodeGroupID, sql string) (rows [][][]byte, err error) {
			for _, name := range []string{"t", "single", "copied"} {
				rows = append(rows, [][]byte{[]byte("two"), []byte(name), []byte("10"), []byte("1000"), nil, []byte("0"), []byte("7")})
			}
			return rows, nil
		},
		Processes: func() string { return "(SELECT 1 AS ID)" },
		EventStates: func() (map[catalog.EventKey]event.State, error) {
			return map[catalog.EventKey]event.State{e.Key(): {Started: since.Add(time.Hour)}}, nil
		},
	}
}

// TestFrom: on MariaDB metadata names the table that a derived one shows.
func TestFrom(t *testing.T) {
	v := viewer("root", sqlparse.NewDialect(true, "10.11"))
	st := v.Dialect.NewStatement()
	defer st.Done()
	require.NoError(t, st.Scan([]byte("SELECT * FROM information_schema.columns AS C, information_schema.schemata"), 0))
	r, err := v.Rewrite(st)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"c": "COLUMNS", "schemata": "SCHEMATA"}, r.From)
	require.False(t, r.Processes)
	require.NotContains(t, strings.ToLower(string(r.SQL)), " as c as ")
}
