package account

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
)

func open(t *testing.T, timeout time.Duration) (Store, *etcdtest.Etcd) {
	e := etcdtest.Start(t)
	s, err := topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}, RequestTimeout: timeout})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return Store{Topology: s}, e
}

func (s Store) say(t *testing.T, ctx context.Context, sql string) error {
	st, err := parse(t, true, sql)
	require.NoError(t, err)
	_, _, err = s.Run(ctx, st, Session{Flavor: catalog.MariaDB, User: "root"})
	return err
}

// Of those who make one account at the same time one does; of those who change one, all do.
func TestAtTheSameTime(t *testing.T) {
	s, _ := open(t, time.Minute)
	const n = 40
	var g errgroup.Group
	made := make(chan error, n)
	for range n {
		g.Go(func() error { made <- s.say(t, t.Context(), "CREATE USER x IDENTIFIED BY 'y'"); return nil })
	}
	require.NoError(t, g.Wait())
	won := 0
	for range n {
		if err := <-made; err == nil {
			won++
		} else {
			require.True(t, sqlerr.HasCode(err, sqlerr.CannotUser), "%v", err)
		}
	}
	require.Equal(t, 1, won)

	for i := range n {
		g.Go(func() error { return s.say(t, t.Context(), fmt.Sprintf("GRANT SELECT ON d%d.* TO x", i)) })
	}
	require.NoError(t, g.Wait())
	a, _, err := s.Topology.Account(t.Context(), "x")
	require.NoError(t, err)
	require.Len(t, a.Grants, n)
}

// All of a statement is done or nothing, and without etcd nothing is.
func TestAllOrNothing(t *testing.T) {
	s, e := open(t, 2*time.Second)
	require.NoError(t, s.say(t, t.Context(), "CREATE USER a IDENTIFIED BY 'x', b IDENTIFIED BY 'y'"))
	require.NoError(t, s.say(t, t.Context(), "RENAME USER a TO c, b TO a"))
	names := func() (list []string) {
		for _, name := range []catalog.AccountName{"a", "b", "c"} {
			if a, _, err := s.Topology.Account(t.Context(), name); err == nil && a != nil {
				require.Equal(t, name, a.Name)
				list = append(list, name.String())
			}
		}
		return list
	}
	require.Equal(t, []string{"a", "c"}, names())
	err := s.say(t, t.Context(), "REVOKE INSERT ON d.* FROM a, c")
	require.True(t, sqlerr.HasCode(err, sqlerr.NoSuchGrant), "%v", err)

	e.Stop(t)
	err = s.say(t, t.Context(), "DROP USER a, c")
	require.ErrorIs(t, err, topology.ErrUnavailable)
	require.NotErrorIs(t, err, ErrOpen, "it is looked at first")
	e.Restart(t)
	require.Eventually(t, func() bool { return len(names()) == 2 }, time.Minute, time.Millisecond)
	require.NoError(t, s.say(t, t.Context(), "DROP USER a, c"))
	require.Empty(t, names())
}
