package sqlparse

import (
	"slices"
	"strconv"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"
)

// KeyKind is what an expression of a key can do with a column, or what kind of value it makes.
type KeyKind int

const (
	KeyBarred   KeyKind = iota // nothing
	KeyOpaque                  // ask whether it is NULL
	KeyNumber                  // signed, and exact
	KeyUnsigned                // a number from which nothing is subtracted: sql_mode says what comes of it
	KeyBits
	KeyText
	KeyBytes
	KeyDate // with or without a time of day
	KeyDocument
	KeyNull // of NULL alone
)

// KeyExpression is an expression that a key is over.
type KeyExpression struct {
	// Text is the expression, written so that it has no warnings and gives in every session what the key holds; all columns are in backticks, and
	// nothing else is.
	Text    string
	Columns []string // in it
	// Collated: what it gives is no string, or has the collation of a column, or one that is named.
	Collated bool
}

// KeyExpression reads an expression that a key is over, as a server shows it. ok is false where it depends on a session's variables, or on what
// only a server knows.
func (p *Parser) KeyExpression(shown string, kind func(column string) KeyKind) (out KeyExpression, ok bool) {
	tree, err := p.parse([]byte("SELECT " + shown))
	if err != nil {
		return out, false
	}
	query, is := tree.(*sqlparser.Select)
	if !is || len(query.GetColumns()) != 1 {
		return out, false
	}
	item, is := query.GetColumns()[0].(*sqlparser.AliasedExpr)
	if !is {
		return out, false
	}
	out.Collated = true
	k := keyExpression{kind: kind}
	if c, is := item.Expr.(*sqlparser.CastExpr); is && !c.Array && strings.EqualFold(c.Type.Type, "date") {
		name, is := c.Expr.(*sqlparser.ColName)
		if !is || k.of(name).kind != KeyDate {
			return out, false
		}
		item.Expr = leading(c.Expr, "10") // also of a day that sql_mode does not have
	} else {
		v := k.of(item.Expr)
		if v.kind == KeyBarred || v.kind == KeyOpaque || v.kind == KeyDocument {
			return out, false
		}
		out.Collated = v.kind != KeyText || v.collated
	}
	buf := sqlparser.NewTrackedBuffer(func(buf *sqlparser.TrackedBuffer, node sqlparser.SQLNode) {
		switch n := node.(type) {
		case *sqlparser.ColName:
			buf.WriteString("`" + strings.ReplaceAll(n.Name.String(), "`", "``") + "`")
		case *sqlparser.IntroducerExpr:
			buf.WriteString("_utf8mb4'" + n.Expr.(*sqlparser.Literal).Val + "'")
		case *sqlparser.CastExpr:
			leading(n.Expr, *keyLength(n.Type)).Format(buf)
		default:
			node.Format(buf)
		}
	})
	buf.Myprintf("%v", item.Expr)
	slices.Sort(k.columns)
	out.Text, out.Columns = buf.String(), slices.Compact(k.columns)
	return out, true
}

// leading is the first n characters of what e is as a string, of which CAST(e AS CHAR(n)) warns where there are more.
func leading(e sqlparser.Expr, n string) sqlparser.Expr {
	return &sqlparser.FuncExpr{Name: sqlparser.NewIdentifierCI("LEFT"), Exprs: []sqlparser.Expr{
		&sqlparser.ConvertUsingExpr{Expr: &sqlparser.FuncExpr{Name: sqlparser.NewIdentifierCI("CONCAT"), Exprs: []sqlparser.Expr{e}}, Type: "utf8mb4"},
		sqlparser.NewIntLiteral(n)}}
}

// keyExpression finds out about an expression.
type keyExpression struct {
	kind    func(column string) KeyKind
	columns []string
}

// keyValue is what is known of a part of it. collated: the collation of a string is that of a column, or named.
type keyValue struct {
	kind     KeyKind
	collated bool
}

