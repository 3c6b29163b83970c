// Package routine reads stored programs: functions, procedures, triggers and events. It takes the text of CREATE apart into
// head and body, the body into a tree of control structures with the SQL statements and expressions between them as ranges of
// the text, and tells what a body touches. What SQL statements mean it leaves to others; it runs nothing.
//
// A body of a form that it does not know is an error, so that whoever judges by the tree never misses a statement.
package routine

import (
	"strings"

	"skarv/pkg/sqlparse"
)

// Kind is the kind of a stored program, as SQL writes it in lower case.
type Kind string

// The kinds.
const (
	Function  Kind = "function"
	Procedure Kind = "procedure"
	Trigger   Kind = "trigger"
	Event     Kind = "event"
)

// Name is a name that may be qualified by its database; DB is empty if it is not.
type Name struct {
	DB, Name string
	sqlparse.Span
}

// Program is one stored program as written. It refers to the text it was read from.
type Program struct {
	Kind        Kind
	Name        Name
	OrReplace   bool
	IfNotExists bool
	// Definer is the clause DEFINER = account, with the space behind it; empty if there is none.
	Definer sqlparse.Span
	// DefinerName and DefinerHost are the account's, as they are written; both are empty if it is whoever creates the program.
	DefinerName, DefinerHost string
	// Invoker: it runs as whoever calls it (SQL SECURITY INVOKER).
	Invoker bool

	Params  []Param // of functions and procedures
	Returns string  // the type of a function's value, with what belongs to it

	Timing string // BEFORE or AFTER
	Event  string // INSERT, UPDATE or DELETE
	Table  Name   // of a trigger

	Schedule *Schedule // of an event

	Body Statement // nil for ALTER EVENT without a body
	// BodyAt is where the body begins in the text.
	BodyAt int

	st *sqlparse.Statement
}

// ParamMode tells which way a parameter's value goes.
type ParamMode uint8

// The modes.
const (
	In ParamMode = iota
	Out
	InOut
)

// Param is a parameter of a function or procedure.
type Param struct {
	Name string
	Mode ParamMode
	Type string
}

// Text returns a range of the program's text.
func (p *Program) Text(sp sqlparse.Span) string { return string(p.st.Text(sp)) }

// Scan returns the statement the program was read from.
func (p *Program) Scan() *sqlparse.Statement { return p.st }

// Statement is a statement of a body: *Block, *If, *Case, *Loop, *For, *Leave, *Return, *Set, *Cursor, *SQL.
type Statement interface{ statement() }

// Block is BEGIN ... END.
type Block struct {
	Label      string
	Variables  []Variable
	Conditions []Condition
	Cursors    []CursorDecl
	Handlers   []Handler
	Body       []Statement
}

// Variable is one DECLARE of variables: all of them have the type and the default.
type Variable struct {
	Names   []string
	Type    string
	Default *Expr // nil: NULL
}

// Condition is a named condition.
type Condition struct {
	Name string
	Is   ConditionValue
}

// ConditionValue is what a handler waits for. Exactly one of its fields is set.
type ConditionValue struct {
	Code  int    // error number
	State string // SQLSTATE
	Name  string // a named condition, as written
	Class string // SQLWARNING, NOT FOUND or SQLEXCEPTION
}

// CursorDecl is DECLARE name CURSOR FOR query. Params are MariaDB's: variables that OPEN assigns.
type CursorDecl struct {
	Name   string
	Params []Param
	Query  *SQL
}

// Handler is DECLARE ... HANDLER FOR ... statement.
type Handler struct {
	Exit       bool // else CONTINUE
	Conditions []ConditionValue
	Body       Statement
}

// Expr is an expression of the text.
type Expr struct{ sqlparse.Span }

// Arm is a condition, or a value of CASE, with its statements.
type Arm struct {
	When *Expr
	Body []Statement
}

// If is IF ... THEN ... ELSEIF ... ELSE ... END IF.
type If struct {
	Arms []Arm
	Else []Statement
}

