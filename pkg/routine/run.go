package routine

import (
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/sqlerr"
)

// Host computes the expressions and runs the statements of a procedure. Expressions and statements are given as the program
// has them, with the names of variables.
type Host interface {
	// Scope is called before all others: hidden reports whether a name is that of a variable of a block or loop that is not open where
	// the run is, so that it is none of a variable there.
	Scope(hidden func(name string) bool)
	// Assign makes the value of an expression that of a variable, converted to its type.
	Assign(variable, expr string) error
	// Test tells whether an expression is true.
	Test(expr string) (bool, error)
	// Value computes an expression once; what it returns is the value as SQL, or the expression if that is the same whenever it is computed.
	Value(expr string) (string, error)
	// Run runs a statement; its results go to the client.
	Run(text string) error
	// Set runs a SET with one assignment to something else than a variable.
	Set(text string) error
	// Into runs a SELECT and assigns its row; that there is none is a warning.
	Into(text string, targets []string) error
	// Query reads the rows of a cursor's query.
	Query(text string) (Rows, error)
	// Diagnose runs a GET DIAGNOSTICS.
	Diagnose(text string) error
	// Warnings are the conditions of the last statement that succeeded, errors left out.
	Warnings() []Warning
	// Beyond reports whether no handler sees an error.
	Beyond(err error) bool
	// Resignal runs the SIGNAL that a RESIGNAL has become: what it leaves is what the handler was called for, from now on.
	Resignal(signal string) error
	// Handle is called before a handler for e runs, and Handled behind it; keep: what its last statement has told is told on.
	Handle(e *sqlerr.Error, level Level)
	Handled(keep bool)
	// Step is called before each statement. An error ends the procedure.
	Step() error
}

// Rows is what a cursor goes through.
type Rows interface {
	// Width is the number of columns.
	Width() int
	// Next assigns the next row; found is false behind the last.
	Next(targets []string) (found bool, err error)
}

// Variables lists the variables of all blocks, parameters left out. A name that is declared twice, or that is a parameter's, is
// refused (1235).
func (p *Program) Variables() ([]Param, error) {
	seen := map[string]bool{}
	var out []Param
	for _, param := range p.Params {
		seen[strings.ToLower(param.Name)] = true
	}
	add := func(v Param) error {
		if seen[strings.ToLower(v.Name)] {
			return sqlerr.Unsupported("the variable "+v.Name+", which hides another of its name", "give it another name")
		}
		seen[strings.ToLower(v.Name)] = true
		out = append(out, v)
		return nil
	}
	loops := map[string]bool{} // one after the other may have the same variable
	err := Walk(p.Body, func(s Statement) error {
		switch s := s.(type) {
		case *Block:
			for _, v := range s.Variables {
				for _, name := range v.Names {
					if err := add(Param{Name: name, Type: v.Type}); err != nil {
						return err
					}
				}
			}
			for _, c := range s.Cursors {
				for _, v := range c.Params {
					if err := add(v); err != nil {
						return err
					}
				}
			}
		case *For:
			if loops[strings.ToLower(s.Variable)] {
				return nil
			}
			loops[strings.ToLower(s.Variable)] = true
			if err := add(Param{Name: s.Variable, Type: "BIGINT"}); err != nil {
				return err
			}
			return add(Param{Name: boundOf(s.Variable), Type: "BIGINT"})
		}
		return nil
	})
	return out, err
}

// Run runs a procedure whose parameters host has been given. The error is what no handler took.
func (p *Program) Run(host Host) error {
	r := &runner{p: p, host: host}
	host.Scope(r.hidden)
	_, err := r.statement(p.Body)
	return err
}

// runner is one run of a procedure.
type runner struct {
	p      *Program
	host   Host
	scopes []*scope // of open blocks and loops, outermost first
	// opening has the variables that are declared so far of a block whose handlers are not there yet, or the parameters of a cursor that
	// is being opened.
	opening *scope
	// handled is the condition that the handler at hand was called for.
	handled *sqlerr.Error
	warned  bool // it is a warning
	again   bool // the last statement was a RESIGNAL of it
}

// scope is an open block, or a FOR loop, which has variables only.
type scope struct {
	block    *Block
	declared []string
	cursors  map[string]Rows // open ones, in lower case
	muted    bool            // one of its handlers runs: they take no further conditions
}

// flow is where a run goes on, if not at the next statement.
type flow struct {
	kind  flowKind
	label string // leave, iterate
	scope *scope // exit
}

type flowKind uint8

const (
	next flowKind = iota
	leave
	iterate
	exit // out of the block of scope
	done // RETURN
)

