package admin

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/txn"
	adminv1 "skarv/proto/admin/v1"
)

// A prepared transaction waits for seconds at most; where it waits for longer somebody has to look.
func TestTransactionsThatStayInDoubt(t *testing.T) {
	now := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	groups := []*adminv1.NodeGroup{{Id: 1, Name: "a"}, {Id: 2, Name: "b"}}
	doubt := []txn.Doubt{
		{ID: "2-x-1", Group: 1, Since: ago(time.Minute), Reason: "ask node group 2"},
		{ID: "2-x-2", Group: 1, Since: ago(20 * time.Second), Reason: "ask node group 2"},
		{ID: "1-x-3", Group: 2, Since: ago(5 * time.Second), Reason: "its proxy is given time"},
	}
	require.Equal(t, []string{
		"transactions are in doubt on node group a and hold locks on its rows, 2 of them, the first since 2026-01-01T02:59:00Z (ask node group 2): see skarvctl transactions",
	}, lingering(doubt, groups, now))
	require.Empty(t, lingering(doubt[2:], groups, now))
}

func TestProcessesThatDoNotAnswer(t *testing.T) {
	a := New(Config{Load: func(ctx context.Context, cluster bool) ([]float64, float64, []string, error) {
		_, limited := ctx.Deadline()
		require.True(t, limited && cluster)
		return nil, 0, []string{"10.0.0.2:9306"}, nil
	}})
	problems := a.unanswered(t.Context())
	require.Len(t, problems, 1)
	require.Contains(t, problems[0], "the process at 10.0.0.2:9306 does not answer")
}

func TestLostFor(t *testing.T) {
	g := &adminv1.NodeGroup{Name: "a", Partitions: 1920}
	require.Equal(t, "; if it is lost for good, its backup must be restored there", lostFor(g))
	g.Replicas = []*adminv1.Node{{Addr: "h2:1"}}
	require.Equal(t, "; if it is lost for good, a replica takes its place: skarvctl nodegroup switchover a --to h2:1 --lost", lostFor(g))
	g.Replicas = append(g.Replicas, &adminv1.Node{Addr: "h3:1"})
	require.Contains(t, lostFor(g), "--to h2:1 --lost, or --to h3:1")
}

func TestAutomaticFailoverIsShown(t *testing.T) {
	now := time.Now()
	g := &catalog.NodeGroup{ID: 1, Name: "a", Primary: catalog.Node{Addr: "h1:1"}, Replaced: []catalog.Node{{Addr: "h0:1"}}}
	seen := control.Failover{Primary: "h1:1", Armed: true, At: now, Back: []string{"h0:1", "gone:1"}}
	require.Nil(t, automaticFailover(g, seen, nil, now))
	g.AutomaticFailover = true
	shown := &adminv1.NodeGroup{Name: "a", AutomaticFailover: automaticFailover(g, seen, nil, now)}
	require.True(t, shown.AutomaticFailover.Armed)
	problems := failoverProblems(g, shown, seen)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0], "the server at h0:1 was the primary of node group a")
	for why, f := range map[string]*adminv1.AutomaticFailover{
		"no controller looks": automaticFailover(g, seen, nil, now.Add(time.Minute)),
		"looks at":            automaticFailover(g, control.Failover{Primary: "h1:1", Replicas: []string{"taken away:1"}, Armed: true, At: now}, nil, now),
		"it is not known":     automaticFailover(g, seen, errors.New("etcd"), now),
		"sync_binlog":         automaticFailover(g, control.Failover{Primary: "h1:1", Why: "sync_binlog", At: now}, nil, now),
	} {
		require.False(t, f.Armed)
		shown.AutomaticFailover = f
		require.Contains(t, failoverProblems(g, shown, control.Failover{})[0], why)
	}
}
