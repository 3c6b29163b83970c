package differ

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Difference is one thing that a client of the cluster sees otherwise than one of one server, beside what Compare tells.
type Difference struct {
	What      string // "length" of a column, "warnings" of a statement, ...
	Column    string // its number and name; "" of a statement
	Type      string // what one server says it is
	Want, Got string
}

func (d Difference) String() string {
	if d.Column != "" {
		return fmt.Sprintf("  %s of column %s: one server %s, cluster %s\n", d.What, d.Column, d.Want, d.Got)
	}
	return fmt.Sprintf("  %s: one server %s, cluster %s\n", d.What, oneLine(d.Want), oneLine(d.Got))
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", "; ") }

// AskWarnings completes an outcome of c with the list of warnings, if it has any: asking changes what ROW_COUNT() and FOUND_ROWS() say.
func (o *Outcome) AskWarnings(ctx context.Context, c *Client) {
	sent := o.Sent
	o.Warnings, _ = c.Warnings(ctx)
	o.Sent = sent
}

// MayWarn reports whether there are warnings to ask for.
func (o *Outcome) MayWarn() bool {
	return o.Errno != 0 || slices.ContainsFunc(o.Sent.Results, func(r Result) bool { return r.Warnings > 0 })
}

// CompareSent says how what came with an outcome differs: all of a column's definition, warnings, and errors as they are worded.
func CompareSent(want, got Outcome) (all []Difference) {
	ofType := ""
	differ := func(what, column string, w, g any) {
		if ws, gs := fmt.Sprint(w), fmt.Sprint(g); ws != gs {
			all = append(all, Difference{what, column, ofType, ws, gs})
		}
	}
	if want.Errno != got.Errno {
		return nil // Compare has told
	}
	columns := func(of string, w, g []Column) {
		if len(w) != len(g) {
			differ("number of columns"+of, "", len(w), len(g))
			return
		}
		for i := range w {
			w, g, at := w[i], g[i], fmt.Sprintf("%d %s", i+1, w[i].Name)
			ofType = typeName(w.Type)
			differ("name"+of, at, w.Name, g.Name)
			differ("original name"+of, at, w.OrgName, g.OrgName)
			differ("table"+of, at, w.Table, g.Table)
			differ("original table"+of, at, w.OrgTable, g.OrgTable)
			differ("schema"+of, at, w.Schema, g.Schema)
			differ("extended type"+of, at, w.Extended, g.Extended)
			differ("type"+of, at, typeName(w.Type), typeName(g.Type))
			differ("character set"+of, at, w.Charset, g.Charset)
			differ("length"+of, at, w.Length, g.Length)
			differ("decimals"+of, at, w.Decimals, g.Decimals)
			differ("flags"+of, at, flagNames(w.Flags), flagNames(g.Flags))
		}
		ofType = ""
	}
	if want.Errno == 0 { // else one may tell the error before, the other when the statement runs
		differ("parameters", "", want.Prepared.Params, got.Prepared.Params)
		columns(", prepared", want.Prepared.Defined, got.Prepared.Defined)
	}
	if want.Errno != 0 {
		differ("SQLSTATE", "", want.Sent.State, got.Sent.State)
		differ("message", "", want.Sent.Message, got.Sent.Message)
	} else if len(want.Sent.Results) != len(got.Sent.Results) {
		differ("results", "", len(want.Sent.Results), len(got.Sent.Results))
	} else {
		for i := range want.Sent.Results {
			w, g := &want.Sent.Results[i], &got.Sent.Results[i]
			columns("", w.Columns, g.Columns)
			differ("warning count", "", w.Warnings, g.Warnings)
			differ("information", "", w.Info, g.Info)
			differ("status", "", statusNames(w.Status), statusNames(g.Status))
		}
	}
	differ("warnings", "", strings.Join(want.Warnings, "\n"), strings.Join(got.Warnings, "\n"))
	return all
}

func typeName(t byte) string {
	names := map[byte]string{0: "DECIMAL", 1: "TINY", 2: "SHORT", 3: "LONG", 4: "FLOAT", 5: "DOUBLE", 6: "NULL", 7: "TIMESTAMP", 8: "LONGLONG",
		9: "INT24", 10: "DATE", 11: "TIME", 12: "DATETIME", 13: "YEAR", 15: "VARCHAR", 16: "BIT", 242: "VECTOR", 245: "JSON", 246: "NEWDECIMAL",
		247: "ENUM", 248: "SET", 249: "TINYBLOB", 250: "MEDIUMBLOB", 251: "LONGBLOB", 252: "BLOB", 253: "VAR_STRING", 254: "STRING", 255: "GEOMETRY"}
	if n := names[t]; n != "" {
		return n
	}
	return fmt.Sprint(t)
}

func flagNames(f uint16) string {
	return bitNames(f, []string{"NOT_NULL", "PRI_KEY", "UNIQUE_KEY", "MULTIPLE_KEY", "BLOB", "UNSIGNED", "ZEROFILL", "BINARY", "ENUM",
		"AUTO_INCREMENT", "TIMESTAMP", "SET", "NO_DEFAULT_VALUE", "ON_UPDATE_NOW", "PART_KEY", "NUM"})
}

// statusNames are what clients go by: not how good a plan was, nor what has been remembered of it.
func statusNames(s uint16) string {
	return bitNames(s&0x23cb, []string{"IN_TRANS", "AUTOCOMMIT", "", "MORE_RESULTS", "", "", "CURSOR", "LAST_ROW", "DB_DROPPED",
		"NO_BACKSLASH_ESCAPES", "", "", "", "IN_TRANS_READONLY", "", ""})
}

func bitNames(f uint16, names []string) string {
	var out []string
	for i, n := range names {
		if f&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return "[" + strings.Join(out, " ") + "]"
}
