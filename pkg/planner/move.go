package planner

import (
	"slices"

	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// mover makes the plan of a statement one for a statement that it is a part of: its arguments have other numbers there.
type mover struct {
	args []int               // their numbers there
	st   *sqlparse.Statement // the part
}

// node returns a copy of n; ok is false for what cannot be a part.
func (m *mover) node(n plan.Node) (moved plan.Node, ok bool) {
	switch n := n.(type) {
	case *plan.Fragment:
		if n.Write || n.Target.Kind != plan.AllGroups && n.Target.Kind != plan.ByKey {
			return nil, false
		}
		f := *n
		f.Target.Key = slices.Clone(n.Target.Key)
		for i := range f.Target.Key {
			f.Target.Key[i] = m.operand(f.Target.Key[i])
		}
		if f.Text == nil {
			e := &editor{st: m.st}
			e.span(0, len(m.st.SQL()))
			f.Text = e.done()
		}
		f.Text = m.text(f.Text)
		return &f, true
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

func (m *mover) operand(o plan.Operand) plan.Operand {
	if o.Arg >= 0 {
		o.Arg = m.args[o.Arg]
	}
	return o
}

func (m *mover) text(t plan.Text) plan.Text {
	t = slices.Clone(t)
	for i := range t {
		if t[i].Arg >= 0 {
			t[i].Arg = m.args[t[i].Arg]
		}
		if t[i].Plus != nil {
			plus := m.operand(*t[i].Plus)
			t[i].Plus = &plus
		}
	}
	return t
}
