package session

import (
	"slices"
	"strings"
	"time"

	"skarv/pkg/exec"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
)

const explainColumn = "EXPLAIN"

// explain answers EXPLAIN with the plan and where it runs: as a tree, a line a row, or as JSON in one row. With ANALYZE the
// statement has run, its rows were dropped, and what each node group did is shown.
func (s *Session) explain(p *plan.Plan) error {
	if inner := s.alone(p.Inner); inner != p.Inner {
		replaced := *p
		replaced.Inner, p = inner, &replaced
	}
	text := s.args.AppendSpan(nil, sqlparse.Span{Start: s.explained(), End: len(s.stmt.SQL())})
	if err := s.faultOf(p.Inner, text); err != nil {
		return err
	}
	formats := strings.Fields(string(p.Topic))
	analyze := slices.Contains(formats, string(plan.ExplainAnalyze))
	var x *plan.Execution
	var err error
	if analyze {
		x, err = s.analyze(p.Inner, text)
	} else {
		x, err = s.targets(p.Inner)
	}
	if err != nil {
		return err
	}
	if s.mayBegin() && usesTables(p.Inner) {
		s.begin(startTransaction, nil) // without a snapshot: a server has read no rows
	}
	t := newTable(explainColumn)
	if slices.Contains(formats, "json") {
		t.add(string(p.ExplainJSON(x)))
		return s.send(t)
	}
	for line := range strings.Lines(p.Explain(x)) {
		t.add(strings.TrimRight(line, "\n"))
	}
	return s.send(t)
}

// targets finds where the fragments of p would go now.
func (s *Session) targets(p *plan.Plan) (*plan.Execution, error) {
	x := &plan.Execution{}
	router := &s.runner.Router
	defer router.Touched.Forget()
	if p.Relay != nil {
		g, one, err := router.Relay(p.Relay, s.snap, &s.args)
		if err != nil {
			return nil, err
		}
		if one {
			x.Relay = g
			return x, nil
		}
	}
	root := p.Root
	if n, ok := root.(*plan.Choice); ok {
		x.Ways = s.ways(n)
		root = x.Ways[0].Node
	}
	if n, ok := root.(*plan.ChangeRows); ok {
		root = n.Read
	}
	for _, f := range plan.Fragments(root) {
		if f.Same {
			continue
		}
		target, entry := &f.Target, ""
		if i := target.Index; target.Kind == plan.ByIndex { // the entry tells, when the statement runs
			target, entry = &plan.Target{Kind: plan.ByKey, Table: i.Entries, Key: target.Key}, i.Table.Name+"."+i.Name
		}
		groups, exact, err := router.Route(target, s.snap, &s.args, nil)
		if err != nil {
			return nil, err
		}
		if !exact || len(groups) > 1 { // no entry is read then, and all of them are asked
			entry = ""
		}
		x.Targets = append(x.Targets, plan.FragmentTarget{Fragment: f.ID, Groups: groups, Entry: entry})
	}
	return x, nil
}

// faultOf returns what a server finds wrong with the statement behind EXPLAIN, whose plan says nothing of tables and columns that do
// not exist: those are found when it runs.
func (s *Session) faultOf(p *plan.Plan, text []byte) error {
	if !s.describable(p) {
		return nil
	}
	c, err := s.preparing(s.groupOf(p))
	if err != nil {
		return err
	}
	s.prepares(c)
	st, err := c.Prepare(text)
	if err == nil {
		c.CloseStmt(st.ID)
	}
	s.done(c, err)
	if err != nil && (!c.Usable() || !sqlerr.HasCode(err, sqlerr.NotPreparable)) {
		return txn.Lost(c, err)
	}
	return nil
}

// analyze runs the statement behind EXPLAIN ANALYZE.
func (s *Session) analyze(p *plan.Plan, text []byte) (*plan.Execution, error) {
	if p.Kind != plan.Select {
		return nil, sqlerr.Unsupported("EXPLAIN ANALYZE of a statement that is no query", "use EXPLAIN, which does not run it")
	}
	x, err := s.targets(p)
	if err != nil {
		return nil, err
	}
	trace := &exec.Trace{}
	s.traced = trace
	defer func() { s.traced = nil }()
	start := time.Now()
	if err := s.within(text, &capture{}); err != nil {
		return nil, err
	}
	x.Ran, x.Took, x.Rows = true, time.Since(start), s.used.summary.Rows
	for _, f := range trace.Fragments {
		x.Fragments = append(x.Fragments, plan.FragmentRun(f))
	}
	for _, stage := range trace.Stages {
		x.Stages = append(x.Stages, plan.StageRun(stage))
	}
	return x, nil
}

// explained is where the statement behind EXPLAIN begins in the text.
func (s *Session) explained() int {
	toks := s.stmt.Tokens()
	for {
		t := toks.Next()
		if t.Kind == sqlparse.EOF {
			return t.Start
		}
		if t.Kind == sqlparse.Op && s.stmt.Is(t, "(") {
			return t.Start
		}
		for _, w := range [...]string{"SELECT", "WITH", "TABLE", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE"} {
			if t.Kind == sqlparse.Word && s.stmt.Is(t, w) {
				return t.Start
			}
		}
	}
}
