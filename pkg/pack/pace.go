package pack

import (
	"time"

	"skarv/pkg/placement"
)

// pace is what packs have met at a node group: how long its server took from one answer to the next. What comes before the first one is no
// reason not to pack: a server that is busy with others, or somebody has closed the table.
type pace struct {
	slow int           // packs that were slow, less those that were not
	rest time.Duration // there are none before that time
}

const (
	slowAnswer = 300 * time.Microsecond // from one answer to the next
	slowPacks  = 8                      // so many of them, and there is a pause of
	packPause  = time.Second
)

// note takes in that a pack's answers came at intervals, on the average, and ended now.
func (p *pace) note(interval, now time.Duration) {
	if interval < slowAnswer {
		p.slow = max(p.slow-1, 0)
		return
	}
	if p.slow++; p.slow >= slowPacks {
		p.slow, p.rest = slowPacks-1, now+packPause // behind it one that is slow is enough
	}
}

func (ps *Packs) pace(g placement.NodeGroupID) *pace {
	if more := int(g) + 1 - len(ps.paces); more > 0 {
		ps.paces = append(ps.paces, make([]pace, more)...)
	}
	return &ps.paces[g]
}
