package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/function"
	"skarv/pkg/sqltypes"
)

// class is what the planner knows of an expression's type: as much as is needed to compare two of its values in the
// proxy as the servers do.
type class struct {
	kind      classKind
	collation string // stringClass
	length    int64  // stringClass: characters at most, 0 if not known
	time      bool   // numberClass: a date or a time
	moment    bool   // numberClass: a TIMESTAMP, whose text is that of its moment in the session's time zone
}

type classKind uint8

const (
	unknownClass classKind = iota
	numberClass            // numbers and times: the result's own definition says how to compare
	floatClass             // FLOAT: its text does not tell all of it
	stringClass            //
	bytesClass             // byte strings
	memberClass            // ENUM and SET
)

// columnClass is the class of a table's column.
func columnClass(c *catalog.Column) class {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "double", "year":
		return class{kind: numberClass}
	case "date", "time", "datetime":
		return class{kind: numberClass, time: true}
	case "timestamp":
		return class{kind: numberClass, time: true, moment: true}
	case "float":
		return class{kind: floatClass}
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		length := c.Length
		if c.DataType != "char" && c.DataType != "varchar" {
			length = 0
		}
		if c.Collation == "binary" {
			return class{kind: bytesClass}
		}
		if c.Collation == "" || c.DataType == "char" && strings.Contains(c.Collation, "_nopad_") && expands(c.Collation) {
			return class{} // servers compare CHAR with its spaces where trailing ones count, of which "ß" has more than "ss"
		}
		return class{kind: stringClass, collation: c.Collation, length: length}
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return class{kind: bytesClass}
	case "enum", "set":
		return class{kind: memberClass, collation: c.Collation}
	}
	// Of others it is not known how they compare; BIT is among them: a server that sorts or groups may send bytes or a number.
	return class{}
}

// knownCollation reports whether sqltypes compares by this collation exactly as the servers do.
func (b *build) knownCollation(name string) bool {
	if rest, old := strings.CutPrefix(name, "utf8_"); old {
		name = "utf8mb3_" + rest
	}
	return slices.Contains(sqltypes.KnownCollations(b.snap.Flavor == catalog.MariaDB), name)
}

// noPad reports whether trailing spaces count in a collation.
func noPad(name string) bool {
	return strings.Contains(name, "_nopad_") || strings.Contains(name, "_0900_") || name == "binary"
}

// expands reports whether a PAD SPACE collation may give a character several weights, as "ä" those of "ae". Servers count
// characters where they pad weights, so that those of equal strings differ, or count weights and leave out the last ones. Those of latin7 give
// a space another weight than they pad with.
func expands(name string) bool {
	switch charset, rest, _ := strings.Cut(name, "_"); charset {
	case "utf8", "utf8mb3", "utf8mb4", "ucs2", "utf16", "utf16le", "utf32", "gb18030":
		return rest != "bin" && !strings.HasPrefix(rest, "general_")
	case "latin7":
		return rest != "bin"
	default:
		return strings.Contains(rest, "german2") || strings.Contains(rest, "czech") // the latter looks at a string several times
	}
}

// weighsMore reports whether the weights of strings tell more than a NO PAD collation looks at: they differ for "e" and "é", which MariaDB's
// of this kind take for equal.
func weighsMore(name string) bool { return strings.HasSuffix(name, "_nopad_ai_cs") }

// sortsExpressionsOtherwise reports whether a server sorts by expressions of a collation in another way than by columns: in these MariaDB
// fills up what an expression gives with NULs where a column gets spaces, and with spaces where it gets NULs.
func (b *build) sortsExpressionsOtherwise(name string) bool {
	charset, rest, _ := strings.Cut(name, "_")
	switch charset {
	case "utf8", "utf8mb3", "utf8mb4", "utf16", "utf16le", "utf32", "binary":
		return false
	}
	return b.snap.Flavor == catalog.MariaDB && (rest == "bin" || strings.HasSuffix(rest, "_nopad_ci") && charset != "ucs2")
}

// class finds the class of an expression; unknownClass where it is not sure.
func (b *build) class(blk *block, e sqlparser.Expr) class {
	c := b.classOf(blk, e)
	if _, plain := e.(*sqlparser.ColName); plain || c.kind != numberClass || b.floatDigits(blk, e) == shown {
		return c
	}
	if blk.aggregated || blk.sel.GroupBy != nil || blk.sel.Distinct || b.floatDigits(blk, e) != rounded {
		return class{} // MariaDB compares what it shows, MySQL what it has
	}
	return class{kind: floatClass}
}

