package planner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
)

// testSchema makes a snapshot from the DDL texts of a schema block. It knows what tests need of DDL, no more; the
// real way is the controller's, which asks a server for the columns it made.
type testSchema struct {
	snap   *catalog.Snapshot
	db     string
	parser *sqlparse.Parser
}

func newTestSchema(t testing.TB) *testSchema {
	p, err := sqlparse.NewParser()
	require.NoError(t, err)
	return &testSchema{
		db:     "test",
		parser: p,
		snap: &catalog.Snapshot{
			Flavor: catalog.MariaDB, ServerVersion: "10.11.6-MariaDB",
			Databases: map[string]*catalog.Database{
				"test":  {Name: "test", Tables: map[string]*catalog.Table{}},
				"other": {Name: "other", Tables: map[string]*catalog.Table{}},
			},
		},
	}
}

// add reads statements separated by ";\n".
func (s *testSchema) add(t testing.TB, text string) {
	for _, ddl := range strings.Split(text, ";") {
		ddl = strings.TrimSpace(ddl)
		if ddl == "" {
			continue
		}
		stmt, err := s.parser.ParseText(sqlparse.NewDialect(true, s.snap.ServerVersion), ddl)
		require.NoError(t, err, ddl)
		switch c := stmt.(type) {
		case *sqlparser.CreateTable:
			s.table(t, c)
		case *sqlparser.CreateView:
			db := s.snap.Databases[s.db]
			name := c.ViewName.Name.String()
			view := &catalog.Table{Database: s.db, Name: name, Kind: catalog.View, AutoIncrement: -1,
				ViewText: sqlparser.String(c.Select), Apart: strings.EqualFold(c.Algorithm, "temptable")}
			view.Columns, view.Updatable = plainColumns(c.Select)
			db.Tables[name] = view
		default:
			t.Fatalf("schema: %T", stmt)
		}
	}
}

// plainColumns are the columns of a view that shows columns of tables and no more, so that it can be written through.
func plainColumns(query sqlparser.TableStatement) (list []catalog.Column, updatable bool) {
	sel, ok := query.(*sqlparser.Select)
	if !ok || sel.GroupBy != nil || sel.Distinct || sel.Limit != nil {
		return nil, false
	}
	for _, e := range sel.SelectExprs.Exprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, false
		}
		col, ok := a.Expr.(*sqlparser.ColName)
		if !ok {
			return nil, false
		}
		name := a.ColumnName()
		if a.As.IsEmpty() {
			name = col.Name.String()
		}
		list = append(list, catalog.Column{Name: name})
	}
	return list, true
}

