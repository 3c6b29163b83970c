package schema

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// Definition is a table or view as one server has it.
type Definition struct {
	Table   *catalog.Table // Kind is View or empty; no Distribution, Group and ID
	Create  string         // SHOW CREATE TABLE, without the AUTO_INCREMENT counter
	Comment string
	Definer string // of a view: its account on the server, with its host
	Next    uint64 // AUTO_INCREMENT counter
	Auto    int    // AUTO_INCREMENT column, or -1
	// Full are the columns that each key indexes in full, not only the beginning of; Unique tells which keys are.
	Full   map[string][]int
	Unique map[string]bool
	// Unknown is, of unique keys over expressions, why it cannot be told what servers hold of them.
	Unknown  map[string]string
	Checks   []string // names of CHECK constraints
	Triggers []Trigger

	// prefixed are the names of keys that index the beginning of a column or an expression.
	prefixed map[string]bool
	// computed are those of keys that index an expression, with the expressions of which Skarv can tell what servers hold, and the others.
	computed map[string]*expressions
}

// ReadDefinition reads a table or view; nil if the server has none of that name.
func ReadDefinition(ctx context.Context, s *Server, o ddl.Object) (*Definition, error) {
	create, err := ReadCreate(ctx, s, o)
	if err != nil || create == "" {
		return nil, err
	}
	d := &Definition{
		Table:    &catalog.Table{Database: o.DB, Name: o.Name, AutoIncrement: -1},
		Create:   create,
		Auto:     -1,
		Full:     map[string][]int{},
		Unique:   map[string]bool{},
		prefixed: map[string]bool{},
		computed: map[string]*expressions{},
	}
	if err := d.readTable(ctx, s); err != nil {
		return nil, err
	}
	if err := d.readColumns(ctx, s); err != nil {
		return nil, err
	}
	if d.Table.Kind == catalog.View {
		var text, updatable, check, collation, security string
		err := s.Rows(ctx, func(r *sql.Rows) error { return r.Scan(&text, &updatable, &check, &collation, &security, &d.Definer) },
			"SELECT view_definition, is_updatable, check_option, collation_connection, security_type, definer FROM information_schema.views"+d.where("table_schema", "table_name"))
		if charset := sqltypes.CharsetOf(collation); charset == "utf8mb4" || !introducer.MatchString(create) {
			d.Table.Charset, d.Table.Collation = charset, collation
		}
		d.Table.Apart = strings.HasPrefix(create, "CREATE ALGORITHM=TEMPTABLE ")
		d.Table.Updatable = updatable == "YES" && !d.Table.Apart
		if check != "NONE" {
			d.Table.CheckOption = check
		}
		if s.node.Flavor == catalog.MySQL {
			text = namedColumns(withoutRollupItems(text), d.Table.Columns)
		}
		if err == nil {
			text, err = s.withFunctions(ctx, text, o.DB)
		}
		d.Table.ViewText, d.Table.Invoker = text, security == "INVOKER"
		return d, err
	}
	for _, part := range []struct {
		in   string // what the table's text has if there is any
		read func(context.Context, *Server) error
	}{{"KEY", d.readKeys}, {"CHECK (", d.readChecks}, {"", d.readTriggers}, {"FOREIGN KEY (", d.readForeignKeys}} {
		if !strings.Contains(create, part.in) {
			continue
		}
		if err := part.read(ctx, s); err != nil {
			return nil, err
		}
	}
	d.Table.Checks = len(d.Checks) > 0
	return d, nil
}

// introducer is a string with a character set of its own in the text of a view. It may see more than there are.
var introducer = regexp.MustCompile(`(?i)\b_[a-z0-9]+\s*'`)

var engine = regexp.MustCompile(`\n\) ENGINE=(\w+)`)

// Engine is the table's storage engine.
func (d *Definition) Engine() string {
	if m := engine.FindStringSubmatch(d.Create); m != nil {
		return m[1]
	}
	return ""
}

