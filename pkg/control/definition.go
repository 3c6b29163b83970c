package control

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// definition is a table or view as one server has it.
type definition struct {
	table   *catalog.Table // Kind is View or empty; no Distribution, Group and ID
	create  string         // SHOW CREATE TABLE, without the AUTO_INCREMENT counter
	comment string
	engine  string
	next    uint64 // AUTO_INCREMENT counter
	auto    int    // AUTO_INCREMENT column, or -1
	// full are the columns that each key indexes in full, not only the beginning of; unique tells which keys are.
	full   map[string][]int
	unique map[string]bool
	checks []string // names of CHECK constraints
	// prefixed are the names of keys that index the beginning of a column or an expression.
	prefixed map[string]bool
	triggers []triggerText
}

// readDefinition returns nil if the server has no such table or view.
func readDefinition(ctx context.Context, s *server, db, name string) (*definition, error) {
	create, err := readCreate(ctx, s, db, name)
	if err != nil || create == "" {
		return nil, err
	}
	d := &definition{
		table:    &catalog.Table{Database: db, Name: name, AutoIncrement: -1},
		create:   create,
		auto:     -1,
		full:     map[string][]int{},
		unique:   map[string]bool{},
		prefixed: map[string]bool{},
	}
	if err := d.readTable(ctx, s); err != nil {
		return nil, err
	}
	if err := d.readColumns(ctx, s); err != nil {
		return nil, err
	}
	if d.table.Kind == catalog.View {
		var text, updatable, check string
		err := s.rows(ctx, func(r *sql.Rows) error { return r.Scan(&text, &updatable, &check) },
			"SELECT view_definition, is_updatable, check_option FROM information_schema.views"+d.where("table_schema", "table_name"))
		d.table.Updatable = updatable == "YES" && !strings.Contains(create, "ALGORITHM=TEMPTABLE")
		if check != "NONE" {
			d.table.CheckOption = check
		}
		if s.node.Flavor == catalog.MySQL {
			text = namedColumns(withoutRollupItems(text), d.table.Columns)
		}
		d.table.ViewText = text
		return d, err
	}
	if err := d.readKeys(ctx, s); err != nil {
		return nil, err
	}
	if err := d.readChecks(ctx, s); err != nil {
		return nil, err
	}
	d.table.Checks = len(d.checks) > 0
	if err := d.readTriggers(ctx, s); err != nil {
		return nil, err
	}
	return d, d.readForeignKeys(ctx, s)
}

// namedColumns returns the SELECT of a view with its columns named as the view names them: MySQL keeps the names of
// CREATE VIEW v (a, b) apart from it.
func namedColumns(text string, columns []catalog.Column) string {
	st := sqlparse.NewDialect(false, "").NewStatement()
	if st.Scan([]byte(text), 0) != nil {
		return text
	}
	items := st.SelectItems(nil)
	if len(items) != len(columns) {
		return text
	}
	var out []byte
	at := 0
	for i, it := range items {
		if it.Star {
			return text
		}
		out = append(out, text[at:it.Expr.End]...)
		out = append(out, " AS "+quoteName(columns[i].Name)...)
		at = max(it.Expr.End, it.Alias.End)
	}
	return string(out) + text[at:]
}

// counter is the part of SHOW CREATE TABLE that differs from server to server.
var counter = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// anyRow reads a row of however many columns.
func anyRow(r *sql.Rows) ([]sql.NullString, error) {
	cols, err := r.Columns()
	if err != nil {
		return nil, err
	}
	vals := make([]sql.NullString, len(cols))
	ptrs := make([]any, len(cols))
	for i := range vals {
		ptrs[i] = &vals[i]
	}
	return vals, r.Scan(ptrs...)
}

// readCreate returns a table's or view's text, "" if there is none.
func readCreate(ctx context.Context, s *server, db, name string) (string, error) {
	var out string
	err := s.rows(ctx, func(r *sql.Rows) error {
		vals, err := anyRow(r)
		if err != nil {
			return err
		}
		out = counter.ReplaceAllString(vals[1].String, "")
		return nil
	}, "SHOW CREATE TABLE "+quoteName(db)+"."+quoteName(name))
	if sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase) {
		return "", nil
	}
	if sqlerr.HasCode(err, viewInvalid) {
		return "invalid view", nil // it names tables that are gone; it is there all the same
	}
	return out, err
}

// viewInvalid is the error of a view whose tables do not exist any more.
const viewInvalid sqlerr.Code = 1356

// where selects the table in a query of information_schema: by a literal, which the servers look up without reading
// everything, and exactly, for that comparison ignores case and accents.
func (d *definition) where(db, name string) string {
	return fmt.Sprintf(" WHERE %s = %s AND %s = %s AND CAST(%s AS BINARY) = X'%X' AND CAST(%s AS BINARY) = X'%X'",
		db, literal(d.table.Database), name, literal(d.table.Name), db, d.table.Database, name, d.table.Name)
}

