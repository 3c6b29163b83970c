package planner

import (
	"slices"

	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// mover makes the plan of a statement one for a statement that it is a part of, or that it is another text of: its arguments have other
// numbers there.
type mover struct {
	args []int               // their numbers there; -1 for those that have none, which do not change
	st   *sqlparse.Statement // the part
	// whole: it is no part.
	whole bool
	// failed: an argument that has no number there is used in a way that only arguments can be.
	failed bool
}

// node returns a copy of n; ok is false for what cannot be a part.
func (m *mover) node(n plan.Node) (moved plan.Node, ok bool) {
	switch n := n.(type) {
	case *plan.Fragment:
		if n.Write || n.Target.Kind != plan.AllGroups && n.Target.Kind != plan.ByKey {
			return nil, false
		}
		f := *n
		f.Target = m.target(n.Target)
		switch {
		case f.Text == nil && m.whole:
			f.Text = m.renamed(nil)
		case f.Text == nil:
			e := &editor{st: m.st}
			e.span(0, len(m.st.SQL()))
			f.Text = e.done()
		}
		f.Text = m.text(f.Text)
		return &f, !m.failed
	case *plan.Limit:
		c := *n
		c.Count = m.operand(n.Count)
		if n.Offset != nil {
			offset := m.operand(*n.Offset)
			c.Offset = &offset
		}
		return m.step(&c)
	}
	return m.step(n)
}

// step is node of what has no arguments of its own.
func (m *mover) step(n plan.Node) (moved plan.Node, ok bool) {
	input := plan.Input(n)
	if input == nil {
		return nil, false
	}
	if input, ok = m.node(input); !ok {
		return nil, false
	}
	return plan.WithInput(n, input), true
}

func (m *mover) target(t plan.Target) plan.Target {
	t.Key = slices.Clone(t.Key)
	for i := range t.Key {
		t.Key[i] = m.operand(t.Key[i])
	}
	return t
}

func (m *mover) operand(o plan.Operand) plan.Operand {
	if o.Arg < 0 {
		return o
	}
	if arg := m.args[o.Arg]; arg >= 0 {
		o.Arg = arg
		return o
	}
	value, ok := m.st.Value(o.Arg, nil)
	m.failed = m.failed || !ok
	value.Raw = slices.Clone(value.Raw)
	return plan.Operand{Arg: plan.NoArg, Const: value}
}

func (m *mover) text(t plan.Text) plan.Text {
	t = slices.Clone(t)
	for i := range t {
		if t[i].Plus != nil {
			plus := m.operand(*t[i].Plus)
			t[i].Plus = &plus
		}
		if t[i].Arg < 0 {
			continue
		}
		if arg := m.args[t[i].Arg]; arg >= 0 {
			t[i].Arg = arg
			continue
		}
		m.failed = m.failed || t[i].Part || t[i].Plus != nil
		t[i] = plan.Piece{SQL: t[i].SQL + string(m.st.ArgText(t[i].Arg)), Arg: plan.NoArg}
	}
	return t
}
