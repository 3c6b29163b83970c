package sqlparse

import (
	"fmt"

	"vitess.io/vitess/go/vt/sqlparser"
)

// Parser makes syntax trees. It is immutable and may be shared by all goroutines.
type Parser struct {
	p *sqlparser.Parser
}

// maxParse is the length of text, and maxParseDepth the depth of parentheses, above which no tree is made: trees
// are walked recursively, and a client must not be able to make a stack grow without limit.
const (
	maxParse      = 512 << 10
	maxParseDepth = 500
)

// NewParser returns a Parser. Text reaches it only through a Statement, which has dealt with what depends on the
// dialect: executable comments, sql_mode, names beyond ASCII.
func NewParser() (*Parser, error) {
	p, err := sqlparser.New(sqlparser.Options{MySQLServerVersion: "9.1.0"})
	if err != nil {
		return nil, err
	}
	return &Parser{p: p}, nil
}

// Parse returns the syntax tree of st. Arguments in it are named after their numbers (see ArgNumber).
//
// usedArgs tells that all arguments are sqlparser.Argument or ListArg nodes: the tree holds for the shape. Else only
// parameters and lists that contain some are, literals stand in the tree as written, and what is made from the tree
// holds only while every argument reads the same (a guard on each).
//
// Of VALUES rows the tree has one per distinct shape. The tree is the caller's own. An error is a *NoTree and means
// that the text has no faithful tree, not that it is wrong: the server may accept it.
//
// DDL, SET, SHOW and the like are parsed with their literals at once. A DDL tree is always complete
// (IsFullyParsed).
//
// The tree lacks what it cannot hold and what does not matter to where rows are: LOW_PRIORITY, DELAYED, HIGH_PRIORITY
// and QUICK of writing statements, and the OF of FOR UPDATE OF t. TABLE t is SELECT * FROM t in it, and MySQL's
// GROUP BY ROLLUP (a, b) is GROUP BY a, b WITH ROLLUP. LOAD DATA, OPTIMIZE, REPAIR and DO have trees without content.
func (p *Parser) Parse(st *Statement) (tree sqlparser.Statement, usedArgs bool, err error) {
	return p.parseStatement(st, false)
}

// ParseWithoutReturning is Parse of a writing statement with RETURNING (Uses has Returning) as if it had none: for
// finding out where the rows are. Arguments of RETURNING are not in the tree. Who runs the statement must mind that it
// has a result.
func (p *Parser) ParseWithoutReturning(st *Statement) (tree sqlparser.Statement, usedArgs bool, err error) {
	return p.parseStatement(st, true)
}

func (p *Parser) parseStatement(st *Statement, cut bool) (tree sqlparser.Statement, usedArgs bool, err error) {
	if err := st.noTree(); err != nil {
		return nil, false, err
	}
	end := st.end
	if cut {
		end, _ = st.ReturningAt()
	}
	literals := false
	for _, a := range st.args {
		literals = literals || a.class != ClassParam
	}
	byArgs := literals && st.kind.takesArguments()
	if byArgs {
		if tree, err = p.render(st, renderNormal, end, false); err == nil {
			return tree, true, nil
		}
	}
	if tree, err = p.render(st, renderRaw, end, false); err == nil {
		return tree, !literals, nil
	}
	if !st.scan.quotable || !st.kind.takesArguments() {
		return nil, false, err
	}
	if byArgs {
		if tree, err := p.render(st, renderNormal, end, true); err == nil {
			return tree, true, nil
		}
	}
	if tree, err := p.render(st, renderRaw, end, true); err == nil {
		return tree, !literals, nil
	}
	return nil, false, err
}

func (p *Parser) render(st *Statement, mode renderMode, end int, quote bool) (sqlparser.Statement, error) {
	text, _ := st.InsertText()
	st.scratch.text = st.renderTo(st.scratch.text[:0], mode, end, quote, text.Columns)
	tree, err := p.parse(st.scratch.text)
	if err == nil && !st.dialect.mariadb {
		withRollup(tree)
	}
	if err == nil && st.pipesConcatenate() {
		tree = withConcat(tree)
	}
	return tree, err
}

// pipesConcatenate reports whether || is in the text, and concatenates. The parser then gets ^ in its place, which binds nearly as tightly.
func (s *Statement) pipesConcatenate() bool { return s.uses&Pipes != 0 && s.mode&PipesAsConcat != 0 }

// withConcat makes every ^, which stands for a || that concatenates, a call of CONCAT().
func withConcat(tree sqlparser.Statement) sqlparser.Statement {
	return sqlparser.Rewrite(tree, nil, func(c *sqlparser.Cursor) bool {
		if e, ok := c.Node().(*sqlparser.BinaryExpr); ok && e.Operator == sqlparser.BitXorOp {
			c.Replace(&sqlparser.FuncExpr{Name: sqlparser.NewIdentifierCI("concat"), Exprs: []sqlparser.Expr{e.Left, e.Right}})
		}
		return true
	}).(sqlparser.Statement)
}

// withRollup makes GROUP BY ROLLUP (a, b), which to vitess is the call of a function, what it is to MySQL: GROUP BY a, b WITH ROLLUP.
func withRollup(tree sqlparser.Statement) {
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		if by, ok := node.(*sqlparser.GroupBy); ok && by != nil && len(by.Exprs) == 1 && !by.WithRollup {
			if f, ok := by.Exprs[0].(*sqlparser.FuncExpr); ok && f.Qualifier.IsEmpty() && f.Name.EqualString("rollup") && len(f.Exprs) > 0 {
				by.Exprs, by.WithRollup = f.Exprs, true
			}
		}
		return true, nil
	}, tree)
}