// literal writes a name as a string that no sql_mode and no character set reads otherwise.
func literal(s string) string { return fmt.Sprintf("_utf8mb4 X'%X'", s) }

// exactly is what stands after "schema_name =" to find a database.
func exactly(s string) string {
	return fmt.Sprintf("%s AND CAST(schema_name AS BINARY) = X'%X'", literal(s), s)
}

func (d *definition) readTable(ctx context.Context, s *server) error {
	return s.rows(ctx, func(r *sql.Rows) error {
		var kind string
		var engine, collation, comment sql.NullString
		var next sql.Null[uint64]
		if err := r.Scan(&kind, &engine, &collation, &comment, &next); err != nil {
			return err
		}
		if strings.HasSuffix(kind, "VIEW") {
			d.table.Kind = catalog.View
		} else {
			d.comment = comment.String
		}
		d.engine, d.next = engine.String, next.V
		d.table.Collation = collation.String
		d.table.Charset, _, _ = strings.Cut(collation.String, "_")
		return nil
	}, "SELECT table_type, engine, table_collation, table_comment, auto_increment FROM information_schema.tables"+
		d.where("table_schema", "table_name"))
}

func (d *definition) readColumns(ctx context.Context, s *server) error {
	return s.rows(ctx, func(r *sql.Rows) error {
		var c catalog.Column
		var nullable, extra string
		var def, charset, collation, generation sql.NullString
		var length, precision, scale, fsp sql.NullInt64
		if err := r.Scan(&c.Name, &def, &nullable, &c.DataType, &c.ColumnType, &length, &precision, &scale, &fsp,
			&charset, &collation, &extra, &generation); err != nil {
			return err
		}
		c.DataType = strings.ToLower(c.DataType)
		c.Type = protocolType(c.DataType)
		lower := strings.ToLower(c.ColumnType)
		c.Unsigned = strings.Contains(lower, " unsigned") || strings.Contains(lower, " zerofill")
		c.Nullable = nullable == "YES"
		c.Length, c.Precision = length.Int64, int(precision.Int64)
		c.Scale = int(scale.Int64)
		if fsp.Valid {
			c.Scale = int(fsp.Int64)
		}
		c.Charset, c.Collation = charset.String, collation.String
		c.Default, c.HasDefault = def.String, def.Valid || c.Nullable
		c.NullDefault = c.Nullable && (!def.Valid || s.node.Flavor == catalog.MariaDB && strings.EqualFold(def.String, "NULL"))
		extra = strings.ToUpper(extra)
		c.Generated = generation.String != ""
		c.Invisible = strings.Contains(extra, "INVISIBLE")
		c.OnUpdate = strings.Contains(extra, "ON UPDATE")
		if strings.Contains(extra, "AUTO_INCREMENT") {
			d.auto = len(d.table.Columns)
		}
		d.table.Columns = append(d.table.Columns, c)
		return nil
	}, "SELECT column_name, column_default, is_nullable, data_type, column_type, character_maximum_length,"+
		" numeric_precision, numeric_scale, datetime_precision, character_set_name, collation_name, extra,"+
		" generation_expression FROM information_schema.columns"+
		d.where("table_schema", "table_name")+" ORDER BY ordinal_position")
}

func (d *definition) readKeys(ctx context.Context, s *server) error {
	var indexes []catalog.Index
	err := s.rows(ctx, func(r *sql.Rows) error {
		var name string
		var column sql.NullString
		var prefix sql.NullInt64
		var notUnique, seq int
		if err := r.Scan(&name, &notUnique, &seq, &column, &prefix); err != nil {
			return err
		}
		if len(indexes) == 0 || indexes[len(indexes)-1].Name != name {
			indexes = append(indexes, catalog.Index{Name: name, Unique: notUnique == 0})
		}
		c := d.table.Column(column.String)
		d.unique[name] = notUnique == 0
		if d.full[name] == nil {
			d.full[name] = []int{}
		}
		if prefix.Valid || !column.Valid {
			d.prefixed[name] = true
		} else if c >= 0 {
			d.full[name] = append(d.full[name], c)
		}
		if c >= 0 {
			last := &indexes[len(indexes)-1]
			last.Columns = append(last.Columns, c)
		}
		return nil
	}, "SELECT index_name, non_unique, seq_in_index, column_name, sub_part FROM information_schema.statistics"+
		d.where("table_schema", "table_name")+" ORDER BY index_name, seq_in_index")
	for _, x := range indexes {
		x.Partial = d.prefixed[x.Name]
		switch {
		case x.Name == "PRIMARY":
			d.table.Primary = x.Columns
		case x.Unique:
			d.table.Unique = append(d.table.Unique, x)
		default:
			d.table.Indexes = append(d.table.Indexes, x)
		}
	}
	// In the order in which a server looks for duplicates: of several the first one counts.
	slices.SortStableFunc(d.table.Unique, func(a, b catalog.Index) int { return cmp.Compare(d.keyAt(a.Name), d.keyAt(b.Name)) })
	return err
}

