package ddl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

func TestShownTable(t *testing.T) {
	table := func(kind catalog.TableKind, distribution ...int) *catalog.Table {
		return &catalog.Table{Database: "d", Name: "t", Kind: kind, Distribution: distribution, Primary: []int{0},
			Columns: []catalog.Column{{Name: "id", DataType: "int", ColumnType: "int(11)"}, {Name: "a'b", DataType: "int", ColumnType: "int(11)"}}}
	}
	partitioned := func(t *catalog.Table) *catalog.Table {
		t.Partitioned = true
		return t
	}
	const head = "CREATE TABLE `t` (\n  `id` int(11) NOT NULL,\n  PRIMARY KEY (`id`)"
	for _, c := range []struct {
		of           *catalog.Table
		single       bool // the database's tables are
		options      string
		maria, mysql string // "": as maria
	}{
		{table(catalog.Sharded, 0), false, " ENGINE=InnoDB AUTO_INCREMENT=77", " ENGINE=InnoDB", ""},
		{table(catalog.Sharded, 0), true, " ENGINE=InnoDB", " ENGINE=InnoDB\n PARTITION BY KEY ()", ""},
		{table(catalog.Sharded, 1, 0), false, " ENGINE=InnoDB", " ENGINE=InnoDB\n PARTITION BY KEY (`a'b`,`id`)", ""},
		{partitioned(table(catalog.Sharded, 1)), false, " ENGINE=InnoDB\n PARTITION BY HASH (`id`)", " ENGINE=InnoDB COMMENT='skarv:key=`a''b`'\n PARTITION BY HASH (`id`)", ""},
		{table(catalog.Sharded, 1), false, " ENGINE=InnoDB COMMENT='skarv:key=`old`; mine'", " ENGINE=InnoDB COMMENT='skarv:key=`a''b`; mine'", ""}, // renamed since
		{table(catalog.Sharded, 1), false, " ENGINE=InnoDB COMMENT='skarv:key=`A''B`'", " ENGINE=InnoDB COMMENT='skarv:key=`A''B`'", ""},
		{table(catalog.Reference), false, " ENGINE=InnoDB AUTO_INCREMENT=77 COMMENT='mine'", " ENGINE=InnoDB AUTO_INCREMENT=77 COMMENT='skarv:reference mine'", ""},
		{table(catalog.Reference), true, " ENGINE=InnoDB COMMENT='skarv:reference'", " ENGINE=InnoDB COMMENT='skarv:reference'", ""},
		{table(catalog.Single), false, " ENGINE=InnoDB", " ENGINE=InnoDB COMMENT='skarv:single'", ""},
		{table(catalog.Single), true, " ENGINE=InnoDB", " ENGINE=InnoDB", " ENGINE=InnoDB COMMENT='skarv:single'"},
		{table(catalog.Single), false, " ENGINE=MyISAM", " ENGINE=MyISAM", ""},
	} {
		for flavor, want := range map[catalog.Flavor]string{catalog.MariaDB: c.maria, catalog.MySQL: c.mysql} {
			if want == "" {
				want = c.maria
			}
			require.Equal(t, head+"\n)"+want, ShownTable(head+"\n)"+c.options, c.of, c.single, flavor), "%v %v", c, flavor)
		}
	}
}

// A table that was made without a primary key is shown without one, in whatever quotes.
func TestHiddenKeyIsNotShown(t *testing.T) {
	hidden := &catalog.Table{Kind: catalog.Reference, HiddenKey: true}
	for _, quote := range []string{"`", `"`, ""} {
		key := quote + catalog.HiddenKey + quote
		text := "CREATE TABLE t (\n  a int,\n  " + key + " bigint(20) unsigned NOT NULL INVISIBLE,\n  PRIMARY KEY (" + key + ")\n) ENGINE=InnoDB COMMENT='skarv:reference'"
		require.Equal(t, "CREATE TABLE t (\n  a int\n) ENGINE=InnoDB COMMENT='skarv:reference'", ShownTable(text, hidden, false, catalog.MariaDB))
	}
	require.Equal(t, "no table", ShownTable("no table", hidden, false, catalog.MariaDB))
}

// Whoever runs what he is shown gets the same kind of table.
func TestShownIsRead(t *testing.T) {
	of := &catalog.Table{Kind: catalog.Sharded, Distribution: []int{1, 0}, Primary: []int{0}, Columns: []catalog.Column{{Name: "id"}, {Name: "a`b"}}}
	st, err := Parse(ShownTable("CREATE TABLE `t` (\n  `id` int\n) ENGINE=InnoDB", of, false, catalog.MariaDB), "d", "", catalog.MariaDB, "10.11.6-MariaDB")
	require.NoError(t, err)
	require.True(t, st.Partitioned)
	require.Equal(t, []string{"a`b", "id"}, st.Key)
}

func TestWithDefiner(t *testing.T) {
	ann := catalog.Security{Definer: "ann"}
	for text, want := range map[string]string{
		"CREATE DEFINER=`skarv`@`localhost` PROCEDURE `p`()":                                  "CREATE DEFINER=`ann`@`%` PROCEDURE `p`()",
		`CREATE DEFINER="sk""arv"@"%" FUNCTION f() RETURN 1`:                                  `CREATE DEFINER="ann"@"%" FUNCTION f() RETURN 1`,
		"CREATE ALGORITHM=MERGE DEFINER=`a``b`@`%` SQL SECURITY DEFINER VIEW `v` AS select 1": "CREATE ALGORITHM=MERGE DEFINER=`ann`@`%` SQL SECURITY DEFINER VIEW `v` AS select 1",
		"CREATE VIEW `v` AS select 'DEFINER=`a`@`b` '":                                        "CREATE VIEW `v` AS select 'DEFINER=`a`@`b` '",
	} {
		require.Equal(t, want, string(WithDefiner([]byte(text), ann)))
		require.Equal(t, text, string(WithDefiner([]byte(text), catalog.Security{})))
	}
}
