package isolation

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/test/history"
)

const (
	writers = 8
	hot     = 12 // lists that they work on
)

// random runs transactions over a few lists and returns their history, and the lists in the end.
func random(t *testing.T, p *place, level string, settings []string, long time.Duration, seed uint64) ([]history.Txn, map[int][]int) {
	var keys []int
	for len(keys) < hot {
		x, y := p.lists(t, true)
		keys = append(keys, x, y)
	}
	slices.Sort(keys)
	admin := dial(t, p)
	for _, k := range keys {
		require.NoError(t, admin.exec(fmt.Sprintf("INSERT INTO lists VALUES (%d, %d, '')", k, keys[0])))
	}
	var last atomic.Int64
	var mu sync.Mutex
	var all []history.Txn
	var work sync.WaitGroup
	settings = append([]string{"SET SESSION TRANSACTION ISOLATION LEVEL " + level, "SET innodb_lock_wait_timeout = 2"}, settings...)
	clients := make([]client, writers)
	for n := range clients {
		clients[n] = dial(t, p, settings...)
	}
	until := time.Now().Add(long)
	for n, c := range clients {
		rnd := rand.New(rand.NewPCG(seed, uint64(n)))
		work.Go(func() {
			for first := true; first || time.Now().Before(until); first = false {
				h := c.transaction(rnd, keys, &last)
				mu.Lock()
				all = append(all, h)
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return all, final(t, p, keys...)
}

// transaction runs one random transaction: most touch their lists in ascending order, so that not all of them end in deadlocks.
func (c client) transaction(rnd *rand.Rand, keys []int, last *atomic.Int64) (h history.Txn) {
	some := func(n int) (list []int) {
		for range n {
			list = append(list, keys[rnd.IntN(len(keys))])
		}
		return list
	}
	if rnd.IntN(5) == 0 { // one query
		ask := some(2 + rnd.IntN(3))
		slices.Sort(ask)
		ask = slices.Compact(ask)
		ops, err := c.read(inKeys(ask), ask...)
		if err != nil {
			return history.Txn{Outcome: history.Aborted}
		}
		for i := range ops {
			ops[i].Statement = 1
		}
		return history.Txn{Ops: ops, Outcome: history.Committed}
	}
	h.Outcome = history.Aborted
	if c.exec("BEGIN") != nil {
		return h
	}
	touch := some(1 + rnd.IntN(4))
	if rnd.IntN(4) > 0 {
		slices.Sort(touch)
	}
	reads := rnd.IntN(3) == 0 // only
	for n, k := range touch {
		var ops []history.Op
		var err error
		switch {
		case reads || rnd.IntN(2) == 0:
			ask := []int{k}
			if rnd.IntN(3) == 0 {
				ask = append(ask, some(1)...)
				slices.Sort(ask)
				ask = slices.Compact(ask)
			}
			ops, err = c.read(inKeys(ask), ask...)
			for i := range ops {
				ops[i].Statement = n + 1
			}
		default:
			v := int(last.Add(1))
			ops, err = []history.Op{{Key: k, Append: v}}, c.append(k, v)
		}
		h.Ops = append(h.Ops, ops...)
		if err != nil {
			_ = c.exec("ROLLBACK")
			return h
		}
	}
	if rnd.IntN(15) == 0 {
		_ = c.exec("ROLLBACK")
		return h
	}
	h.Outcome = outcome(c.exec("COMMIT"))
	return h
}

// shown are the anomalies that one server shows at a level by some schedule.
func shown(t *testing.T, one *place, level string) (kinds []history.Kind) {
	s := &stage{place: one, level: level}
	for _, list := range [][]scenario{scenarios[:], commits[:], more[:]} {
		for i := range list {
			kinds = append(kinds, history.Kinds(s.play(t, &list[i]))...)
		}
	}
	return kinds
}

// more are schedules that show what else a server does.
var more = [...]scenario{
	{name: "a list changes between read and append", steps: "1 r x, 2 w x, 2 c, 1 w x, 1 r x, 1 c"},
	{name: "two readers disagree", steps: "3 r x, 4 r y, 1 w x, 1 c, 2 w y, 2 c, 3 r y, 4 r x, 3 c, 4 c"},
	{name: "one query in a transaction after another", steps: "1 r x, 2 w x, 2 w y, 2 c, 1 w y, 1 r p, 1 c"},
}

// TestRandomTransactions looks for anomalies among random transactions that one server does not show at the same isolation
// level, by schedule or at random. Without skarv_read_atomicity a query or transaction over several node groups may see half
// of another one's commit, as docs/isolation.md says.
func TestRandomTransactions(t *testing.T) {
	long := 600 * time.Millisecond
	if text := os.Getenv("SKARV_HISTORY_SECONDS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		long = time.Duration(n) * time.Second
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	one, many := onServer(t), onCluster(t)
	for _, level := range levels[1:] {
		allowed := shown(t, one, level)
		txns, lists := random(t, one, level, nil, long, seed)
		on := history.Kinds(history.Check(txns, lists))
		t.Logf("%s, one server: %d transactions, %v", level, len(txns), on)
		allowed = append(allowed, on...)
		half := []history.Kind{history.FracturedRead, history.FracturedAnswer, history.GSingle, history.G2}
		for _, setting := range []string{"off", "gate", "validated", "lock"} {
			if (setting == "gate" || setting == "validated") && level != "REPEATABLE READ" {
				continue // they are for that level
			}
			txns, lists := random(t, many, level, []string{"SET skarv_read_atomicity = '" + setting + "'"}, long, seed)
			found := history.Check(txns, lists)
			t.Logf("%s, %s: %d transactions, %v", level, setting, len(txns), history.Kinds(found))
			require.GreaterOrEqual(t, len(txns), writers)
			for _, f := range found {
				switch {
				case slices.Contains(allowed, f.Kind):
				case setting == "off" && slices.Contains(half, f.Kind):
				default:
					t.Errorf("%s, %s: %s", level, setting, f)
					for _, n := range f.Txns {
						t.Logf("  %d: %+v", n, txns[n])
					}
				}
			}
			if setting == "lock" {
				require.Empty(t, found, "transactions that lock what they read are serializable")
			}
		}
	}
}