// keyAt is where the table's text defines a unique key.
func (d *definition) keyAt(name string) int {
	return strings.Index(d.create, "UNIQUE KEY "+quoteName(name)+" (")
}

// readForeignKeys reads two views of information_schema one by one: joined, MariaDB would open every table and view of
// the server for the second.
func (d *definition) readForeignKeys(ctx context.Context, s *server) error {
	err := s.rows(ctx, func(r *sql.Rows) error {
		var name, column, refDB, refTable, refColumn string
		if err := r.Scan(&name, &column, &refDB, &refTable, &refColumn); err != nil {
			return err
		}
		fks := d.table.ForeignKeys
		if n := len(fks); n == 0 || fks[n-1].Name != name {
			d.table.ForeignKeys = append(fks, catalog.ForeignKey{Name: name, RefDB: refDB, RefTable: refTable})
		}
		fk := &d.table.ForeignKeys[len(d.table.ForeignKeys)-1]
		fk.Columns = append(fk.Columns, d.table.Column(column))
		fk.RefColumns = append(fk.RefColumns, refColumn)
		return nil
	}, "SELECT constraint_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name"+
		" FROM information_schema.key_column_usage"+d.where("table_schema", "table_name")+
		" AND referenced_table_name IS NOT NULL ORDER BY constraint_name, ordinal_position")
	if err != nil || len(d.table.ForeignKeys) == 0 {
		return err
	}
	return s.rows(ctx, func(r *sql.Rows) error {
		var name, onUpdate, onDelete string
		if err := r.Scan(&name, &onUpdate, &onDelete); err != nil {
			return err
		}
		for i := range d.table.ForeignKeys {
			if fk := &d.table.ForeignKeys[i]; fk.Name == name {
				fk.OnUpdate, fk.OnDelete = onUpdate, onDelete
			}
		}
		return nil
	}, "SELECT constraint_name, update_rule, delete_rule FROM information_schema.referential_constraints"+
		d.where("constraint_schema", "table_name"))
}

func (d *definition) readChecks(ctx context.Context, s *server) error {
	return s.rows(ctx, func(r *sql.Rows) error {
		var name string
		err := r.Scan(&name)
		d.checks = append(d.checks, name)
		return err
	}, "SELECT constraint_name FROM information_schema.table_constraints"+
		d.where("table_schema", "table_name")+" AND constraint_type = 'CHECK' ORDER BY constraint_name")
}

// keyless reports whether rows of the table cannot be told apart by a key, and if they can by another than a primary
// key makes that the primary key, as the storage engine does.
func (d *definition) keyless() bool {
	if len(d.table.Primary) > 0 {
		return false
	}
	for _, u := range d.table.Unique {
		nullable := slices.ContainsFunc(u.Columns, func(c int) bool { return d.table.Columns[c].Nullable })
		if !nullable && !d.prefixed[u.Name] {
			d.table.Primary = slices.Clone(u.Columns)
			return false
		}
	}
	return true
}

// protocolType is how values of a type come in results.
func protocolType(dataType string) sqltypes.Type {
	switch dataType {
	case "tinyint":
		return sqltypes.TypeTiny
	case "smallint":
		return sqltypes.TypeShort
	case "mediumint":
		return sqltypes.TypeInt24
	case "int":
		return sqltypes.TypeLong
	case "bigint":
		return sqltypes.TypeLongLong
	case "float":
		return sqltypes.TypeFloat
	case "double":
		return sqltypes.TypeDouble
	case "decimal":
		return sqltypes.TypeNewDecimal
	case "date":
		return sqltypes.TypeDate
	case "time":
		return sqltypes.TypeTime
	case "datetime":
		return sqltypes.TypeDatetime
	case "timestamp":
		return sqltypes.TypeTimestamp
	case "year":
		return sqltypes.TypeYear
	case "bit":
		return sqltypes.TypeBit
	case "varchar", "varbinary":
		return sqltypes.TypeVarString
	case "tinyblob", "blob", "mediumblob", "longblob", "tinytext", "text", "mediumtext", "longtext":
		return sqltypes.TypeBlob
	case "json":
		return sqltypes.TypeJSON
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection":
		return sqltypes.TypeGeometry
	default: // char, binary, enum, set, uuid, inet6
		return sqltypes.TypeString
	}
}
