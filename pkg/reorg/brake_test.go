package reorg

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"skarv/pkg/placement"
)

// Movers go slowly while clients wait for one of their node groups, and while one of its replicas is behind, also if that does not answer
// how far.
func TestBrake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b brake
		mine, others := []placement.NodeGroupID{1, 2}, []placement.NodeGroupID{3}
		const lag = 5 * time.Second
		assert.Empty(t, b.reason(mine, lag))
		b.press(map[placement.NodeGroupID]string{2: "p1, p2"})
		assert.Equal(t, "statements of p1, p2 wait for node group 2, which is slow", b.reason(mine, lag))
		assert.Empty(t, b.reason(others, lag))
		b.press(nil)
		assert.Empty(t, b.reason(mine, lag))

		r := &replica{group: 1, name: "h:3306"}
		b.measuring(r)
		time.Sleep(lag)
		assert.Empty(t, b.reason(mine, lag))
		time.Sleep(2 * time.Second)
		assert.Equal(t, "replica h:3306 of node group 1 is 7s behind", b.reason(mine, lag))
		assert.Empty(t, b.reason(others, lag))
		b.measured(r, true)
		b.measuring(r)
		assert.Equal(t, "replica h:3306 of node group 1 is 7s behind", b.reason(mine, lag), "until it is known better")
		b.measured(r, true)
		assert.Empty(t, b.reason(mine, lag))
		b.measuring(r)
		time.Sleep(time.Minute)
		b.measured(r, false)
		assert.Empty(t, b.reason(mine, lag), "one that does not answer holds up nobody")
		b.measuring(r)
		time.Sleep(time.Minute)
		assert.NotEmpty(t, b.reason(mine, lag))
		b.forget(r)
		assert.Empty(t, b.reason(mine, lag), "nor one that is no replica any more")
	})
}
