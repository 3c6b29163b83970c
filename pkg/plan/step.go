package plan

// step is a Node that works on the rows of another one.
type step interface {
	Node
	// input is the Node whose rows it works on.
	input() Node
	// withInput is a copy of the step that works on the rows of n.
	withInput(n Node) Node
}

// Input returns the step whose rows n merges, computes with, sorts or cuts off; nil if n is a step of another kind.
func Input(n Node) Node {
	if s, ok := n.(step); ok {
		return s.input()
	}
	return nil
}

// WithInput returns a copy of n, which has an Input, with another one.
func WithInput(n, input Node) Node { return n.(step).withInput(input) }

func (n *Merge) input() Node     { return n.Input }
func (n *Aggregate) input() Node { return n.Input }
func (n *Distinct) input() Node  { return n.Input }
func (n *Limit) input() Node     { return n.Input }
func (n *Project) input() Node   { return n.Input }
func (n *Sort) input() Node      { return n.Input }

func (n *Merge) withInput(in Node) Node {
	c := *n
	c.Input = in
	return &c
}

func (n *Aggregate) withInput(in Node) Node {
	c := *n
	c.Input = in
	return &c
}

func (n *Distinct) withInput(in Node) Node {
	c := *n
	c.Input = in
	return &c
}

func (n *Limit) withInput(in Node) Node {
	c := *n
	c.Input = in
	return &c
}

func (n *Project) withInput(in Node) Node {
	c := *n
	c.Input = in
	return &c
}

func (n *Sort) withInput(in Node) Node {
	c := *n
	c.Input = in
	return &c
}