func (r *runner) list(body []Statement) (flow, error) {
	for _, s := range body {
		if f, err := r.statement(s); err != nil || f.kind != next {
			return f, err
		}
	}
	return flow{}, nil
}

func (r *runner) text(e *Expr) string { return r.p.Text(e.Span) }

func (r *runner) statement(s Statement) (flow, error) {
	if err := r.host.Step(); err != nil {
		return flow{}, err
	}
	switch s := s.(type) {
	case *Block:
		return r.block(s)
	case *If:
		for _, a := range s.Arms {
			yes, f, err := r.test(a.When)
			if err != nil || f != nil {
				return stop(f), err
			}
			if yes {
				return r.list(a.Body)
			}
		}
		return r.list(s.Else)
	case *Case:
		return r.caseOf(s)
	case *Loop:
		return r.loop(s)
	case *For:
		return r.forLoop(s)
	case *Leave:
		if s.Iterate {
			return flow{kind: iterate, label: s.Label}, nil
		}
		return flow{kind: leave, label: s.Label}, nil
	case *Return:
		return flow{kind: done}, nil
	case *Set:
		return r.set(s)
	}
	f, err := r.leaf(func() error { return r.simple(s) })
	return stop(f), err
}

// handledElsewhere is the flow of a statement whose error a CONTINUE handler took: on with the next statement.
func handledElsewhere() *flow { return &flow{} }

func stop(f *flow) flow {
	if f == nil {
		return flow{}
	}
	return *f
}

// test computes a condition. f is not nil when that failed and a handler took it.
func (r *runner) test(e *Expr) (yes bool, f *flow, err error) { return r.testText(r.text(e)) }

func (r *runner) testText(text string) (yes bool, f *flow, err error) {
	f, err = r.leaf(func() (err error) {
		yes, err = r.host.Test(text)
		return err
	})
	return yes, f, err
}

// leaf does something that may raise conditions, and gives them to handlers. f is not nil when one was called.
func (r *runner) leaf(do func() error) (f *flow, err error) {
	r.again = false
	err = do()
	if err != nil {
		return r.raise(err)
	}
	for _, w := range slices.Backward(r.host.Warnings()) { // of several that have handlers servers take the last one
		if at, h := r.handler(w.Error, w.Level); h != nil {
			return r.call(at, h, w.Error, w.Level)
		}
	}
	return nil, nil
}

// raise looks for the handler of an error; it returns the error if there is none.
func (r *runner) raise(err error) (*flow, error) {
	e, ok := err.(*sqlerr.Error)
	if !ok {
		e = nil
		if wrapped := sqlerr.From(err); wrapped != nil && wrapped.Code != sqlerr.Internal {
			e = wrapped
		}
	}
	if e == nil || !catchable(e) || r.host.Beyond(err) {
		return nil, err
	}
	at, h := r.handler(e, AsError)
	if h == nil {
		return nil, err
	}
	return r.call(at, h, e, AsError)
}

// catchable reports whether handlers see an error: not those that one server would not have raised.
func catchable(e *sqlerr.Error) bool {
	switch e.Code {
	case sqlerr.NotSupportedYet, sqlerr.ServerLost, sqlerr.QueryInterrupted, sqlerr.Internal:
		return false
	}
	return true
}

// call runs the handler of the block at place at. Errors inside of it are for the handlers of blocks around that one.
func (r *runner) call(at int, h *Handler, e *sqlerr.Error, level Level) (*flow, error) {
	scopes, handled, warned := r.scopes, r.handled, r.warned
	r.scopes, r.handled, r.warned, r.opening = scopes[:at+1:at+1], e, level != AsError, nil
	was := scopes[at].muted
	scopes[at].muted = true
	r.host.Handle(e, level)
	f, err := r.statement(h.Body)
	r.host.Handled(r.again && err == nil)
	r.again = false
	r.scopes, r.handled, r.warned, scopes[at].muted = scopes, handled, warned, was
	switch {
	case err != nil:
		return nil, err
	case f.kind != next:
		return &f, nil
	case h.Exit:
		return &flow{kind: exit, scope: scopes[at]}, nil
	}
	return handledElsewhere(), nil
}

// handler finds the handler for a condition: of the innermost block that has one, the most specific. A warning may have the SQLSTATE
// of an error.
func (r *runner) handler(e *sqlerr.Error, level Level) (at int, h *Handler) {
	for at = len(r.scopes) - 1; at >= 0; at-- {
		if r.scopes[at].muted {
			continue
		}
		best := 0
		b := r.scopes[at].block
		for i := range b.Handlers {
			for _, v := range b.Handlers[i].Conditions {
				if n := r.matches(v, at, e, level); n > best {
					best, h = n, &b.Handlers[i]
				}
			}
		}
		if h != nil {
			return at, h
		}
	}
	return 0, nil
}