func (k *keyExpression) of(e sqlparser.Expr) keyValue {
	switch e := e.(type) {
	case *sqlparser.ColName:
		if !e.Qualifier.IsEmpty() {
			return keyValue{}
		}
		k.columns = append(k.columns, e.Name.String())
		return keyValue{k.kind(e.Name.String()), true}
	case *sqlparser.NullVal:
		return keyValue{kind: KeyNull}
	case sqlparser.BoolVal:
		return keyValue{kind: KeyNumber}
	case *sqlparser.Literal:
		if e.Type == sqlparser.IntVal || e.Type == sqlparser.DecimalVal {
			return keyValue{kind: KeyNumber}
		}
	case *sqlparser.IntroducerExpr:
		if l, is := e.Expr.(*sqlparser.Literal); is && l.Type == sqlparser.StrVal && plainKeyText(l.Val) && strings.HasPrefix(strings.ToLower(e.CharacterSet), "_utf8mb") {
			return keyValue{kind: KeyText}
		}
	case *sqlparser.CollateExpr:
		if k.of(e.Expr).kind == KeyText && strings.HasPrefix(strings.ToLower(e.Collation), "utf8mb4_") {
			return keyValue{KeyText, true}
		}
	case *sqlparser.IsExpr:
		v := k.of(e.Left)
		if (e.Right == sqlparser.IsNullOp || e.Right == sqlparser.IsNotNullOp) && v.kind != KeyBarred {
			return keyValue{kind: KeyNumber}
		}
	case *sqlparser.AndExpr:
		return k.condition(e.Left, e.Right)
	case *sqlparser.OrExpr:
		return k.condition(e.Left, e.Right)
	case *sqlparser.ComparisonExpr:
		return k.comparison(e)
	case *sqlparser.BinaryExpr:
		return k.arithmetic(e)
	case *sqlparser.CaseExpr:
		return k.choice(e)
	case *sqlparser.CastExpr:
		n, v := keyLength(e.Type), k.of(e.Expr)
		if n != nil && !e.Array && (v.kind == KeyText || v.kind == KeyNumber || v.kind == KeyUnsigned || v.kind == KeyDate) {
			return keyValue{kind: KeyText}
		}
	case *sqlparser.JSONExtractExpr:
		if k.of(e.JSONDoc).kind == KeyDocument && len(e.PathList) == 1 && k.of(e.PathList[0]) == (keyValue{kind: KeyText}) {
			return keyValue{kind: KeyDocument}
		}
	case *sqlparser.JSONUnquoteExpr:
		if k.of(e.JSONValue).kind == KeyDocument {
			return keyValue{KeyText, true}
		}
	case *sqlparser.JSONValueExpr:
		if k.of(e.JSONDoc).kind == KeyDocument && k.of(e.Path) == (keyValue{kind: KeyText}) && e.EmptyOnResponse == nil && e.ErrorOnResponse == nil {
			return jsonValue(e.ReturningType)
		}
	case *sqlparser.SubstrExpr:
		v := k.of(e.Name)
		if v.kind == KeyText && isNumber(e.From) && (e.To == nil || isNumber(e.To)) {
			return v
		}
	case *sqlparser.TrimFuncExpr:
		if v := k.of(e.StringArg); v.kind == KeyText && e.TrimArg == nil {
			return v
		}
	case *sqlparser.FuncExpr:
		if e.Qualifier.IsEmpty() {
			return k.call(e)
		}
	}
	return keyValue{}
}

// jsonValue is what JSON_VALUE makes.
func jsonValue(t *sqlparser.ConvertType) keyValue {
	switch {
	case t == nil || strings.EqualFold(t.Type, "char") && t.Length != nil && t.Charset.Name == "":
		return keyValue{KeyText, true}
	case strings.EqualFold(t.Type, "signed"):
		return keyValue{kind: KeyNumber}
	case strings.EqualFold(t.Type, "unsigned"):
		return keyValue{kind: KeyUnsigned}
	}
	return keyValue{}
}

