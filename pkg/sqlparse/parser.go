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
func (p *Parser) Parse(st *Statement) (tree sqlparser.Statement, usedArgs bool, err error) {
	if err := st.noTree(); err != nil {
		return nil, false, err
	}
	if st.kind.takesArguments() && len(st.args) > 0 {
		if tree, err := p.parse(st.Normalized()); err == nil {
			return tree, true, nil
		}
	}
	st.scratch.text = st.render(st.scratch.text[:0], renderRaw)
	tree, err = p.parse(st.scratch.text)
	if err != nil {
		return nil, false, err
	}
	usedArgs = true
	for _, a := range st.args {
		if a.class != ClassParam {
			usedArgs = false
		}
	}
	return tree, usedArgs, nil
}

// ParseText parses SQL of our own making, written for MySQL's default sql_mode.
func (p *Parser) ParseText(sql string) (sqlparser.Statement, error) {
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
	case *sqlparser.CommentOnly:
		return nil, &NoTree{Reason: "the statement is empty"}
	case nil:
		return nil, &NoTree{Reason: "the statement is empty"}
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
	case s.uses&Pipes != 0 && s.mode&PipesAsConcat != 0:
		return &NoTree{Reason: "|| with PIPES_AS_CONCAT"}
	case s.uses&Not != 0 && s.mode&HighNotPrecedence != 0:
		return &NoTree{Reason: "NOT with HIGH_NOT_PRECEDENCE"}
	case s.uses&SpacedCall != 0:
		return &NoTree{Reason: "a space between a function name and its parenthesis"}
	}
	return nil
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