func (s *testSchema) table(t testing.TB, c *sqlparser.CreateTable) {
	db := s.db
	if !c.Table.Qualifier.IsEmpty() {
		db = c.Table.Qualifier.String()
	}
	tab := &catalog.Table{Database: db, Name: c.Table.Name.String(), Kind: catalog.Sharded, AutoIncrement: -1}
	for _, def := range c.TableSpec.Columns {
		tab.Columns = append(tab.Columns, testColumn(def))
		if def.Type.Options.Autoincrement {
			tab.AutoIncrement = len(tab.Columns) - 1
		}
		if def.Type.Options.KeyOpt == sqlparser.ColKeyPrimary {
			tab.Primary = []int{len(tab.Columns) - 1}
		}
	}
	for _, ix := range c.TableSpec.Indexes {
		if ix.Info.Type == sqlparser.IndexTypePrimary {
			for _, col := range ix.Columns {
				tab.Primary = append(tab.Primary, tab.Column(col.Column.String()))
			}
		}
	}
	tab.Distribution = tab.Primary
	if o := c.TableSpec.PartitionOption; o != nil {
		tab.Distribution = nil
		for _, col := range o.ColList {
			tab.Distribution = append(tab.Distribution, tab.Column(col.String()))
		}
	}
	for _, o := range c.TableSpec.Options {
		if !strings.EqualFold(o.Name, "comment") {
			continue
		}
		switch v := o.Value.Val; {
		case v == "skarv:reference":
			tab.Kind, tab.Distribution = catalog.Reference, nil
		case strings.HasPrefix(v, "skarv:single"):
			tab.Kind, tab.Distribution, tab.Group = catalog.Single, nil, 3
			if strings.HasSuffix(v, "=4") {
				tab.Group = 4
			}
		}
	}
	if tab.Primary == nil && tab.Kind == catalog.Sharded {
		tab.HiddenKey = true
		tab.Columns = append(tab.Columns, catalog.Column{Name: catalog.HiddenKey, DataType: "bigint", ColumnType: "bigint(20) unsigned",
			Unsigned: true, Invisible: true})
		tab.Primary = []int{len(tab.Columns) - 1}
		if tab.Distribution == nil {
			tab.Distribution = []int{len(tab.Columns) - 1}
		}
		if tab.AutoIncrement < 0 {
			tab.AutoIncrement = len(tab.Columns) - 1
		}
	}
	for _, ix := range c.TableSpec.Indexes {
		x := catalog.Index{Name: ix.Info.Name.String(), Unique: ix.Info.Type == sqlparser.IndexTypeUnique}
		for _, col := range ix.Columns {
			x.Columns = append(x.Columns, tab.Column(col.Column.String()))
			length := 0
			if col.Length != nil {
				length, x.Partial = *col.Length, true
			}
			x.Lengths = append(x.Lengths, length)
		}
		if !x.Partial {
			x.Lengths = nil
		}
		switch ix.Info.Type {
		case sqlparser.IndexTypeUnique:
		case sqlparser.IndexTypeDefault:
			tab.Indexes = append(tab.Indexes, x)
			continue
		default:
			continue
		}
		if tab.NeedsGlobal(x) {
			x.Global = 7
		}
		tab.Unique = append(tab.Unique, x)
		require.NoError(t, tab.Prepare(catalog.MariaDB))
	}
	for _, con := range c.TableSpec.Constraints {
		fk, ok := con.Details.(*sqlparser.ForeignKeyDefinition)
		if !ok {
			continue
		}
		k := catalog.ForeignKey{Name: con.Name.String(), RefDB: db, RefTable: fk.ReferenceDefinition.ReferencedTable.Name.String()}
		k.OnDelete, k.OnUpdate = testRule(fk.ReferenceDefinition.OnDelete), testRule(fk.ReferenceDefinition.OnUpdate)
		for _, col := range fk.Source {
			k.Columns = append(k.Columns, tab.Column(col.String()))
		}
		for _, col := range fk.ReferenceDefinition.ReferencedColumns {
			k.RefColumns = append(k.RefColumns, col.String())
		}
		tab.ForeignKeys = append(tab.ForeignKeys, k)
	}
	s.snap.Databases[db].Tables[tab.Name] = tab
}

func testRule(a sqlparser.ReferenceAction) string {
	switch a {
	case sqlparser.Cascade:
		return "CASCADE"
	case sqlparser.SetNull:
		return "SET NULL"
	}
	return "RESTRICT"
}

func testColumn(def *sqlparser.ColumnDefinition) catalog.Column {
	ty := def.Type
	c := catalog.Column{Name: def.Name.String(), DataType: strings.ToLower(ty.Type), Nullable: true, Unsigned: ty.Unsigned}
	if o := ty.Options; o != nil {
		if o.Null != nil {
			c.Nullable = *o.Null
		}
		c.Nullable = c.Nullable && o.KeyOpt != sqlparser.ColKeyPrimary && !o.Autoincrement
		c.Collation = o.Collate
		if o.Default != nil {
			c.HasDefault, c.Default = true, sqlparser.String(o.Default)
		}
		c.OnUpdate = o.OnUpdate != nil
		c.Generated = o.As != nil
		c.Invisible = o.Invisible != nil && *o.Invisible
	}
	if c.DataType == "integer" {
		c.DataType = "int"
	}
	c.ColumnType = c.DataType
	if ty.Length != nil {
		c.Length = int64(*ty.Length)
		c.ColumnType += fmt.Sprintf("(%d", *ty.Length)
		if ty.Scale != nil {
			c.ColumnType += fmt.Sprintf(",%d", *ty.Scale)
		}
		c.ColumnType += ")"
	}
	if len(ty.EnumValues) > 0 {
		c.ColumnType += "(" + strings.Join(ty.EnumValues, ",") + ")"
	}
	if ty.Unsigned {
		c.ColumnType += " unsigned"
	}
	switch c.DataType {
	case "char", "varchar", "text", "enum", "set", "tinytext", "longtext", "mediumtext":
		c.Charset = "utf8mb4"
		if c.Collation == "" {
			c.Collation = "utf8mb4_general_ci"
		}
	}
	return c
}