// Level is how a condition was raised.
type Level int

const (
	AsError Level = iota
	AsWarning
	AsNote // of no class: only handlers for its number or its SQLSTATE see it
)

// Warning is a warning, or a note, with which a statement ended.
type Warning struct {
	Error *sqlerr.Error
	Level Level
}

// matches tells how specific a handler's condition is for e; 0: not for it.
func (r *runner) matches(v ConditionValue, at int, e *sqlerr.Error, level Level) int {
	const byClass, byState, byCode = 1, 2, 3
	if v.Name != "" {
		named, ok := r.named(v.Name, at)
		if !ok {
			return 0
		}
		v = named
	}
	class := ""
	if len(e.State) >= 2 {
		class = e.State[:2]
	}
	switch {
	case v.Code != 0 && v.Code == int(e.Code):
		return byCode
	case v.State != "" && v.State == e.State:
		return byState
	case v.Class == "SQLWARNING" && (level == AsWarning || class == "01"),
		v.Class == "NOT FOUND" && class == "02",
		v.Class == "SQLEXCEPTION" && level == AsError && class != "00" && class != "01" && class != "02":
		return byClass
	}
	return 0
}

// hidden is that of Host.Scope.
func (r *runner) hidden(name string) bool {
	same := func(n string) bool { return Same(n, name) }
	open := func(sc *scope) bool { return slices.ContainsFunc(sc.declared, same) }
	if slices.ContainsFunc(r.p.Params, func(p Param) bool { return same(p.Name) }) || slices.ContainsFunc(r.scopes, open) {
		return false
	}
	return (r.opening == nil || !open(r.opening)) && r.p.declares(name)
}

// named finds a named condition as the block at place at sees it.
func (r *runner) named(name string, at int) (ConditionValue, bool) {
	for ; at >= 0; at-- {
		for _, c := range r.scopes[at].block.Conditions {
			if Same(c.Name, name) {
				return c.Is, true
			}
		}
	}
	return ConditionValue{}, false
}

func (r *runner) block(b *Block) (flow, error) {
	sc := &scope{block: b, cursors: map[string]Rows{}}
	for _, v := range b.Variables { // before the block's handlers are there
		if f, err := r.declare(sc, v); err != nil || f.kind != next {
			r.opening = nil
			return f, err
		}
	}
	r.opening = nil
	r.scopes = append(r.scopes, sc)
	f, err := r.list(b.Body)
	r.scopes = r.scopes[:len(r.scopes)-1]
	if f.kind == exit && f.scope == sc || f.kind == leave && b.Label != "" && Same(f.label, b.Label) {
		f = flow{}
	}
	return f, err
}