// ParseText parses the text of a view, which servers write for the default sql_mode. Its literals stand in the tree.
func (p *Parser) ParseText(d *Dialect, sql string) (sqlparser.Statement, error) {
	st := d.NewStatement()
	defer st.Done()
	if err := st.Scan([]byte(sql), 0); err != nil {
		return nil, err
	}
	if err := st.noTree(); err != nil {
		return nil, err
	}
	return p.parse([]byte(sql))
}

func (p *Parser) parse(text []byte) (tree sqlparser.Statement, err error) {
	// The parser is not ours and the text is a client's: a panic there must not end the process.
	defer func() {
		if r := recover(); r != nil {
			tree, err = nil, &NoTree{Reason: fmt.Sprintf("the parser failed: %v", r)}
		}
	}()
	if len(text) > maxParse {
		return nil, &NoTree{Reason: "the statement is too long to be analysed"}
	}
	tree, err = p.p.ParseStrictDDL(string(text))
	if err != nil {
		return nil, &NoTree{Reason: err.Error()}
	}
	switch t := tree.(type) {
	case sqlparser.DDLStatement:
		if !t.IsFullyParsed() {
			return nil, &NoTree{Reason: "part of the definition is not understood"}
		}
	case sqlparser.DBDDLStatement:
		if !t.IsFullyParsed() {
			return nil, &NoTree{Reason: "part of the definition is not understood"}
		}
	case *sqlparser.CommentOnly, nil:
		return nil, &NoTree{Reason: "the statement is empty"}
	case *sqlparser.Stream, *sqlparser.VStream, *sqlparser.VExplainStmt, *sqlparser.AlterVschema, *sqlparser.AlterMigration,
		*sqlparser.RevertMigration, *sqlparser.ShowMigrationLogs, *sqlparser.ShowThrottledApps, *sqlparser.ShowThrottlerStatus:
		return nil, &NoTree{Reason: "no SQL of the server's"}
	}
	return tree, nil
}

// noTree finds what the syntax tree would get wrong, or what must not be tried.
func (s *Statement) noTree() error {
	switch {
	case s.kind == Empty:
		return &NoTree{Reason: "the statement is empty"}
	case s.scan.maxDepth > maxParseDepth:
		return &NoTree{Reason: "parentheses are nested too deeply"}
	case s.uses&Foreign != 0:
		return &NoTree{Reason: "a character that is no SQL"}
	case s.uses&Not != 0 && s.mode&HighNotPrecedence != 0:
		return &NoTree{Reason: "NOT with HIGH_NOT_PRECEDENCE"}
	case s.uses&SpacedCall != 0:
		return &NoTree{Reason: "a space between a function name and its parenthesis"}
	case s.uses&Sequence != 0:
		return &NoTree{Reason: "a sequence"}
	}
	// What the tree would hold wrong.
	l := s.dialect.lexer(s.sql[:s.end], s.mode)
	if s.scan.maxDepth > 0 && losesLimit(l, s.kind == Insert || s.kind == Replace) {
		return &NoTree{Reason: "ORDER BY or LIMIT behind a query in parentheses that has a LIMIT"}
	}
	nthValue, next := false, false
	for k := l.next(); k != EOF && k != Invalid; k = l.next() {
		word := s.sql[l.start:l.pos]
		switch {
		case k == Op && word[0] == '^' && s.pipesConcatenate():
			return &NoTree{Reason: "^ beside || with PIPES_AS_CONCAT"}
		case k != Word:
			next = false
			continue
		case s.mode&Oracle != 0 && equalFold(word, "rownum"):
			return &NoTree{Reason: "ROWNUM"}
		case s.kind == Set && l.isWord(wCollate):
			return &NoTree{Reason: "SET NAMES with COLLATE"}
		case equalFold(word, "nth_value"):
			nthValue = true
		case nthValue && l.isWord(wFrom):
			if w := peekWord(l); equalFold(w, "last") || equalFold(w, "first") {
				return &NoTree{Reason: "NTH_VALUE with FROM FIRST or FROM LAST"}
			}
		case next && l.isWord(wValue, wValues):
			return &NoTree{Reason: "a sequence"} // vitess has its own kind of them
		}
		next = l.isWord(wNext)
	}
	return nil
}

// peekWord returns the text of the token after the last.
func peekWord(ahead lexer) []byte {
	ahead.next()
	return ahead.sql[ahead.start:ahead.pos]
}

// ReturningAt returns the offset of the RETURNING clause of a writing statement; ok is false, and the offset the end of the
// statement, if there is none.
func (s *Statement) ReturningAt() (at int, ok bool) {
	l := s.dialect.lexer(s.sql[:s.end], s.mode)
	depth := 0
	for k := l.next(); k != EOF && k != Invalid; k = l.next() {
		switch {
		case k == Op && s.sql[l.start] == '(':
			depth++
		case k == Op && s.sql[l.start] == ')':
			depth--
		case depth == 0 && l.isWord(wReturning) && s.dialect.mariadb: // reserved there
			return l.start, true
		}
	}
	return s.end, false
}

// takesArguments tells the kinds whose grammar has expressions where literals stand.
func (k Kind) takesArguments() bool {
	switch k {
	case Select, Insert, Replace, Update, Delete, Do, Call, Explain:
		return true
	}
	return false
}

// NoTree says why a statement has no syntax tree.
type NoTree struct {
	Reason string
}

func (e *NoTree) Error() string { return "no syntax tree: " + e.Reason }
