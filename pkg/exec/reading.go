package exec

import (
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
)

// Reading is a plan that changes and locks nothing and has begun to run: Run in three steps, so that a session can have several
// that run at a time.
//
//	Start ──► Read ──► End
//
// Start and End use what belongs to the session (Conns, Arguments, Trace): its own goroutine calls them. Read uses
// nothing but the connections that Start has acquired and sent to: any goroutine may call it, once, and End follows when it has
// returned.
type Reading struct {
	runner Runner
	root   plan.Node
}

// Start finds the node groups of p and asks them; r itself is free. After an error there is no Reading, and all connections have
// been released.
func (r *Runner) Start(x Execution, p *plan.Plan, snap *catalog.Snapshot, a *Arguments) (*Reading, error) {
	reading := &Reading{root: p.Root, runner: Runner{Execution: x, Router: Router{Home: r.Router.Home}, of: r.whole(), open: a}}
	part := &reading.runner
	if snap.Map != nil && snap.Map.AnyForeign() {
		part.hidden = snap
	}
	f, err := part.find(p, snap, a)
	if err != nil {
		return nil, err
	}
	text := func(dst []byte, g placement.NodeGroupID) []byte {
		return part.appendFragment(dst, f, a, g, part.groups)
	}
	if err = part.acquire(false); err == nil {
		err = part.send(part.streams, part.timestamp(p), text)
	}
	if err != nil {
		part.finish(err)
		return nil, err
	}
	return reading, nil
}

// Read gives the rows to sink, on the goroutine that calls it, and returns as Run does.
func (x *Reading) Read(sink Sink) (Summary, error) { return x.runner.readAnswers(x.root, nil, sink) }

// Interrupt makes Read fail. It is for connections that hold no transaction: they are lost.
func (x *Reading) Interrupt() {
	for i := range x.runner.streams {
		x.runner.streams[i].conn.Interrupt()
	}
}

// End releases the connections. err is what Read returned, or why it was not called.
func (x *Reading) End(err error) { x.runner.finish(err) }
