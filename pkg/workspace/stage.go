package workspace

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Stage is a temporary table that takes the rows of an INSERT on their way to a table: with the table's columns, defaults and
// checks, so that every value becomes what the table would hold, but without its keys: whether a row meets another one is
// for the table itself to say. Rows are numbered as they come, in an invisible column. The AUTO_INCREMENT column may be
// NULL, for a value that is still to be given out.
type Stage struct {
	w        *Workspace
	table    *catalog.Table
	name     string
	sequence int // column, or -1
}

// Stage makes an empty stage for t. sequence is the column whose values the cluster gives out, or -1. relaxed are columns that may be
// NULL there: whoever fills the stage will assign them later.
func (w *Workspace) Stage(t *catalog.Table, sequence int, relaxed ...int) (*Stage, error) {
	s := &Stage{w: w, table: t, sequence: sequence}
	var err error
	if s.name, err = w.Create(t); err != nil {
		return nil, err
	}
	if sequence < 0 && t.Kind == catalog.Single {
		if sequence, err = s.numbered(); err != nil {
			return nil, err
		}
		s.sequence = sequence
	}
	var alter []string
	primary, err := s.hasPrimary()
	if err != nil {
		return nil, err
	}
	if primary {
		alter = append(alter, "DROP PRIMARY KEY")
	}
	for i := range t.Unique {
		alter = append(alter, "DROP INDEX "+sqltypes.QuoteName(t.Unique[i].Name))
	}
	if sequence >= 0 {
		c := &t.Columns[sequence]
		alter = append(alter, modify(c, "NULL DEFAULT NULL"))
	}
	for _, i := range relaxed {
		if i == sequence {
			continue
		}
		c := &t.Columns[i]
		if c.HasDefault && !c.NullDefault {
			shown, err := s.nullable(c)
			if err != nil {
				return s, err
			}
			alter = append(alter, shown)
			continue
		}
		how := "NULL"
		if c.Charset != "" && c.Collation != "" && c.Collation != "binary" {
			how = "CHARACTER SET " + c.Charset + " COLLATE " + c.Collation + " NULL"
		}
		alter = append(alter, modify(c, how))
	}
	alter = append(alter, "ADD COLUMN "+sqltypes.QuoteName(rowNumber)+" BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE, ADD PRIMARY KEY ("+sqltypes.QuoteName(rowNumber)+")")
	if _, err = w.conn.Exec("ALTER TABLE " + s.of() + " " + strings.Join(alter, ", ")); err != nil {
		return s, err
	}
	return s, w.anew(t, s.name)
}

// modify is the part of an ALTER TABLE that makes c a column of its type with other attributes.
func modify(c *catalog.Column, attributes string) string {
	text := "MODIFY " + sqltypes.QuoteName(c.Name) + " " + c.ColumnType + " " + attributes
	if c.Invisible {
		text += " INVISIBLE"
	}
	return text
}

// nullable is how a column with a default is made one that may be NULL, and keeps it: by what the server shows of it.
func (s *Stage) nullable(c *catalog.Column) (string, error) {
	_, rows, err := s.w.conn.QueryAll("SHOW CREATE TABLE "+s.of(), 1)
	if err != nil {
		return "", err
	}
	begin := "  " + sqltypes.QuoteName(c.Name) + " "
	for line := range strings.SplitSeq(string(rows[0][1]), "\n") {
		if strings.HasPrefix(line, begin) {
			return "MODIFY" + strings.TrimSuffix(strings.Replace(line, " NOT NULL", " NULL", 1), ",")[1:], nil
		}
	}
	return "", sqlerr.Internal.New("a server does not show column " + c.Name + " of a table that it has made")
}

// numbered is the column of a single table that its server numbers, or -1: the catalog does not know it.
func (s *Stage) numbered() (int, error) {
	_, rows, err := s.w.conn.QueryAll("SHOW COLUMNS FROM "+s.of()+" WHERE Extra LIKE _utf8mb4'%auto_increment%'", 1)
	if err != nil || len(rows) == 0 {
		return -1, err
	}
	return s.table.Column(string(rows[0][0])), nil
}

// Sequence is the AUTO_INCREMENT column, whoever numbers it, or -1.
func (s *Stage) Sequence() int { return s.sequence }

// hasPrimary reports whether the stage's table has a key that is called primary: a UNIQUE one can be in its place, and there can
// be both over the same columns.
func (s *Stage) hasPrimary() (bool, error) {
	same := func(x catalog.Index) bool { return slices.Equal(x.Columns, s.table.Primary) }
	if len(s.table.Primary) == 0 || !slices.ContainsFunc(s.table.Unique, same) {
		return len(s.table.Primary) > 0, nil
	}
	_, rows, err := s.w.conn.QueryAll("SHOW INDEX FROM "+s.of()+" WHERE Key_name = 'PRIMARY'", len(s.table.Columns))
	return len(rows) > 0, err
}

func (s *Stage) of() string {
	return sqltypes.QuoteIn(s.table.Database, s.name)
}

// Rename gives the stage another name.
func (s *Stage) Rename(name string) error {
	if err := s.w.Rename(s.table.Database, s.name, name); err != nil {
		return err
	}
	s.name = name
	return nil
}