// plainKeyText reports whether the text of a string means the same in all modes and character sets.
func plainKeyText(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune("'`\\", r) }) < 0
}

// keyLength is how many characters a CAST leaves, nil if it is to something else than CHAR(n).
func keyLength(t *sqlparser.ConvertType) *string {
	if t == nil || !strings.EqualFold(t.Type, "char") || t.Length == nil || !strings.EqualFold(t.Charset.Name, "utf8mb4") || t.Charset.Binary {
		return nil
	}
	n := strconv.Itoa(*t.Length)
	return &n
}

// isNumber reports whether e is a number that stands in the text.
func isNumber(e sqlparser.Expr) bool {
	l, is := e.(*sqlparser.Literal)
	return is && l.Type == sqlparser.IntVal
}

// numeric reports whether v is a number, or can be a condition.
func (v keyValue) numeric() bool {
	return v.kind == KeyNumber || v.kind == KeyUnsigned || v.kind == KeyBits || v.kind == KeyNull
}

// condition is what AND, OR and the like make of their operands.
func (k *keyExpression) condition(operands ...sqlparser.Expr) keyValue {
	for _, e := range operands {
		if !k.of(e).numeric() {
			return keyValue{}
		}
	}
	return keyValue{kind: KeyNumber}
}

// comparison is a comparison that converts nothing, by a collation that is no session's.
func (k *keyExpression) comparison(e *sqlparser.ComparisonExpr) keyValue {
	switch e.Operator {
	case sqlparser.EqualOp, sqlparser.NotEqualOp, sqlparser.LessThanOp, sqlparser.LessEqualOp, sqlparser.GreaterThanOp, sqlparser.GreaterEqualOp, sqlparser.NullSafeEqualOp:
		if k.comparable(e.Left, e.Right) {
			return keyValue{kind: KeyNumber}
		}
	case sqlparser.InOp, sqlparser.NotInOp:
		if list, is := e.Right.(sqlparser.ValTuple); is && k.comparable(append([]sqlparser.Expr{e.Left}, list...)...) {
			return keyValue{kind: KeyNumber}
		}
	}
	return keyValue{}
}

func (k *keyExpression) comparable(operands ...sqlparser.Expr) bool {
	numbers, texts, dates, collated := 0, 0, 0, false
	for _, e := range operands {
		switch v := k.of(e); v.kind {
		case KeyNumber, KeyUnsigned, KeyBits:
			numbers++
		case KeyText:
			texts, collated = texts+1, collated || v.collated
		case KeyDate:
			dates++
		case KeyNull:
		default:
			return false
		}
	}
	return dates == 0 && texts == 0 || numbers == 0 && (texts == 0 || dates == 0 && collated)
}

// arithmetic is that of exact numbers, whose result sql_mode does not decide.
func (k *keyExpression) arithmetic(e *sqlparser.BinaryExpr) keyValue {
	if e.Operator != sqlparser.PlusOp && e.Operator != sqlparser.MinusOp && e.Operator != sqlparser.MultOp {
		return keyValue{}
	}
	kind := KeyNumber
	for _, side := range []sqlparser.Expr{e.Left, e.Right} {
		switch v := k.of(side); v.kind {
		case KeyUnsigned:
			kind = KeyUnsigned
		case KeyNumber:
		default:
			return keyValue{}
		}
	}
	if kind == KeyUnsigned && e.Operator == sqlparser.MinusOp {
		return keyValue{}
	}
	return keyValue{kind: kind}
}

// choice is CASE.
func (k *keyExpression) choice(e *sqlparser.CaseExpr) keyValue {
	var results []sqlparser.Expr
	for _, w := range e.Whens {
		if e.Expr == nil && !k.of(w.Cond).numeric() || e.Expr != nil && !k.comparable(e.Expr, w.Cond) {
			return keyValue{}
		}
		results = append(results, w.Val)
	}
	if e.Else != nil {
		results = append(results, e.Else)
	}
	return k.oneOf(results)
}

