package planner

import (
	"cmp"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// The text of a view is written for no sql_mode, and its string literals have the collation of who has made it. A server reads it so whoever uses
// the view; in the middle of a client's statement it is read as the client's text.

// readsOtherwise is why what the statement takes from the view's text may mean something else in the middle of it; nil: it does not.
func (w *viewWriter) readsOtherwise() error {
	t, mode := w.v.view, w.b.st.Mode()
	refuse := func(what, advice string) error {
		return sqlerr.Unsupported("a write through the view '"+t.Name+"', "+what, advice+", or write to its table")
	}
	for _, part := range w.parts {
		for _, m := range []struct {
			name string
			in   bool
		}{
			{"NO_BACKSLASH_ESCAPES", mode&sqlparse.NoBackslashEscapes != 0 && (strings.Contains(part, `\`) || containsFold(part, " like "))},
			{"EMPTY_STRING_IS_NULL", mode&sqlparse.EmptyStringIsNull != 0 && strings.Contains(part, "''")},
			{"ORACLE", mode&sqlparse.Oracle != 0 && strings.Contains(part, "(")},
		} {
			if m.in {
				return refuse("whose text means something else under sql_mode "+m.name, "leave that out of sql_mode")
			}
		}
		if t.Collation == w.b.sess.Collation || !strings.Contains(part, "'") {
			continue
		}
		if tree, err := w.b.p.parser.ParseText(w.b.st.Dialect(), part); err != nil || !comparesWithColumns(tree) {
			return refuse("whose string literals have the collation of who has made it", "SET collation_connection to "+cmp.Or(t.Collation, "the view's"))
		}
	}
	return nil
}

// comparesWithColumns reports whether all strings of a query are compared with columns, whose collations count then.
func comparesWithColumns(tree sqlparser.SQLNode) bool {
	good, all := 0, 0
	count := func(e sqlparser.Expr) {
		if isString(e) {
			good++
		}
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Literal:
			if isString(n) {
				all++
			}
		case *sqlparser.ComparisonExpr:
			if _, ok := n.Right.(*sqlparser.ColName); ok {
				count(n.Left)
			}
			if _, ok := n.Left.(*sqlparser.ColName); !ok {
				break
			}
			count(n.Right)
			count(n.Escape)
			if list, ok := n.Right.(sqlparser.ValTuple); ok {
				for _, e := range list {
					count(e)
				}
			}
		case *sqlparser.BetweenExpr:
			if _, ok := n.Left.(*sqlparser.ColName); ok {
				count(n.From)
				count(n.To)
			}
		}
		return true, nil
	}, tree)
	return good == all
}

func isString(e sqlparser.Expr) bool {
	if in, ok := e.(*sqlparser.IntroducerExpr); ok {
		e = in.Expr
	}
	l, ok := e.(*sqlparser.Literal)
	return ok && l.Type == sqlparser.StrVal
}
