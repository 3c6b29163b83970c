package planner

import (
	"math"
	"slices"
	"strconv"

	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// clauses are the byte ranges of the outermost SELECT, UPDATE or DELETE in the statement's text. Rewriting never
// prints a tree: it cuts the client's text at these places and puts pieces between, so that what is not touched
// stays byte for byte as it was written.
type clauses struct {
	list  sqlparse.Span // select list
	from  int           // offset of FROM, or of where it would stand
	where int           // offset of WHERE, or -1
	group int
	order int
	// orderItems are the expressions of ORDER BY without ASC and DESC.
	orderItems []sqlparse.Span
	groupItems []sqlparse.Span // of GROUP BY, and of MySQL's GROUP BY ROLLUP (...)
	limit      sqlparse.Span   // LIMIT clause; empty if there is none
	// tail is where clauses after LIMIT begin (FOR UPDATE, INTO), or the end of the text: a LIMIT can be put here.
	tail int
	end  int
	// union: more than one SELECT at the top; only order, limit, tail and end are of the whole.
	union bool
}

// cut finds the clauses of the statement. ok is false when the text has another form than expected (a whole
// statement in parentheses, say).
func cut(st *sqlparse.Statement) (c clauses, ok bool) {
	c = clauses{from: -1, where: -1, group: -1, order: -1, tail: -1}
	toks := st.Tokens()
	selects := 0
	var prev, prev2 sqlparse.Token
	clause := ""      // the clause the walk is in, at depth 0
	expectBy := false // GROUP or ORDER has been read
	rollup := false   // MySQL's GROUP BY ROLLUP has been read
	base := 0         // 1: the walk is in the parentheses of ROLLUP, which count for nothing
	var item sqlparse.Span
	closeItem := func() {
		if item.End > 0 {
			if clause == "GROUP" {
				c.groupItems = append(c.groupItems, item)
			} else {
				c.orderItems = append(c.orderItems, item)
			}
		}
		item = sqlparse.Span{}
	}
	enter := func(word string) {
		if clause == "LIMIT" {
			c.limit.End = prev.End
		}
		closeItem()
		clause = word
	}
	for {
		t := toks.Next()
		if t.Kind == sqlparse.Invalid || t.Kind == sqlparse.EOF && t.Depth != 0 {
			return c, false
		}
		if t.Kind == sqlparse.EOF {
			break
		}
		separator := expectBy // the BY of GROUP BY, ORDER BY
		expectBy = false
		switch {
		case rollup && t.Kind == sqlparse.Op:
			rollup, base, separator = false, 1, true
		case t.Depth < base:
			base, separator = 0, true
		case prev.Kind == sqlparse.EOF && t.Kind == sqlparse.Op && st.Is(t, "("):
			return c, false
		case t.Depth > base:
		case t.Kind == sqlparse.Op && st.Is(t, ","):
			if clause == "GROUP" || clause == "ORDER" {
				closeItem()
				separator = true
			}
		case t.Kind == sqlparse.Word:
			switch word := clauseWord(st, t); word {
			case "":
				if clause == "ORDER" || clause == "GROUP" {
					separator = separator || isWord(st, t, "ASC") || isWord(st, t, "DESC")
				}
				if clause == "GROUP" && item.End == 0 && isWord(st, prev, "BY") && isWord(st, t, "ROLLUP") && !st.Dialect().MariaDB() {
					following := st.TokensFrom(t.End)
					if next := following.Next(); next.Kind == sqlparse.Op && st.Is(next, "(") {
						rollup, separator = true, true
					}
				}
			case "SELECT":
				selects++
				enter(word)
			case "UNION", "EXCEPT", "INTERSECT":
				c.union = true
				enter(word)
				c.group, c.where, c.groupItems = -1, -1, nil
			case "FROM":
				if c.from < 0 {
					c.from = t.Start
				}
				enter(word)
			case "WHERE":
				c.where = t.Start
				enter(word)
			case "HAVING":
				enter(word)
			case "WITH":
				if clause == "GROUP" { // WITH ROLLUP
					enter(word)
				}
			case "GROUP", "ORDER":
				if afterHint(st, prev, prev2) {
					break
				}
				enter(word)
				if expectBy = true; word == "GROUP" {
					c.group = t.Start
				} else {
					c.order = t.Start
				}
				separator = true
			case "LIMIT":
				enter(word)
				c.limit.Start = t.Start
			case "RETURNING":
				enter(word)
				if c.tail < 0 {
					c.tail = t.Start
				}
			case "FOR", "LOCK", "INTO", "PROCEDURE":
				// FOR in an index hint (USE INDEX FOR JOIN) belongs to FROM; INTO may also follow the select list.
				if clause == "FROM" && (isWord(st, prev, "INDEX") || isWord(st, prev, "KEY")) || selects == 0 {
					break
				}
				enter(word)
				if c.tail < 0 {
					c.tail = t.Start
				}
			}
		}
		if (clause == "GROUP" || clause == "ORDER") && !separator {
			if item.End == 0 {
				item.Start = t.Start
			}
			item.End = t.End
		}
		prev2, prev = prev, t
	}
	enter("")
	c.end = prev.End
	if c.tail < 0 {
		c.tail = c.end
	}
	if c.from < 0 {
		c.from = c.tail
		for _, at := range []int{c.where, c.group, c.order} {
			if at >= 0 {
				c.from = min(c.from, at)
			}
		}
		if c.limit.End > 0 {
			c.from = min(c.from, c.limit.Start)
		}
	}
	c.list, ok = st.SelectList()
	return c, ok || selects == 0
}

// clauseWord returns the word of a token in capitals if it may begin a clause.
func clauseWord(st *sqlparse.Statement, t sqlparse.Token) string {
	for _, w := range [...]string{"SELECT", "FROM", "WHERE", "GROUP", "ORDER", "LIMIT", "FOR", "LOCK", "INTO",
		"PROCEDURE", "UNION", "EXCEPT", "INTERSECT", "HAVING", "WITH",
		"RETURNING"} {
		if st.Is(t, w) {
			return w
		}
	}
	return ""
}

func isWord(st *sqlparse.Statement, t sqlparse.Token, w string) bool {
	return t.Kind == sqlparse.Word && st.Is(t, w)
}

// afterHint reports that ORDER or GROUP belongs to an index hint: USE INDEX FOR ORDER BY (i).
func afterHint(st *sqlparse.Statement, prev, prev2 sqlparse.Token) bool {
	return isWord(st, prev, "FOR") && (isWord(st, prev2, "INDEX") || isWord(st, prev2, "KEY"))
}

func lowerText(st *sqlparse.Statement, t sqlparse.Token) string {
	b := slices.Clone(st.Text(t.Span))
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// editor builds a fragment's text from ranges of the statement's own text and pieces of ours.
type editor struct {
	st   *sqlparse.Statement
	part []int // list arguments of which only the group's part is sent
	text plan.Text
	sql  []byte
}

// raw appends SQL of our own.
func (e *editor) raw(sql string) { e.sql = append(e.sql, sql...) }

// arg appends an argument.
func (e *editor) arg(p plan.Piece) {
	p.SQL = string(e.sql)
	e.sql = e.sql[:0]
	e.text = append(e.text, p)
}

// total appends the sum of two counts, as plan.Piece has it.
func (e *editor) total(x, y plan.Operand) {
	if x.Arg < 0 {
		x, y = y, x
	}
	if x.Arg >= 0 {
		e.arg(plan.Piece{Arg: x.Arg, Plus: &y})
		return
	}
	m, errM := strconv.ParseUint(string(x.Const.Raw), 10, 64)
	n, errN := strconv.ParseUint(string(y.Const.Raw), 10, 64)
	switch {
	case errM != nil || errN != nil: // the server refuses what is written
		e.raw(string(x.Const.Raw) + ", " + string(y.Const.Raw))
	case m+n < m:
		e.raw(strconv.FormatUint(math.MaxUint64, 10))
	default:
		e.raw(strconv.FormatUint(m+n, 10))
	}
}

// add appends a text made by another editor.
func (e *editor) add(t plan.Text) {
	for _, p := range t {
		e.raw(p.SQL)
		if p.Arg != plan.NoArg {
			e.arg(p)
		}
	}
}

// span appends a range of the statement's text; arguments in it become pieces.
func (e *editor) span(from, to int) {
	sql := e.st.SQL()
	at := from
	for i := e.firstArg(from); i < e.st.NumArgs() && e.st.Arg(i).Start < to; i++ {
		e.sql = append(e.sql, sql[at:e.st.Arg(i).Start]...)
		e.arg(plan.Piece{Arg: i, Part: slices.Contains(e.part, i)})
		at = e.st.Arg(i).End
	}
	e.sql = append(e.sql, sql[at:to]...)
}

// asWritten is span, but the select list, where it lies in the range, is sent as the client writes it each time: columns without an alias are
// named by their text.
func (e *editor) asWritten(from, to int) {
	if list, _ := e.st.SelectList(); list.End > list.Start && from <= list.Start && list.End <= to {
		e.span(from, list.Start)
		e.arg(plan.Piece{Arg: plan.ArgSelectList})
		from = list.End
	}
	e.span(from, to)
}

// firstArg is the first argument at or after offset.
func (e *editor) firstArg(offset int) int {
	for i := range e.st.NumArgs() {
		if e.st.Arg(i).Start >= offset {
			return i
		}
	}
	return e.st.NumArgs()
}

// done returns the text.
func (e *editor) done() plan.Text {
	if len(e.sql) > 0 || len(e.text) == 0 {
		e.arg(plan.Piece{Arg: plan.NoArg})
	}
	return e.text
}