// oneOf is a value that is one of some, which are of one kind.
func (k *keyExpression) oneOf(results []sqlparser.Expr) keyValue {
	out := keyValue{kind: KeyNull}
	for _, e := range results {
		v := k.of(e)
		switch {
		case v.kind == KeyNull:
		case v.kind == KeyBits || v.kind == KeyOpaque || v.kind == KeyDocument || v.kind == KeyBarred:
			return keyValue{}
		case out.kind == KeyNull || out.kind == v.kind:
			out = keyValue{v.kind, out.collated || v.collated}
		case out.kind+v.kind == KeyNumber+KeyUnsigned:
			out = keyValue{kind: KeyUnsigned}
		default:
			return keyValue{}
		}
	}
	return out
}

func (k *keyExpression) call(e *sqlparser.FuncExpr) keyValue {
	if len(e.Exprs) == 0 {
		return keyValue{}
	}
	switch e.Name.Lowered() {
	case "if":
		if len(e.Exprs) == 3 && k.of(e.Exprs[0]).numeric() {
			return k.oneOf(e.Exprs[1:])
		}
	case "ifnull", "coalesce":
		return k.oneOf(e.Exprs)
	case "nullif":
		if len(e.Exprs) == 2 && k.comparable(e.Exprs...) {
			return k.oneOf(e.Exprs[:1])
		}
	case "isnull":
		if len(e.Exprs) == 1 && k.of(e.Exprs[0]).kind != KeyBarred {
			return keyValue{kind: KeyNumber}
		}
	case "lower", "upper", "lcase", "ucase", "reverse":
		if v := k.of(e.Exprs[0]); len(e.Exprs) == 1 && v.kind == KeyText {
			return v
		}
	case "left", "right":
		if v := k.of(e.Exprs[0]); len(e.Exprs) == 2 && v.kind == KeyText && isNumber(e.Exprs[1]) {
			return v
		}
	case "concat", "concat_ws":
		out := keyValue{kind: KeyText}
		for _, a := range e.Exprs {
			switch v := k.of(a); v.kind {
			case KeyText:
				out.collated = out.collated || v.collated
			case KeyNumber, KeyUnsigned, KeyDate:
			default:
				return keyValue{}
			}
		}
		return out
	case "char_length", "length":
		if len(e.Exprs) == 1 && k.of(e.Exprs[0]).kind == KeyText {
			return keyValue{kind: KeyNumber}
		}
	case "crc32":
		if v := k.of(e.Exprs[0]); len(e.Exprs) == 1 && (v.kind == KeyText || v.kind == KeyBytes) {
			return keyValue{kind: KeyUnsigned}
		}
	case "sha1", "sha":
		if v := k.of(e.Exprs[0]); len(e.Exprs) == 1 && (v.kind == KeyText || v.kind == KeyBytes) {
			return keyValue{kind: KeyText}
		}
	case "sha2":
		if v := k.of(e.Exprs[0]); len(e.Exprs) == 2 && (v.kind == KeyText || v.kind == KeyBytes) && isNumber(e.Exprs[1]) {
			return keyValue{kind: KeyText}
		}
	case "hex":
		if v := k.of(e.Exprs[0]); len(e.Exprs) == 1 && (v.kind == KeyText || v.kind == KeyBytes || v.kind == KeyNumber || v.kind == KeyUnsigned) {
			return keyValue{kind: KeyText}
		}
	case "year", "month", "dayofmonth", "quarter":
		if len(e.Exprs) == 1 && k.of(e.Exprs[0]).kind == KeyDate {
			return keyValue{kind: KeyNumber}
		}
	}
	return keyValue{}
}
