package schema

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// A key over expressions has a hidden column for each of them, of the type and collation that its server has chosen when the key was made.
// It has no name in statements, but SHOW EXTENDED COLUMNS tells of it.

// expressions are the parts of a key that are expressions.
type expressions struct {
	shown []shownExpression
	// known are all of them, nil if of one it cannot be told what servers hold.
	known []catalog.KeyExpression
}

type shownExpression struct {
	at   int // among the parts of the key
	text string
	// collated: see sqlparse.KeyExpression; set where it is known.
	collated bool
}

// readExpressions finds out about the expressions of unique keys.
func (d *Definition) readExpressions(ctx context.Context, s *Server) error {
	var unique []string
	for name := range d.computed {
		if d.Unique[name] {
			unique = append(unique, name)
		}
	}
	if len(unique) == 0 {
		return nil
	}
	parser, err := sqlparse.NewParser()
	if err != nil {
		return err
	}
	table := ddl.Object{DB: d.Table.Database, Name: d.Table.Name}.SQL()
	hidden, err := columnsOf(ctx, s, "SHOW EXTENDED FULL COLUMNS FROM "+table+" LIKE '!hidden!%'")
	if err != nil {
		return err
	}
	d.Unknown = map[string]string{}
	for _, name := range unique {
		x := d.computed[name]
		known, why := d.knownExpressions(parser, name, x.shown, hidden)
		if why == "" {
			why, err = unlikeNow(ctx, s, d.Table.Database, table, x.shown, known)
		}
		if err != nil {
			return err
		}
		if why != "" {
			d.Unknown[name] = why
			continue
		}
		x.known = known
	}
	return nil
}

// columnsOf reads the columns that a SHOW FULL COLUMNS tells of.
func columnsOf(ctx context.Context, s *Server, show string) (map[string]catalog.Column, error) {
	columns := map[string]catalog.Column{}
	return columns, s.Rows(ctx, func(r *sql.Rows) error {
		row, err := anyRow(r)
		if err != nil {
			return err
		}
		columns[row[0].String] = hiddenColumn(row[1].String, row[2].String, row[3].String == "YES")
		return nil
	}, show)
}

// knownExpressions are the expressions of the key called name. why: of one it cannot be told what servers hold.
func (d *Definition) knownExpressions(parser *sqlparse.Parser, name string, shown []shownExpression, hidden map[string]catalog.Column) (out []catalog.KeyExpression, why string) {
	for i, e := range shown {
		column, ok := hidden[fmt.Sprintf("!hidden!%s!%d!0", name, e.at)]
		if !ok || !holdsExpression(column.DataType) {
			return nil, "of an expression"
		}
		read, ok := parser.KeyExpression(strings.ReplaceAll(e.text, `\'`, "'"), d.keyKind)
		if !ok {
			return nil, "of an expression that may depend on more than the row"
		}
		if !read.Collated && column.Collation != sessionCollation {
			return nil, "of an expression whose collation, " + column.Collation + ", is that of the session which makes it (use SET NAMES utf8mb4)"
		}
		shown[i].collated = read.Collated
		column.Expression = read.Text
		known := catalog.KeyExpression{At: e.at, Column: column}
		for _, c := range read.Columns {
			known.Reads = append(known.Reads, d.Table.Column(c))
		}
		out = append(out, known)
	}
	return out, ""
}

// sessionCollation is that of sessions in which tables are copied.
const sessionCollation = "utf8mb4_0900_ai_ci"

// unlikeNow is why a server would hold something else of expressions if their key was made now: it does not change them with the columns that they
// are over.
func unlikeNow(ctx context.Context, s *Server, db, table string, shown []shownExpression, known []catalog.KeyExpression) (why string, err error) {
	probe := sqltypes.QuoteIn(db, "_skarv_expressions")
	var list []string
	for i, e := range shown {
		list = append(list, fmt.Sprintf("%s AS c%d", strings.ReplaceAll(e.text, `\'`, "'"), i))
	}
	if _, err := s.Exec(ctx, "CREATE TEMPORARY TABLE "+probe+" (id INT DEFAULT 0 PRIMARY KEY) SELECT "+strings.Join(list, ", ")+" FROM "+table+" LIMIT 0"); err != nil {
		return "", err
	}
	now, err := columnsOf(ctx, s, "SHOW FULL COLUMNS FROM "+probe)
	if _, e := s.Exec(ctx, "DROP TEMPORARY TABLE "+probe); err == nil {
		err = e
	}
	for i := range known {
		is, would := known[i].Column, now[fmt.Sprintf("c%d", i)]
		if is.ColumnType != would.ColumnType || shown[i].collated && is.Collation != would.Collation {
			why = "of an expression whose type, " + strings.TrimSpace(is.ColumnType+" "+is.Collation) + ", servers leave as it was when the key was made (drop the key, and add it in the same statement)"
		}
	}
	return why, err
}

// holdsExpression reports whether a column of this type holds just what an expression gives.
func holdsExpression(dataType string) bool {
	switch dataType {
	case "varchar", "varbinary", "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "date", "datetime":
		return true
	}
	return false
}

// keyKind is what an expression of a key can do with a column.
func (d *Definition) keyKind(name string) sqlparse.KeyKind {
	at := d.Table.Column(name)
	if at < 0 {
		return sqlparse.KeyBarred
	}
	switch c := &d.Table.Columns[at]; c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal":
		switch {
		case strings.Contains(strings.ToLower(c.ColumnType), "zerofill"):
			return sqlparse.KeyOpaque
		case c.Unsigned:
			return sqlparse.KeyUnsigned
		}
		return sqlparse.KeyNumber
	case "bit":
		return sqlparse.KeyBits
	case "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
		return sqlparse.KeyText
	case "char":
		return sqlparse.KeyText
	case "binary", "varbinary":
		return sqlparse.KeyBytes
	case "date", "datetime":
		return sqlparse.KeyDate
	case "json":
		return sqlparse.KeyDocument
	}
	return sqlparse.KeyOpaque
}

var numbersOfType = regexp.MustCompile(`\((\d+)(?:,(\d+))?\)`)

// hiddenColumn is the column that a server has for an expression.
func hiddenColumn(columnType, collation string, nullable bool) catalog.Column {
	dataType, _, _ := strings.Cut(strings.ToLower(columnType), "(")
	dataType, _, _ = strings.Cut(dataType, " ")
	c := catalog.Column{DataType: dataType, ColumnType: columnType, Type: protocolType(dataType), Nullable: nullable, Generated: true,
		Unsigned: strings.Contains(strings.ToLower(columnType), " unsigned"), Collation: collation, Charset: sqltypes.CharsetOf(collation)}
	if m := numbersOfType.FindStringSubmatch(columnType); m != nil {
		n, _ := strconv.Atoi(m[1])
		digits, _ := strconv.Atoi(m[2])
		switch dataType {
		case "varchar", "varbinary":
			c.Length = int64(n)
		case "decimal":
			c.Precision, c.Scale = n, digits
		case "datetime":
			c.Scale = n
		}
	}
	return c
}