// namedColumns returns the SELECT of a view with its columns named as the view names them: MySQL keeps the names of
// CREATE VIEW v (a, b) apart from it.
func namedColumns(text string, columns []catalog.Column) string {
	st := sqlparse.NewDialect(false, "").NewStatement()
	if st.Scan([]byte(text), 0) != nil {
		return text
	}
	tokens := st.Tokens()
	if st.Is(tokens.Next(), "VALUES") { // nothing in it can have a name
		var names, list []string
		for i := range columns {
			name := sqltypes.QuoteName(columns[i].Name)
			names, list = append(names, name), append(list, "`v`."+name+" AS "+name)
		}
		return "select " + strings.Join(list, ",") + " from (" + text + ") as `v` (" + strings.Join(names, ",") + ")"
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
		out = append(out, " AS "+sqltypes.QuoteName(columns[i].Name)...)
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

// ReadCreate returns a table's or view's text, "" if there is none.
func ReadCreate(ctx context.Context, s *Server, o ddl.Object) (string, error) {
	var out string
	err := s.Rows(ctx, func(r *sql.Rows) error {
		vals, err := anyRow(r)
		if err != nil {
			return err
		}
		out = counter.ReplaceAllString(vals[1].String, "")
		return nil
	}, "SHOW CREATE TABLE "+o.SQL())
	if sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase) {
		return "", nil
	}
	if sqlerr.HasCode(err, sqlerr.ViewInvalid) {
		return "invalid view", nil // it names tables that are gone; it is there all the same
	}
	return out, err
}

// IsSequence reports whether o is a sequence on a server; only MariaDB has them.
func IsSequence(ctx context.Context, s *Server, o ddl.Object) (bool, error) {
	n, err := s.One(ctx, fmt.Sprintf("SELECT COUNT(*) FROM information_schema.tables WHERE table_type = 'SEQUENCE' AND table_schema = %s AND table_name = %s"+
		" AND CAST(table_name AS BINARY) = X'%X'", sqltypes.Literal(o.DB), sqltypes.Literal(o.Name), o.Name))
	return n == "1", err
}

// where selects the table in a query of information_schema: by a literal, which the servers look up without reading
// everything, and exactly, for that comparison ignores case and accents.
func (d *Definition) where(db, name string) string {
	return fmt.Sprintf(" WHERE %s = %s AND %s = %s AND CAST(%s AS BINARY) = X'%X' AND CAST(%s AS BINARY) = X'%X'",
		db, sqltypes.Literal(d.Table.Database), name, sqltypes.Literal(d.Table.Name), db, d.Table.Database, name, d.Table.Name)
}

// ReadDatabase returns the name and character set of a database, nil if the server has none of that name.
func ReadDatabase(ctx context.Context, s *Server, name string) (*catalog.Database, error) {
	var d *catalog.Database
	err := s.Rows(ctx, func(r *sql.Rows) error {
		d = &catalog.Database{Name: name}
		return r.Scan(&d.Charset, &d.Collation)
	}, fmt.Sprintf("SELECT default_character_set_name, default_collation_name FROM information_schema.schemata"+
		" WHERE schema_name = %s AND CAST(schema_name AS BINARY) = X'%X'", sqltypes.Literal(name), name))
	return d, err
}

func (d *Definition) readTable(ctx context.Context, s *Server) error {
	return s.Rows(ctx, func(r *sql.Rows) error {
		var kind string
		var collation, comment, options sql.NullString
		var next sql.Null[uint64]
		if err := r.Scan(&kind, &collation, &comment, &next, &options); err != nil {
			return err
		}
		if strings.HasSuffix(kind, "VIEW") {
			d.Table.Kind = catalog.View
		} else {
			d.Comment = comment.String
		}
		d.Next = next.V
		d.Table.Partitioned = slices.Contains(strings.Fields(strings.ToLower(options.String)), "partitioned")
		d.Table.Collation = collation.String
		d.Table.Charset = sqltypes.CharsetOf(collation.String)
		return nil
	}, "SELECT table_type, table_collation, table_comment, auto_increment, create_options FROM information_schema.tables"+
		d.where("table_schema", "table_name"))
}

func (d *Definition) readColumns(ctx context.Context, s *Server) error {
	return s.Rows(ctx, func(r *sql.Rows) error {
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
		c.ComputedDefault = strings.Contains(extra, "DEFAULT_GENERATED")
		if strings.Contains(extra, "AUTO_INCREMENT") {
			d.Auto = len(d.Table.Columns)
		}
		d.Table.Columns = append(d.Table.Columns, c)
		return nil
	}, "SELECT column_name, column_default, is_nullable, data_type, column_type, character_maximum_length,"+
		" numeric_precision, numeric_scale, datetime_precision, character_set_name, collation_name, extra,"+
		" generation_expression FROM information_schema.columns"+
		d.where("table_schema", "table_name")+" ORDER BY ordinal_position")
}

func (d *Definition) readKeys(ctx context.Context, s *Server) error {
	var indexes []catalog.Index
	shown := "NULL"
	if s.node.Flavor == catalog.MySQL {
		shown = "expression"
	}
	err := s.Rows(ctx, func(r *sql.Rows) error {
		var name, kind string
		var column, expression sql.NullString
		var prefix sql.NullInt64
		var notUnique, seq int
		if err := r.Scan(&name, &notUnique, &seq, &column, &prefix, &kind, &expression); err != nil {
			return err
		}
		if len(indexes) == 0 || indexes[len(indexes)-1].Name != name {
			indexes = append(indexes, catalog.Index{Name: name, Unique: notUnique == 0, Fulltext: kind == "FULLTEXT"})
		}
		c := d.Table.Column(column.String)
		d.Unique[name] = notUnique == 0
		if d.Full[name] == nil {
			d.Full[name] = []int{}
		}
		if prefix.Valid || !column.Valid {
			d.prefixed[name] = true
		} else if c >= 0 {
			d.Full[name] = append(d.Full[name], c)
		}
		if !column.Valid {
			if d.computed[name] == nil {
				d.computed[name] = &expressions{}
			}
			d.computed[name].shown = append(d.computed[name].shown, shownExpression{at: seq - 1, text: expression.String})
		}
		if c >= 0 {
			last := &indexes[len(indexes)-1]
			last.Columns, last.Lengths = append(last.Columns, c), append(last.Lengths, int(prefix.Int64))
		}
		return nil
	}, "SELECT index_name, non_unique, seq_in_index, column_name, sub_part, index_type, "+shown+" FROM information_schema.statistics"+
		d.where("table_schema", "table_name")+" ORDER BY index_name, seq_in_index")
	if err == nil {
		err = d.readExpressions(ctx, s)
	}
	for _, x := range indexes {
		x.Partial = d.prefixed[x.Name]
		if computed := d.computed[x.Name]; computed != nil && x.Unique {
			x.Expressions = computed.known
		}
		if !x.Partial || d.computed[x.Name] != nil && x.Expressions == nil {
			x.Lengths = nil
		}
		switch {
		case x.Name == "PRIMARY":
			d.Table.Primary, d.Table.Lengths = x.Columns, x.Lengths
		case x.Unique:
			d.Table.Unique = append(d.Table.Unique, x)
		default:
			d.Table.Indexes = append(d.Table.Indexes, x)
		}
	}
	// In the order in which a server looks for duplicates: of several the first one counts.
	slices.SortStableFunc(d.Table.Unique, func(a, b catalog.Index) int { return cmp.Compare(d.keyAt(a.Name), d.keyAt(b.Name)) })
	return err
}

// keyAt is where the table's text defines a unique key.
func (d *Definition) keyAt(name string) int {
	return strings.Index(d.Create, "UNIQUE KEY "+sqltypes.QuoteName(name)+" (")
}

// readForeignKeys reads two views of information_schema one by one: joined, MariaDB would open every table and view of
// the server for the second.
func (d *Definition) readForeignKeys(ctx context.Context, s *Server) error {
	err := s.Rows(ctx, func(r *sql.Rows) error {
		var name, column, refDB, refTable, refColumn string
		if err := r.Scan(&name, &column, &refDB, &refTable, &refColumn); err != nil {
			return err
		}
		fks := d.Table.ForeignKeys
		if n := len(fks); n == 0 || fks[n-1].Name != name {
			d.Table.ForeignKeys = append(fks, catalog.ForeignKey{Name: name, RefDB: refDB, RefTable: refTable})
		}
		fk := &d.Table.ForeignKeys[len(d.Table.ForeignKeys)-1]
		fk.Columns = append(fk.Columns, d.Table.Column(column))
		fk.RefColumns = append(fk.RefColumns, refColumn)
		return nil
	}, "SELECT constraint_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name"+
		" FROM information_schema.key_column_usage"+d.where("table_schema", "table_name")+
		" AND referenced_table_name IS NOT NULL ORDER BY constraint_name, ordinal_position")
	if err != nil || len(d.Table.ForeignKeys) == 0 {
		return err
	}
	return s.Rows(ctx, func(r *sql.Rows) error {
		var name, onUpdate, onDelete string
		if err := r.Scan(&name, &onUpdate, &onDelete); err != nil {
			return err
		}
		for i := range d.Table.ForeignKeys {
			if fk := &d.Table.ForeignKeys[i]; fk.Name == name {
				fk.OnUpdate, fk.OnDelete = onUpdate, onDelete
			}
		}
		return nil
	}, "SELECT constraint_name, update_rule, delete_rule FROM information_schema.referential_constraints"+
		d.where("constraint_schema", "table_name"))
}

// ReadCounter reads the table's AUTO_INCREMENT counter again.
func (d *Definition) ReadCounter(ctx context.Context, s *Server) error {
	text, err := s.One(ctx, "SELECT auto_increment FROM information_schema.tables"+d.where("table_schema", "table_name"))
	if err != nil {
		return err
	}
	d.Next = 0
	if text != "" {
		d.Next, err = strconv.ParseUint(text, 10, 64)
	}
	return err
}

func (d *Definition) readChecks(ctx context.Context, s *Server) error {
	return s.Rows(ctx, func(r *sql.Rows) error {
		var name string
		err := r.Scan(&name)
		d.Checks = append(d.Checks, name)
		return err
	}, "SELECT constraint_name FROM information_schema.table_constraints"+
		d.where("table_schema", "table_name")+" AND constraint_type = 'CHECK' ORDER BY constraint_name")
}

// Keyless reports whether rows of the table cannot be told apart by a key, and if they can by another than a primary
// key makes that the primary key, as the storage engine does.
func (d *Definition) Keyless() bool {
	if len(d.Table.Primary) > 0 {
		return false
	}
	for _, u := range d.Table.Unique {
		nullable := slices.ContainsFunc(u.Columns, func(c int) bool { return d.Table.Columns[c].Nullable })
		if !nullable && !d.prefixed[u.Name] {
			d.Table.Primary = slices.Clone(u.Columns)
			return false
		}
	}
	return true
}

// AddHiddenKey makes of a table whose rows no key tells apart what it will be with the hidden key behind its columns.
func (d *Definition) AddHiddenKey() {
	d.Table.Primary = []int{len(d.Table.Columns)}
	d.Table.Columns = append(slices.Clone(d.Table.Columns), catalog.Column{
		Name: catalog.HiddenKey, DataType: "bigint", ColumnType: "bigint unsigned", Type: protocolType("bigint"), Unsigned: true, Invisible: true,
	})
	d.Full["PRIMARY"], d.Unique["PRIMARY"] = d.Table.Primary, true
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
