package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/socket"
	"skarv/test/cluster"
)

var packedMetric = regexp.MustCompile(`skarv_statement_strategy_total\{strategy="packed"\} (\S+)`)

// packed is how many statements of c went to a server together with others.
func packed(t testing.TB, c *cluster.Cluster) float64 {
	t.Helper()
	_, text := c.Get(t, "/metrics")
	found := packedMetric.FindStringSubmatch(text)
	require.NotNil(t, found)
	n, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return n
}

// needsLoops skips a test of packs where sessions are on no Loop, so that there are none.
func needsLoops(t *testing.T) {
	l, err := socket.NewLoop()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system lets processes have no io_uring, without which there are no packs: ", err)
	}
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, l.Run(ctx)) // closes it
}

// untilPacked lets clients, each with its number, work at the same time until some of their statements were packed and each has worked often enough.
func untilPacked(t *testing.T, clients int, work func(client, turn int) error) {
	t.Helper()
	const least = 50
	before, deadline := packed(t, shared), time.Now().Add(time.Minute)
	var some sync.Once
	enough := make(chan struct{})
	var g errgroup.Group
	for i := range clients {
		g.Go(func() error {
			for turn := 0; ; turn++ {
				if turn >= least {
					select {
					case <-enough:
						return nil
					default:
					}
				}
				if err := work(i, turn); err != nil {
					some.Do(func() { close(enough) })
					return err
				}
			}
		})
	}
	for packed(t, shared) == before && time.Now().Before(deadline) {
		select {
		case <-enough:
		case <-time.After(10 * time.Millisecond): // the metric tells nobody when it changes
		}
	}
	some.Do(func() { close(enough) })
	require.NoError(t, g.Wait())
	require.Greater(t, packed(t, shared), before)
}

// Whoever asks at the same time as others gets what he asked for.
func TestPackedStatementsAreAnsweredToWhoAsked(t *testing.T) {
	needsLoops(t)
	const clients = 32
	for name, params := range map[string]string{"text": "interpolateParams=true", "prepared": "interpolateParams=false"} {
		t.Run(name, func(t *testing.T) {
			conns := make([]*sql.Conn, clients)
			prepared := make([]*sql.Stmt, clients)
			for i := range conns {
				conns[i] = connect(t, params).Conn
				if name == "prepared" {
					st, err := conns[i].PrepareContext(t.Context(), "SELECT id, v FROM t WHERE id = ?")
					require.NoError(t, err)
					prepared[i] = st
				}
			}
			untilPacked(t, clients, func(client, turn int) error {
				want := rand.IntN(120) + 1 // some are not there
				var row *sql.Row
				if st := prepared[client]; st != nil {
					row = st.QueryRowContext(t.Context(), want)
				} else {
					row = conns[client].QueryRowContext(t.Context(), "SELECT id, v FROM t WHERE id = ?", want)
				}
				var id int
				var v string
				err := row.Scan(&id, &v)
				switch {
				case want > 100 && errors.Is(err, sql.ErrNoRows):
					return nil
				case err != nil:
					return err
				case id != want || v != fmt.Sprintf("v%d", want):
					return fmt.Errorf("asked for %d, got %d, %s", want, id, v)
				}
				return nil
			})
		})
	}
}

// Sessions of different settings share nothing, and what is behind a statement is the session's own.
func TestPackedStatementsKeepTheirSessions(t *testing.T) {
	needsLoops(t)
	admin := connect(t)
	admin.exec("CREATE TABLE accents (id INT PRIMARY KEY, v VARCHAR(20) CHARACTER SET utf8mb4)")
	t.Cleanup(func() { admin.exec("DROP TABLE accents") })
	for id := 1; id <= 20; id++ {
		admin.exec("INSERT INTO accents VALUES (?, 'é')", id)
	}
	const clients = 24
	conns := make([]*client, clients)
	for i := range conns {
		conns[i] = connect(t, "interpolateParams=true")
		if i%2 == 0 {
			conns[i].exec("SET NAMES latin1")
		}
	}
	untilPacked(t, clients, func(i, turn int) error {
		got, err := conns[i].try("SELECT v FROM accents WHERE id = ?", turn%20+1)
		want := "é"
		if i%2 == 0 {
			want = "\xe9"
		}
		if err == nil && got != want {
			err = fmt.Errorf("%q in place of %q", got, want)
		}
		if err != nil || turn%10 != 0 {
			return err
		}
		if got, err = conns[i].try("SELECT FOUND_ROWS(), ROW_COUNT()"); err == nil && got != "1,-1" {
			err = fmt.Errorf("behind a SELECT of one row: %s", got)
		}
		return err
	})
}

