// Package diagnostics is what a statement leaves for those behind it that ask how it went: the conditions that it has raised, which are SHOW WARNINGS
// and GET DIAGNOSTICS, and ROW_COUNT(). It asks no server: it is given the rows in which they tell their warnings.
package diagnostics

import (
	"fmt"
	"slices"
	"strconv"

	"skarv/pkg/sqlerr"
)

// Condition is a row of SHOW WARNINGS.
type Condition struct {
	Level   string // Note, Warning or Error
	Code    sqlerr.Code
	Message string
	State   string // SQLSTATE; "" for that of the number, for SHOW WARNINGS does not tell it
}

// The levels of conditions.
const (
	Note    = "Note"
	Warning = "Warning"
	Error   = "Error"
)

// Of is e as a condition of a level.
func Of(level string, e *sqlerr.Error) Condition { return Condition{level, e.Code, e.Message, e.State} }

// AppendRows appends the conditions that rows of a server's SHOW WARNINGS tell, as long as dst has fewer than most.
func AppendRows(dst []Condition, rows [][][]byte, most int) []Condition {
	for _, row := range rows {
		if len(row) != 3 || len(dst) >= most {
			break
		}
		dst = append(dst, OfRow(row))
	}
	return dst
}

// OfRow is the condition that a row of SHOW WARNINGS, with its three columns, tells.
func OfRow(row [][]byte) Condition {
	code, _ := strconv.ParseUint(string(row[1]), 10, 16)
	return Condition{Level: string(row[0]), Code: sqlerr.Code(code), Message: string(row[2])}
}

// SQLState is the condition's SQLSTATE.
func (c *Condition) SQLState(mariadb bool) string {
	if c.State != "" {
		return c.State
	}
	return sqlerr.StateOf(uint16(c.Code), mariadb)
}

// Err is the condition as an error.
func (c *Condition) Err(mariadb bool) *sqlerr.Error {
	return &sqlerr.Error{Code: c.Code, State: c.SQLState(mariadb), Message: c.Message}
}

// item is a condition information item of GET DIAGNOSTICS as a literal. Names of tables and such stand in the text of a condition, if anywhere.
func (c *Condition) item(name string, mariadb bool) (literal string, ok bool) {
	switch name {
	case "MYSQL_ERRNO":
		return fmt.Sprintf("CAST(%d AS UNSIGNED)", c.Code), true
	case "MESSAGE_TEXT":
		return text(c.Message), true
	case "RETURNED_SQLSTATE":
		return text(c.SQLState(mariadb)), true
	case "CLASS_ORIGIN", "SUBCLASS_ORIGIN":
		if mariadb {
			return text(""), true
		}
		return text("ISO 9075"), true
	}
	names := []string{"CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "CATALOG_NAME", "SCHEMA_NAME", "TABLE_NAME", "COLUMN_NAME", "CURSOR_NAME"}
	return text(""), slices.Contains(names, name)
}