// Unchecked lets the stage take rows that the table's CHECK constraints refuse, until Checked: what is done with the rows may put them
// right. It must be called before Ready: what it reads is quoted as the workspace has it.
func (s *Stage) Unchecked(mariadb bool) error {
	if mariadb {
		_, err := s.w.conn.Exec("SET @skarv_checks = @@check_constraint_checks, @@check_constraint_checks = 0")
		return err
	}
	_, rows, err := s.w.conn.QueryAll("SHOW CREATE TABLE "+s.of(), 1)
	if err != nil {
		return err
	}
	var alter []string
	for _, m := range anyCheck.FindAllSubmatch(rows[0][1], -1) {
		alter = append(alter, "ALTER CHECK "+string(m[1])+" NOT ENFORCED")
	}
	if alter == nil {
		return nil
	}
	_, err = s.w.conn.Exec("ALTER TABLE " + s.of() + " " + strings.Join(alter, ", "))
	return err
}

var anyCheck = regexp.MustCompile("\n  CONSTRAINT (`(?:[^`]|``)+`) CHECK ")

// Checked ends Unchecked.
func (s *Stage) Checked(mariadb bool) error {
	if !mariadb {
		return nil
	}
	_, err := s.w.conn.Exec("SET @@check_constraint_checks = @skarv_checks")
	return err
}

// OmittedZero makes the sequence column 0 in rows that leave it out, and so tells them from those that say NULL.
func (s *Stage) OmittedZero() error {
	_, err := s.w.conn.Exec("ALTER TABLE " + s.of() + " ALTER COLUMN " + sqltypes.QuoteName(s.table.Columns[s.sequence].Name) + " SET DEFAULT 0")
	return err
}

// Name is what the stage is called in its table's database.
func (s *Stage) Name() string { return s.name }

// Take puts rows into the stage, literals of whatever the table holds, times in the session's time zone. A row has a literal for each
// column of the table.
func (s *Stage) Take(columns []int, rows [][]string) error {
	var sql strings.Builder
	sql.WriteString("INSERT INTO " + s.of() + " (" + s.table.ColumnList(columns) + ") VALUES ")
	for n, row := range rows {
		if n > 0 {
			sql.WriteString(", ")
		}
		for i, c := range columns {
			sql.WriteString([2]string{"(", ", "}[min(i, 1)] + row[c])
		}
		sql.WriteString(")")
	}
	if err := s.UsageOf(int64(sql.Len())); err != nil {
		return err
	}
	if _, err := s.w.conn.Exec("SET @@time_zone = @skarv_time_zone"); err != nil {
		return err
	}
	_, err := s.w.conn.Exec(sql.String())
	return err
}

// Identities is the query for the sequence column of all rows, in order: number, value.
func (s *Stage) Identities() string {
	return "SELECT " + sqltypes.QuoteName(rowNumber) + ", " + sqltypes.QuoteName(s.table.Columns[s.sequence].Name) + " FROM " + s.of() + " ORDER BY " + sqltypes.QuoteName(rowNumber)
}

// Identify gives the rows numbered first to last consecutive values of the sequence column.
func (s *Stage) Identify(first, last, value uint64) error {
	return s.number(strconv.FormatUint(value, 10)+" + ("+sqltypes.QuoteName(rowNumber)+" - "+strconv.FormatUint(first, 10)+")",
		sqltypes.QuoteName(rowNumber)+" BETWEEN "+strconv.FormatUint(first, 10)+" AND "+strconv.FormatUint(last, 10))
}

// Draw makes rows that have 0 in the sequence column ask a server for a number.
func (s *Stage) Draw() error {
	return s.number("NULL", sqltypes.QuoteName(s.table.Columns[s.sequence].Name)+" = 0")
}

// number gives rows a value in the sequence column, and leaves all else as it is.
func (s *Stage) number(value, which string) error {
	sql := "UPDATE " + s.of() + " SET " + sqltypes.QuoteName(s.table.Columns[s.sequence].Name) + " = " + value
	for i := range s.table.Columns {
		if c := &s.table.Columns[i]; c.OnUpdate {
			sql += ", " + sqltypes.QuoteName(c.Name) + " = " + sqltypes.QuoteName(c.Name)
		}
	}
	_, err := s.w.conn.Exec(sql + " WHERE " + which)
	return err
}

// Rows is the query for the rows in order, as exec.Changer inserts them.
//
// sessionTime is as FormOf takes it; the connection must be in the session's time zone then.
func (s *Stage) Rows(columns []int, sessionTime bool, partition func(alias string) string) string {
	var b strings.Builder
	b.WriteString("SELECT " + partition("s"))
	for _, c := range columns {
		b.WriteString(", " + ReadIn(&s.table.Columns[c], "s", sessionTime))
	}
	b.WriteString(" FROM " + s.of() + " AS s ORDER BY s." + sqltypes.QuoteName(rowNumber))
	return b.String()
}

// Keys is the query for columns of the rows in order, in ReadKey's form.
func (s *Stage) Keys(columns []int) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = readKey(s.table.At(c), "s")
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + s.of() + " AS s ORDER BY s." + sqltypes.QuoteName(rowNumber)
}

// Doubled is the query that has a row if the stage has one that Doubled is about; "" if it cannot. The connection must be in the session's
// time zone.
func (s *Stage) Doubled(columns []int) string {
	condition := Doubled(s.table, columns, "s")
	if condition == "" {
		return ""
	}
	return "SELECT 1 FROM " + s.of() + " AS s WHERE " + condition + " LIMIT 1"
}

// UsageOf counts bytes that are about to be written into the stage.
func (s *Stage) UsageOf(bytes int64) error { return s.w.takeBytes(bytes) }

// Usage counts rows that were written into the stage by a statement of the client.
func (s *Stage) Usage(rows uint64) error {
	if s.w.rows += int64(rows); s.w.rows > s.w.budget.limits.Rows {
		return tooLarge("workspace.max_rows", s.w.budget.limits.Rows)
	}
	return nil
}