// What a server warns of is told to who asked for it.
func TestPackedStatementsThatWarn(t *testing.T) {
	needsLoops(t)
	const clients = 16
	conns := make([]*client, clients)
	for i := range conns {
		conns[i] = connect(t, "interpolateParams=true")
	}
	warn := func(i, turn int) error { // a string beside a number
		got, err := conns[i].try("SELECT v FROM t WHERE id = ? AND v = 0", i+1)
		if err == nil && got != fmt.Sprintf("v%d", i+1) {
			err = fmt.Errorf("%q of %d in turn %d", got, i, turn)
		}
		if err != nil {
			return err
		}
		if got, err = conns[i].try("SHOW WARNINGS"); err == nil && !regexp.MustCompile(fmt.Sprintf("^Warning,1292,Truncated incorrect [A-Z]+ value: 'v%d'$", i+1)).MatchString(got) {
			err = fmt.Errorf("%q", got)
		}
		return err
	}
	var g errgroup.Group
	for i := range clients {
		g.Go(func() error {
			for turn := range 100 {
				if err := warn(i, turn); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
}

// rival is a client whose statement waits, by itself, and what has become of it.
type rival struct {
	*client
	id   int // of its connection
	want string
	got  chan error
}

// blocked lets clients ask for rows of a table of one node group that is locked there, so that all of them wait, some of them in packs.
func blocked(t *testing.T, clients int) (rivals []*rival, unlock func()) {
	t.Helper()
	group := groupOf(t, 1)
	var ids []int
	for id := 1; id <= 100; id++ {
		if groupOf(t, id) == group {
			ids = append(ids, id)
		}
	}
	server := shared.NodeGroupDB(t, group, "d")
	lock, err := server.Conn(t.Context())
	require.NoError(t, err)
	for i := range clients {
		r := &rival{client: connect(t, "interpolateParams=true"), got: make(chan error, 1)}
		require.NoError(t, r.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&r.id))
		rivals = append(rivals, r)
		id := ids[i%len(ids)]
		r.want = fmt.Sprintf("v%d", id)
	}
	waiting := func() (n int) {
		require.NoError(t, server.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'").Scan(&n))
		return n
	}
	for try := 0; ; try++ {
		require.Less(t, try, 20, "no two clients ever waited in one pack")
		locked := make(chan struct{})
		var g sync.WaitGroup
		for i, r := range rivals {
			g.Add(1)
			go func() {
				once := sync.OnceFunc(g.Done)
				defer once()
				for held := false; !held; {
					got, err := r.try("SELECT v FROM t WHERE id = ?", ids[i%len(ids)])
					select {
					case <-locked:
						held = true // it may be one that waited
						if err == nil && got != r.want {
							err = fmt.Errorf("%q in place of %q", got, r.want)
						}
						r.got <- err
					default:
						if err != nil || got != r.want {
							r.got <- fmt.Errorf("%q, %w", got, err)
							return
						}
					}
				}
			}()
		}
		_, err = lock.ExecContext(t.Context(), "LOCK TABLES t WRITE")
		require.NoError(t, err)
		close(locked)
		// All of them wait when no further one ends and no further one begins to.
		before, same := -1, 0
		for ; same < 10; time.Sleep(20 * time.Millisecond) { // servers tell nobody that somebody waits
			if n := waiting(); n == before {
				same++
			} else {
				before, same = n, 0
			}
		}
		ended := 0
		for _, r := range rivals {
			ended += len(r.got)
		}
		if before > 0 && before < clients-ended {
			return rivals, func() {
				_, err := lock.ExecContext(context.Background(), "UNLOCK TABLES")
				require.NoError(t, err)
				lock.Close()
			}
		}
		_, err = lock.ExecContext(t.Context(), "UNLOCK TABLES")
		require.NoError(t, err)
		g.Wait()
		for _, r := range rivals {
			require.NoError(t, <-r.got)
		}
	}
}

// A KILL is for one of those whose statements wait in a pack, and a client that goes away leaves the others.
func TestKillInAPack(t *testing.T) {
	needsLoops(t)
	rivals, unlock := blocked(t, 24)
	admin := connect(t)
	code := func(err error) int {
		if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
			return int(e.Number)
		}
		return 0
	}
	killed := map[int]bool{}
	for i, r := range rivals {
		require.Eventually(t, func() bool {
			return len(r.got) > 0 || admin.get(fmt.Sprintf("SELECT COMMAND FROM information_schema.processlist WHERE ID = %d", r.id)) == "Query"
		}, patience, tick)
		if len(r.got) > 0 {
			continue // it was answered before the lock
		}
		switch i % 4 {
		case 0:
			var got error
			require.Eventually(t, func() bool {
				admin.exec(fmt.Sprintf("KILL QUERY %d", r.id)) // again, if it came between two statements
				select {
				case got = <-r.got:
					return true
				default:
					return false
				}
			}, patience, tick)
			require.Equal(t, 1317, code(got))
			killed[i] = true
		case 1:
			admin.exec(fmt.Sprintf("KILL %d", r.id))
			require.Error(t, <-r.got)
			killed[i] = true
		}
	}
	require.Greater(t, len(killed), 2)
	unlock()
	for i, r := range rivals {
		switch {
		case !killed[i]:
			require.NoError(t, <-r.got)
			require.Equal(t, r.want, r.get("SELECT v FROM t WHERE id = "+r.want[1:]))
		case i%4 == 0:
			require.Equal(t, r.want, r.get("SELECT v FROM t WHERE id = "+r.want[1:]), "the session goes on")
		}
	}
}

// Of a server that dies nobody gets anything but his own row, or an error.
func TestServerOfAPackDies(t *testing.T) {
	needsLoops(t)
	c := small(t)
	db := c.DB(t, "", "interpolateParams=true")
	db.SetMaxOpenConns(32)
	db.SetMaxIdleConns(32)
	for _, stmt := range []string{"CREATE DATABASE packs", "CREATE TABLE packs.t (id INT PRIMARY KEY, v VARCHAR(20))"} {
		_, err := db.Exec(stmt)
		require.NoError(t, err, stmt)
	}
	for id := 1; id <= 100; id++ {
		_, err := db.Exec("INSERT INTO packs.t VALUES (?, ?)", id, fmt.Sprintf("v%d", id))
		require.NoError(t, err)
	}
	before := packed(t, c)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	failed := make(chan error, 1)
	var g errgroup.Group
	for range 32 {
		g.Go(func() error {
			for ctx.Err() == nil {
				id := rand.IntN(100) + 1
				var v string
				switch err := db.QueryRow("SELECT v FROM packs.t WHERE id = ?", id).Scan(&v); {
				case errors.Is(err, sql.ErrNoRows):
					return fmt.Errorf("row %d is gone", id)
				case err != nil:
					select {
					case failed <- err:
					default:
					}
				case v != fmt.Sprintf("v%d", id):
					return fmt.Errorf("%s in place of row %d", v, id)
				}
			}
			return nil
		})
	}
	require.Eventually(t, func() bool { return packed(t, c) > before }, time.Minute, 20*time.Millisecond)
	c.Kill(t, 1)
	require.Error(t, <-failed)
	c.Restart(t, 1)
	require.Eventually(t, func() bool {
		for id := 1; id <= 100; id++ {
			var v string
			if err := db.QueryRow("SELECT v FROM packs.t WHERE id = ?", id).Scan(&v); err != nil {
				return false
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond)
	stop()
	require.NoError(t, g.Wait())
}

// Whoever is not meant by a KILL does not notice it, neither in the same pack nor on the connection afterwards.
func TestKillOfAPackMeetsNobodyElse(t *testing.T) {
	needsLoops(t)
	const victims, innocents, strangers, kills = 12, 8, 16, 300
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var g errgroup.Group
	loop := func(n int, query string, mayEnd bool) (ids []int) {
		for range n {
			c := connect(t, "interpolateParams=true")
			var id int
			require.NoError(t, c.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id))
			ids = append(ids, id)
			g.Go(func() error {
				for ctx.Err() == nil {
					row := rand.IntN(100) + 1
					got, err := c.try(query, row)
					e, told := errors.AsType[*mysql.MySQLError](err)
					switch {
					case told && e.Number == 1317 && mayEnd:
					case err != nil:
						stop()
						return fmt.Errorf("%s: %w", query, err)
					case got != fmt.Sprintf("v%d", row) && got != fmt.Sprintf("v%d,0", row):
						stop()
						return fmt.Errorf("%q of row %d", got, row)
					}
				}
				return nil
			})
		}
		return ids
	}
	before := packed(t, shared)
	ids := loop(victims, "SELECT v FROM t WHERE id = ?", true)
	loop(innocents, "SELECT v FROM t WHERE id = ?", false)
	loop(strangers, "SELECT v, SLEEP(0.003) FROM t WHERE id = ?", false)
	killer := connect(t)
	for range kills {
		if ctx.Err() != nil {
			break
		}
		killer.exec(fmt.Sprintf("KILL QUERY %d", ids[rand.IntN(victims)]))
	}
	stop()
	require.NoError(t, g.Wait())
	require.Greater(t, packed(t, shared), before)
}
