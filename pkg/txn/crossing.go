package txn

import "sync/atomic"

// crossings counts the process's commits over several node groups, each from before it can be seen on any of them until it
// is to be seen on all, or all that is left of it is branches which a server lists as prepared.
type crossings struct{ begun, ended atomic.Uint64 }

func (c *crossings) begin() { c.begun.Add(1) }
func (c *crossings) end()   { c.ended.Add(1) }

// Crossings returns how many commits over several node groups this process has begun, and whether all of them have ended.
// While the number stays the same, and no branch was prepared, none of its commits can be seen by half.
func (c *Coordinator) Crossings() (begun uint64, quiet bool) {
	ended := c.crossings.ended.Load() // first: it never overtakes the other
	begun = c.crossings.begun.Load()
	return begun, ended == begun
}