// declare assigns the variables of a DECLARE what they begin with. MariaDB looks for handlers once, MySQL for each of them.
func (r *runner) declare(sc *scope, v Variable) (flow, error) {
	value := "NULL"
	if v.Default != nil {
		value = r.text(v.Default)
	}
	together := 1
	if r.p.st.Dialect().MariaDB() {
		together = len(v.Names)
	}
	for names := range slices.Chunk(v.Names, together) {
		r.opening = sc // a handler may have been called in between
		f, err := r.leaf(func() error {
			for _, name := range names {
				if err := r.host.Assign(name, value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || f != nil && f.kind != next {
			return stop(f), err
		}
	}
	sc.declared = append(sc.declared, v.Names...)
	return flow{}, nil
}

func (r *runner) caseOf(c *Case) (flow, error) {
	var operand string
	if c.Operand != nil {
		f, err := r.leaf(func() (err error) {
			operand, err = r.host.Value(r.text(c.Operand))
			return err
		})
		if err != nil || f != nil {
			return stop(f), err
		}
	}
	for _, a := range c.Arms {
		text := r.text(a.When)
		if c.Operand != nil {
			text = "(" + operand + ") = (" + text + ")"
		}
		var yes bool
		f, err := r.leaf(func() (err error) {
			yes, err = r.host.Test(text)
			return err
		})
		if err != nil || f != nil {
			return stop(f), err
		}
		if yes {
			return r.list(a.Body)
		}
	}
	if c.HasElse {
		return r.list(c.Else)
	}
	f, err := r.leaf(func() error {
		return sqlerr.CaseNotFound.New()
	})
	return stop(f), err
}

func (r *runner) loop(l *Loop) (flow, error) {
	for {
		if l.While != nil {
			yes, f, err := r.test(l.While)
			if err != nil || f != nil {
				return stop(f), err
			}
			if !yes {
				return flow{}, nil
			}
		}
		f, err := r.list(l.Body)
		if err != nil {
			return f, err
		}
		switch mine := l.Label != "" && Same(f.label, l.Label); {
		case f.kind == leave && mine:
			return flow{}, nil
		case f.kind == iterate && mine, f.kind == next:
		default:
			return f, nil
		}
		if f.kind == next && l.Until != nil {
			yes, f, err := r.test(l.Until)
			if err != nil || f != nil {
				return stop(f), err
			}
			if yes {
				return flow{}, nil
			}
		}
		if err := r.host.Step(); err != nil {
			return flow{}, err
		}
	}
}

// simple runs a statement without others inside of it.
func (r *runner) simple(s Statement) error {
	switch s := s.(type) {
	case *Cursor:
		return r.cursor(s)
	case *SQL:
		return r.sql(s)
	}
	return sqlerr.Internal.New(fmt.Sprintf("a statement of type %T in a stored program", s))
}

// set runs a SET, each of whose assignments is a statement of its own to handlers.
func (r *runner) set(s *Set) (flow, error) {
	if s.Whole {
		f, err := r.leaf(func() error { return r.host.Set(r.p.Text(s.Span)) })
		return stop(f), err
	}
	for _, a := range s.Assignments {
		f, err := r.leaf(func() error {
			if r.p.declares(a.Target) {
				return r.host.Assign(a.Target, r.text(a.Value))
			}
			return r.host.Set("SET " + r.p.Text(a.At) + " = " + r.text(a.Value))
		})
		if err != nil || f != nil && f.kind != next {
			return stop(f), err
		}
	}
	return flow{}, nil
}

// declares reports whether a name is that of a parameter or variable.
func (p *Program) declares(name string) bool {
	for _, param := range p.Params {
		if Same(param.Name, name) {
			return true
		}
	}
	list, _ := p.Variables()
	return slices.ContainsFunc(list, func(v Param) bool { return Same(v.Name, name) })
}

func (r *runner) sql(s *SQL) error {
	text := r.p.Text(s.Span)
	switch s.Verb {
	case "SIGNAL":
		return r.host.Run(r.signal(text))
	case "RESIGNAL":
		if r.handled == nil {
			return sqlerr.ResignalWithoutHandler.New()
		}
		if !r.warned && strings.EqualFold(strings.TrimSpace(text), "RESIGNAL") {
			return r.handled
		}
		signal, err := r.resignal(text)
		if err != nil {
			return err
		}
		r.again = r.warned
		return r.host.Resignal(signal)
	case "GET":
		return r.host.Diagnose(text)
	case "SELECT", "WITH":
		st := r.p.st.Dialect().NewStatement()
		if err := st.Scan([]byte(text), r.p.st.Mode()); err != nil {
			return err
		}
		names, into, ok := Into(st)
		if !ok {
			return r.host.Run(text)
		}
		return r.host.Into(text[:into.Start]+" "+text[into.End:], names)
	}
	return r.host.Run(text)
}

// noData is the condition of a FETCH without a row.
func noData() *sqlerr.Error {
	return sqlerr.NoMoreRows.New()
}

func (r *runner) cursor(c *Cursor) error {
	name := strings.ToLower(c.Name)
	for at := len(r.scopes) - 1; at >= 0; at-- {
		sc := r.scopes[at]
		for _, decl := range sc.block.Cursors {
			if !Same(decl.Name, c.Name) {
				continue
			}
			rows := sc.cursors[name]
			switch {
			case c.Verb == "OPEN" && rows != nil:
				return sqlerr.CursorAlreadyOpen.New()
			case c.Verb == "OPEN" && len(c.Args) != len(decl.Params):
				return sqlerr.WrongCursorArguments.New(c.Name)
			case c.Verb == "OPEN":
				for i, param := range decl.Params {
					if err := r.host.Assign(param.Name, r.text(c.Args[i])); err != nil {
						return err
					}
				}
				r.opening = &scope{}
				for _, param := range decl.Params {
					r.opening.declared = append(r.opening.declared, param.Name)
				}
				rows, err := r.host.Query(r.p.Text(decl.Query.Span))
				r.opening = nil
				if err == nil {
					sc.cursors[name] = rows
				}
				return err
			case rows == nil:
				return sqlerr.CursorNotOpen.New()
			case c.Verb == "CLOSE":
				delete(sc.cursors, name)
				return nil
			case rows.Width() != len(c.Into):
				return sqlerr.WrongFetchCount.New()
			}
			found, err := rows.Next(c.Into)
			if err == nil && !found {
				err = noData()
			}
			return err
		}
	}
	return sqlerr.UndefinedCursor.New(c.Name)
}
