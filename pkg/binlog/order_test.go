package binlog_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
)

// TestOrderOfCommits looks at what a server shows when a commit is answered (of a row that is a mark) of what its log has before that. Users of the log
// count on it that plain commits are shown, and that a branch whose commit is not is still listed. MySQL shows all; MariaDB shows the commits of branches late.
func TestOrderOfCommits(t *testing.T) {
	s := start(t)
	for _, test := range []struct {
		kind  string
		steps []string // of client <i>, for the <n>th time
	}{
		{"plain", []string{"UPDATE <db>.t SET v = <n> WHERE id = <i>"}},
		{"onephase", []string{"XA START 'w<i>','<n>'", "UPDATE <db>.t SET v = <n> WHERE id = <i>", "XA END 'w<i>','<n>'", "XA COMMIT 'w<i>','<n>' ONE PHASE"}},
		{"branches", []string{"XA START 'w<i>','<n>'", "UPDATE <db>.t SET v = <n> WHERE id = <i>", "XA END 'w<i>','<n>'", "XA PREPARE 'w<i>','<n>'", "XA COMMIT 'w<i>','<n>'"}},
	} {
		t.Run(test.kind, func(t *testing.T) {
			looks, late, unlisted := s.orderOf(t, "order_"+test.kind, test.steps)
			t.Logf("%d marks, %d times a row was older than the log had it, %d of them by a branch that was not listed", looks, late, unlisted)
			require.Positive(t, looks)
			require.Zero(t, unlisted)
			if s.flavor == catalog.MySQL || test.kind != "branches" {
				require.Zero(t, late)
			}
		})
	}
}

// look is what was seen behind a mark: the values of the rows, and before them the branches that were listed.
type look struct {
	values map[string]int
	listed map[string]bool
}

// orderOf has clients change a row each, by steps, while others write marks and read, and compares that with the log.
func (s *server) orderOf(t *testing.T, db string, steps []string) (looks, late, unlisted int) {
	const clients, readers = 12, 3
	const lasting = 2 * time.Second
	s.exec(t, fmt.Sprintf("CREATE DATABASE %s; CREATE TABLE %[1]s.t (id INT PRIMARY KEY, v INT); CREATE TABLE %[1]s.mark (reader INT, n INT, PRIMARY KEY (reader, n)); CREATE TABLE %[1]s.end (x INT PRIMARY KEY)", db))
	for i := range clients {
		s.exec(t, fmt.Sprintf("INSERT INTO %s.t VALUES (?, 0)", db), i)
	}
	from := s.position(t)
	ctx, stop := context.WithTimeout(t.Context(), lasting)
	defer stop()
	var work sync.WaitGroup
	for i := range clients {
		c := s.dial(t)
		work.Go(func() {
			for n := 1; ctx.Err() == nil; n++ {
				step := strings.NewReplacer("<db>", db, "<i>", strconv.Itoa(i), "<n>", strconv.Itoa(n))
				for _, q := range steps {
					if _, err := c.Exec(step.Replace(q)); err != nil {
						t.Errorf("%s: %v", q, err)
						return
					}
				}
			}
		})
	}
	var seen [readers][]look
	for i := range readers {
		c := s.dial(t)
		work.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				l, err := lookBehind(c, fmt.Sprintf("INSERT INTO %s.mark VALUES (%d, %d)", db, i, n), "SELECT id, v FROM "+db+".t")
				if err != nil {
					t.Error(err)
					return
				}
				seen[i] = append(seen[i], l)
			}
		})
	}
	work.Wait()
	s.exec(t, "INSERT INTO "+db+".end VALUES (1)")

	logged := map[string]int{}
	for _, tr := range until(t, s.open(t, db, binlog.Start{Applied: from})) {
		for _, c := range tr.Changes {
			switch c.Table.Name {
			case "t":
				logged[string(c.After[0])] = number(t, c.After[1])
			case "mark":
				looks++
				l := seen[number(t, c.After[0])][number(t, c.After[1])]
				for id, v := range logged {
					if l.values[id] < v {
						late++
						if !l.listed[fmt.Sprintf("w%s,%d", id, v)] {
							unlisted++
						}
					}
				}
			}
		}
	}
	return looks, late, unlisted
}

// lookBehind writes a mark and reads.
func lookBehind(c *mysqlconn.Conn, mark, read string) (look, error) {
	l := look{map[string]int{}, map[string]bool{}}
	if _, err := c.Exec(mark); err != nil {
		return l, err
	}
	listed, err := binlog.Prepared(c)
	if err != nil {
		return l, err
	}
	for _, x := range listed {
		l.listed[x.GTRID+","+x.BQUAL] = true
	}
	_, rows, err := c.QueryAll(read, 1000)
	for _, r := range rows {
		n, _ := strconv.Atoi(string(r[1]))
		l.values[string(r[0])] = n
	}
	return l, err
}

func number(t *testing.T, b []byte) int {
	t.Helper()
	n, err := strconv.Atoi(string(b))
	require.NoError(t, err)
	return n
}
