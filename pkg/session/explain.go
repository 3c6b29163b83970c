package session

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"skarv/pkg/exec"
	"skarv/pkg/plan"
	"skarv/pkg/rowset"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
)

const explainColumn = "EXPLAIN"

// explain answers EXPLAIN with the plan and where it runs: as a tree, a line a row, or as JSON in one row. With ANALYZE the
// statement has run, its rows were dropped, and what each node group did is shown. Both end with what servers tell of the fragments.
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
	if err := s.askServers(p.Inner, x, text); err != nil {
		return err
	}
	if s.mayBegin() && usesTables(p.Inner) {
		s.begin(startTransaction, nil) // without a snapshot: a server has read no rows
	}
	t := rowset.New(explainColumn)
	if slices.Contains(formats, "json") {
		t.Add(string(p.ExplainJSON(x)))
		return s.send(t)
	}
	for line := range strings.Lines(p.Explain(x)) {
		t.Add(strings.TrimRight(line, "\n"))
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
			x.Servers = []plan.ServerPlan{{Fragment: p.Relay.ID, Group: g}}
			return x, nil
		}
	}
	if n, ok := p.Root.(*plan.Choice); ok {
		x.Ways = s.ways(n)
	}
	root := x.Root(p)
	settled := plan.Settled(root)
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
		if entry == "" && slices.Contains(settled, f) {
			x.Servers = append(x.Servers, plan.ServerPlan{Fragment: f.ID, Group: groups[0], Text: s.runner.Text(f, &s.args, groups)})
		}
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
	var slowest []exec.FragmentTrace // of each fragment
	for _, f := range trace.Fragments {
		x.Fragments = append(x.Fragments, plan.FragmentRun{Fragment: f.Fragment, Group: f.Group, Rows: f.Rows, Bytes: f.Bytes, First: f.First, Took: f.Took})
		switch i := slices.IndexFunc(slowest, func(have exec.FragmentTrace) bool { return have.Fragment == f.Fragment }); {
		case i < 0:
			slowest = append(slowest, f)
		case slowest[i].Took < f.Took:
			slowest[i] = f
		}
	}
	if x.Relay == 0 {
		x.Servers = nil
		for _, f := range slowest {
			x.Servers = append(x.Servers, plan.ServerPlan{Fragment: f.Fragment, Group: f.Group, Text: string(f.Text)})
		}
	}
	for _, stage := range trace.Stages {
		x.Stages = append(x.Stages, plan.StageRun(stage))
	}
	return x, nil
}

// maxPlanRows bounds the rows of a server's EXPLAIN: it has one for each table that a statement names.
const maxPlanRows = 1000

// askServers has servers explain the fragments of p that x names; text is the statement as it is written. A server that refuses has nothing to tell: a
// fragment that reads copies cannot be explained when they are gone.
func (s *Session) askServers(p *plan.Plan, x *plan.Execution, text []byte) error {
	explain := "EXPLAIN "
	if !s.cfg.Dialect.MariaDB() {
		explain += "FORMAT=TRADITIONAL "
	}
	copied := map[int]string{} // what fragments call plan.CopyRow
	for _, f := range plan.Fragments(x.Root(p)) {
		if len(f.Tables) == 1 {
			copied[f.ID] = f.Tables[0].Name
		}
	}
	for i := range x.Servers {
		server := &x.Servers[i]
		c, err := s.preparing(server.Group)
		if err != nil {
			return err
		}
		s.prepares(c)
		columns, rows, err := c.QueryAll(explain+cmp.Or(server.Text, string(text)), maxPlanRows)
		s.done(c, err)
		if err != nil && !c.Usable() {
			return txn.Lost(c, err)
		}
		for _, row := range rows {
			var values []plan.ServerValue
			for j, v := range row {
				value := string(v)
				if value == plan.CopyRow {
					value = cmp.Or(copied[server.Fragment], value)
				}
				if v != nil {
					values = append(values, plan.ServerValue{Column: columns[j].Name, Value: value})
				}
			}
			server.Rows = append(server.Rows, values)
		}
	}
	x.Servers = slices.DeleteFunc(x.Servers, func(server plan.ServerPlan) bool { return server.Rows == nil })
	return nil
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