// Case is the statement CASE. Operand is nil when the arms have conditions.
type Case struct {
	Operand *Expr
	Arms    []Arm
	Else    []Statement
	HasElse bool
}

// Loop is LOOP, WHILE and REPEAT.
type Loop struct {
	Label string
	While *Expr // looked at before each round
	Until *Expr // looked at behind each round
	Body  []Statement
}

// For is MariaDB's FOR variable IN [REVERSE] low .. high DO ... END FOR.
type For struct {
	Label     string
	Variable  string
	Reverse   bool
	Low, High *Expr
	Body      []Statement
}

// Leave is LEAVE label, or ITERATE label.
type Leave struct {
	Label   string
	Iterate bool
}

// Return is RETURN expr.
type Return struct{ Value *Expr }

// Set is SET with its assignments.
type Set struct {
	sqlparse.Span
	Assignments []Assignment
	// Whole: it is no list of assignments to variables (SET NAMES, SET TRANSACTION, ...).
	Whole bool
}

// Assignment is one target = value of a SET. Target is its text without spaces: x, NEW.x, @x, @@session.x, GLOBAL x.
type Assignment struct {
	Target string
	At     sqlparse.Span // the target's
	Value  *Expr
}

// Cursor is OPEN, FETCH or CLOSE of a cursor.
type Cursor struct {
	Verb string // OPEN, FETCH or CLOSE
	Name string
	Into []string
	Args []*Expr // of OPEN
}

// SQL is a statement for others to run.
type SQL struct {
	sqlparse.Span
	// Verb is its first word in upper case.
	Verb string
}

func (*Block) statement()  {}
func (*If) statement()     {}
func (*Case) statement()   {}
func (*Loop) statement()   {}
func (*For) statement()    {}
func (*Leave) statement()  {}
func (*Return) statement() {}
func (*Set) statement()    {}
func (*Cursor) statement() {}
func (*SQL) statement()    {}

// Walk calls f for s and for every statement inside of it, handlers' and cursors' included, until f returns an error.
func Walk(s Statement, f func(Statement) error) error {
	if s == nil {
		return nil
	}
	if err := f(s); err != nil {
		return err
	}
	list := func(body []Statement) error {
		for _, b := range body {
			if err := Walk(b, f); err != nil {
				return err
			}
		}
		return nil
	}
	switch t := s.(type) {
	case *Block:
		for _, c := range t.Cursors {
			if err := f(c.Query); err != nil {
				return err
			}
		}
		for _, h := range t.Handlers {
			if err := Walk(h.Body, f); err != nil {
				return err
			}
		}
		return list(t.Body)
	case *If:
		for _, a := range t.Arms {
			if err := list(a.Body); err != nil {
				return err
			}
		}
		return list(t.Else)
	case *Case:
		for _, a := range t.Arms {
			if err := list(a.Body); err != nil {
				return err
			}
		}
		return list(t.Else)
	case *Loop:
		return list(t.Body)
	case *For:
		return list(t.Body)
	}
	return nil
}

// Exprs returns the expressions that stand in s itself, not in statements inside of it.
func Exprs(s Statement) []*Expr {
	var out []*Expr
	add := func(e *Expr) {
		if e != nil {
			out = append(out, e)
		}
	}
	switch t := s.(type) {
	case *Block:
		for _, v := range t.Variables {
			add(v.Default)
		}
	case *If:
		for _, a := range t.Arms {
			add(a.When)
		}
	case *Case:
		add(t.Operand)
		for _, a := range t.Arms {
			add(a.When)
		}
	case *Loop:
		add(t.While)
		add(t.Until)
	case *For:
		add(t.Low)
		add(t.High)
	case *Return:
		add(t.Value)
	case *Cursor:
		out = append(out, t.Args...)
	case *Set:
		for _, a := range t.Assignments {
			add(a.Value)
		}
	}
	return out
}

// Same reports whether two names of variables, labels, cursors, conditions or routines are the same: case does not count.
func Same(a, b string) bool { return strings.EqualFold(a, b) }