// classOf is class where the text of all numbers but FLOAT columns tells all of them.
func (b *build) classOf(blk *block, e sqlparser.Expr) class {
	switch e := e.(type) {
	case *sqlparser.ColName:
		if ref := blk.resolve(e, b.a.lower); ref.ok() {
			return columnClass(ref.column())
		}
	case *sqlparser.CountStar, *sqlparser.Count, *sqlparser.Sum, *sqlparser.Avg, *sqlparser.BinaryExpr,
		*sqlparser.ComparisonExpr, *sqlparser.AndExpr, *sqlparser.OrExpr, *sqlparser.NotExpr, *sqlparser.XorExpr,
		*sqlparser.IsExpr, *sqlparser.BetweenExpr, *sqlparser.ExistsExpr, *sqlparser.TimestampDiffExpr,
		*sqlparser.ExtractFuncExpr, *sqlparser.LocateExpr, *sqlparser.CurTimeFuncExpr:
		if bin, ok := e.(*sqlparser.BinaryExpr); ok && !arithmetic(bin.Operator) {
			return class{}
		}
		_, clock := e.(*sqlparser.CurTimeFuncExpr)
		return class{kind: numberClass, time: clock}
	case *sqlparser.UnaryExpr:
		if e.Operator == sqlparser.UMinusOp || e.Operator == sqlparser.BangOp || e.Operator == sqlparser.TildaOp {
			return class{kind: numberClass}
		}
		if e.Operator == sqlparser.UPlusOp {
			return b.class(blk, e.Expr)
		}
	case *sqlparser.Min:
		return b.class(blk, e.Arg)
	case *sqlparser.Max:
		return b.class(blk, e.Arg)
	case *sqlparser.CollateExpr:
		if c := b.class(blk, e.Expr); c.kind == stringClass {
			c.collation = strings.ToLower(e.Collation)
			return c
		}
	case *sqlparser.SubstrExpr:
		return b.stringOf(blk, e.Name)
	case *sqlparser.TrimFuncExpr:
		return b.stringOf(blk, e.StringArg, e.TrimArg)
	case *sqlparser.FuncExpr:
		name := e.Name.Lowered()
		switch {
		case function.GivesNumber(name):
			return class{kind: numberClass, time: function.GivesTime(name)}
		case name == "substring_index" && len(e.Exprs) > 1:
			return b.stringOf(blk, e.Exprs[0], e.Exprs[1])
		case function.KeepsString(name) && len(e.Exprs) > 0:
			return b.stringOf(blk, e.Exprs[0])
		case name == "coalesce" || name == "ifnull":
			return b.common(blk, e.Exprs)
		}
	case *sqlparser.CastExpr:
		return castClass(e.Type)
	case *sqlparser.ConvertExpr:
		return castClass(e.Type)
	}
	return class{}
}

func arithmetic(op sqlparser.BinaryExprOperator) bool {
	switch op {
	case sqlparser.BitAndOp, sqlparser.BitOrOp, sqlparser.BitXorOp, sqlparser.PlusOp, sqlparser.MinusOp, sqlparser.MultOp,
		sqlparser.DivOp, sqlparser.IntDivOp, sqlparser.ModOp, sqlparser.ShiftLeftOp, sqlparser.ShiftRightOp:
		return true
	}
	return false
}

// stringOf is the class of a function that returns a part or a variant of its string argument, not longer than that. The result has the
// collation that the argument and what is looked for in it have together: a literal is weaker than a column.
func (b *build) stringOf(blk *block, e sqlparser.Expr, lookedFor ...sqlparser.Expr) class {
	c := b.class(blk, e)
	if c.kind != stringClass || slices.ContainsFunc(lookedFor, func(x sqlparser.Expr) bool {
		if x == nil || constant(x) {
			return false
		}
		of := b.class(blk, x)
		return of.kind != stringClass || of.collation != c.collation
	}) {
		return class{}
	}
	return c
}

// common is the class of expressions that have all the same; constants beside strings take the column's collation, which
// has the stronger coercibility.
func (b *build) common(blk *block, list []sqlparser.Expr) (c class) {
	for _, e := range list {
		if _, ok := e.(*sqlparser.NullVal); ok {
			continue
		}
		n := b.class(blk, e)
		if n.kind == unknownClass || c.kind != unknownClass && (n.kind != c.kind || n.collation != c.collation || n.time != c.time) {
			return class{} // of a number and a time servers make a string
		}
		n.length = max(n.length, c.length)
		n.moment = n.moment && (c.moment || c.kind == unknownClass) // beside a DATETIME it becomes one
		c = n
	}
	if c.kind == memberClass {
		return class{}
	}
	return c
}

func castClass(t *sqlparser.ConvertType) class {
	switch strings.ToLower(t.Type) {
	case "date", "datetime", "time":
		return class{kind: numberClass, time: true}
	case "signed", "unsigned", "decimal", "double", "year", "signed integer", "unsigned integer":
		return class{kind: numberClass}
	case "binary":
		return class{kind: bytesClass}
	}
	return class{} // among them FLOAT, whose text does not tell all of it: CAST(x AS FLOAT) + 0e0 is not what a GROUP BY names
}

// constant reports whether e is a literal or a parameter: the same for every row.
func constant(e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.Literal, *sqlparser.Argument, *sqlparser.NullVal, sqlparser.BoolVal:
		return true
	case *sqlparser.UnaryExpr:
		return constant(e.Expr)
	case *sqlparser.IntroducerExpr:
		return constant(e.Expr)
	}
	return false
}

// volatile reports whether two evaluations of e may differ.
func (b *build) volatile(e sqlparser.Expr) bool {
	found := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.FuncExpr:
			found = found || function.Volatile(n.Name.Lowered())
		case *sqlparser.AssignmentExpr, *sqlparser.Subquery:
			found = true
		}
		return !found, nil
	}, e)
	return found
}
