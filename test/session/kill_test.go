package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
)

// A KILL that comes when its statement is about to end meets nobody who gets the connection next.
func TestKillMeetsNobodyElse(t *testing.T) {
	a, b := idsApart(t)
	for name, statements := range map[string][]string{
		"query over copies": {"SELECT COUNT(*) FROM t x JOIN t y ON x.v = y.v"},
		"write over copies": {"UPDATE t SET v = v WHERE id IN (SELECT id FROM (SELECT DISTINCT y.id FROM t x JOIN t y ON x.v = y.v WHERE x.id < 3) d)"},
		"user-level lock":   {"SELECT GET_LOCK('mine', 0)", "SELECT RELEASE_LOCK('mine')"},
		"commit":            {"BEGIN", fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", a), "COMMIT"},
		"commit of a writer beside a reader": {
			"BEGIN", fmt.Sprintf("SELECT v FROM t WHERE id = %d", a), fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", b), "COMMIT",
		},
	} {
		t.Run(name, func(t *testing.T) { killed(t, statements) })
	}
}

// killed has clients run statements, whose last one is killed again and again, beside others that must not notice.
func killed(t *testing.T, statements []string) {
	const victims, strangers, kills = 3, 6, 200
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var g errgroup.Group
	var ids [victims]string
	var last [victims]chan struct{} // has a token when the last statement is about to be sent
	for i := range victims {
		c := connect(t)
		ids[i], last[i] = c.get("SELECT CONNECTION_ID()"), make(chan struct{}, 1)
		g.Go(func() error {
			for ctx.Err() == nil {
				for n, q := range statements {
					if n == len(statements)-1 {
						select {
						case last[i] <- struct{}{}:
						default:
						}
					}
					_, err := c.try(q)
					if e, told := errors.AsType[*mysql.MySQLError](err); err != nil && !(told && (e.Number == 1317 || e.Number == 1213 || e.Number == 1205)) {
						stop()
						return fmt.Errorf("%s: %w", q, err)
					}
				}
			}
			return nil
		})
	}
	for i := range strangers {
		c := connect(t)
		g.Go(func() error {
			for ctx.Err() == nil {
				// SLEEP that was interrupted is 1, or an error.
				got, err := c.try("SELECT SLEEP(0.004) FROM t WHERE id = ?", rand.IntN(100)+1)
				if err != nil || got != "0" {
					stop()
					return fmt.Errorf("stranger %d: %q, %w", i, got, err)
				}
			}
			return nil
		})
	}
	killer := connect(t)
	for range kills {
		v := rand.IntN(victims)
		select {
		case <-last[v]:
			killer.exec("KILL QUERY " + ids[v])
		case <-ctx.Done():
		}
	}
	stop()
	require.NoError(t, g.Wait())
}

// A commit that a server keeps waiting, as one whose disk is full does, is ended by KILL, also beside node groups that have only been read.
func TestKillEndsACommitThatWaits(t *testing.T) {
	a, b := idsApart(t)
	server, err := shared.NodeGroupDB(t, groupOf(t, b), "").Conn(t.Context())
	require.NoError(t, err)
	defer server.Close()
	hold := func(q string) {
		t.Helper()
		_, err := server.ExecContext(t.Context(), q)
		require.NoError(t, err, q)
	}
	for name, statements := range map[string][]string{
		"a writer beside a reader": {fmt.Sprintf("SELECT v FROM t WHERE id = %d", a), fmt.Sprintf("UPDATE t SET v = 'waits' WHERE id = %d", b)},
		"best effort":              {fmt.Sprintf("UPDATE t SET v = 'waits' WHERE id = %d", b), fmt.Sprintf("UPDATE t SET v = 'waits' WHERE id = %d", a)},
	} {
		t.Run(name, func(t *testing.T) {
			c, killer := connect(t), connect(t)
			defer func() {
				c.end()
				connect(t).exec(fmt.Sprintf("UPDATE t SET v = CONCAT('v', id) WHERE id IN (%d, %d)", a, b))
			}()
			id := c.get("SELECT CONNECTION_ID()")
			c.exec("SET skarv_commit = best_effort")
			c.exec("BEGIN")
			for _, q := range statements {
				c.get(q)
			}
			hold("FLUSH TABLES WITH READ LOCK")
			defer hold("UNLOCK TABLES")
			done := make(chan error, 1)
			go func() {
				_, err := c.ExecContext(context.Background(), "COMMIT")
				done <- err
			}()
			require.Eventually(t, func() bool {
				return killer.get("SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND info = 'COMMIT'", id) == "1"
			}, patience, tick)
			deadline := time.After(20 * time.Second) // the servers themselves give up after 50 s
			for {
				killer.exec("KILL QUERY " + id) // it may come before the servers have the COMMIT
				select {
				case err := <-done:
					require.Error(t, err)
					return
				case <-deadline:
					t.Fatal("the COMMIT goes on")
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
}

// A client whose connection is killed while it waits for nothing is told nothing, as by one server: its next statement meets a connection
// that is gone, about which clients know what to do.
func TestKillOfAnIdleConnection(t *testing.T) {
	a, b := rawClient(t), connect(t)
	a.exec("DO 1")
	b.exec(fmt.Sprintf("KILL %d", a.ThreadID()))
	_, err := a.Exec("DO 1")
	require.True(t, mysqlconn.IsLost(err), "%v", err)
	require.False(t, sqlerr.HasCode(err, sqlerr.QueryInterrupted, sqlerr.NetPacketOutOfOrder), "%v", err)
}
