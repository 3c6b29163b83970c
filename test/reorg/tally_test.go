package reorg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
)

// tally is what clients know of their writes.
type tally struct {
	mu       sync.Mutex
	next     int
	known    map[int]bool // rows that are there (true), or perhaps (false); no other is
	sure     []int        // those that are there, in any order
	leaving  int          // how often one of them was to be deleted
	gone     int          // rows that were, or were never inserted
	changes  [chaosRows]struct{ sure, perhaps int }
	nextName int
	names    map[int]belief
	wrong    []string

	done, counts, refused atomic.Int64 // statements, those that counted all rows, names that were taken
}

// belief is what is known of a name.
type belief int

const (
	unknown belief = iota // nobody was told that it is there
	perhaps
	sure
)

const chaosRows = 64

// enough is how many rows there are of which more than as many come as go: moving more takes longer and shows nothing more.
const enough = 10_000

func newTally() *tally { return &tally{known: map[int]bool{}, names: map[int]belief{}} }

// undone reports whether an error says that nothing was done.
func undone(err error) bool {
	switch code(err) {
	case 1213, 1205, 1317, 1040, 1203:
		return true
	}
	return false
}

// client writes until ctx ends, and keeps book.
func (b *tally) client(ctx context.Context, addr string) error {
	cfg, err := mysql.ParseDSN("root@tcp(" + addr + ")/d?timeout=2s&readTimeout=20s")
	if err != nil {
		return err
	}
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxIdleConns(1)
	for ctx.Err() == nil {
		var err error
		switch rand.N(9) {
		case 0:
			err = b.insert(db)
		case 1:
			err = b.insertOrDelete(db)
		case 2, 3:
			err = b.name(db)
		case 4, 5:
			err = b.change(db, rand.N(chaosRows))
		case 6:
			err = b.count(db)
		default:
			err = b.change(db, rand.N(chaosRows), rand.N(chaosRows))
		}
		if err != nil && code(err) == 0 && !errors.Is(err, mysql.ErrInvalidConn) && !errors.Is(err, io.EOF) {
			time.Sleep(20 * time.Millisecond) // its process is being started
		}
	}
	return nil
}

func (b *tally) insert(db *sql.DB) error {
	b.mu.Lock()
	id := b.next
	b.next++
	b.known[id] = false
	b.mu.Unlock()
	_, err := db.Exec("INSERT INTO s VALUES (?, 'x')", id)
	b.answered(err)
	b.settle(id, err, true)
	return err
}

// insertOrDelete inserts a row, or deletes one that is there if there are enough.
func (b *tally) insertOrDelete(db *sql.DB) error {
	b.mu.Lock()
	if len(b.sure) < enough {
		b.mu.Unlock()
		return b.insert(db)
	}
	at := rand.N(len(b.sure))
	id := b.sure[at]
	b.sure[at] = b.sure[len(b.sure)-1]
	b.sure = b.sure[:len(b.sure)-1]
	b.leaving++
	b.known[id] = false
	b.mu.Unlock()
	r, err := db.Exec("DELETE FROM s WHERE id = ?", id)
	b.answered(err)
	if err == nil {
		if n, _ := r.RowsAffected(); n != 1 {
			b.mu.Lock()
			b.wrong = append(b.wrong, fmt.Sprintf("row %d was acknowledged, and %d rows were deleted", id, n))
			b.mu.Unlock()
		}
	}
	b.settle(id, err, false)
	return err
}

// settle notes what is known of a row that was to be inserted or deleted.
func (b *tally) settle(id int, err error, inserted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil && !undone(err) {
		return
	}
	if there := (err == nil) == inserted; there {
		b.known[id] = true
		b.sure = append(b.sure, id)
		return
	}
	delete(b.known, id)
	b.gone++
}

// name inserts a name, which somebody else may be inserting at the same time, or have inserted.
func (b *tally) name(db *sql.DB) error {
	b.mu.Lock()
	n := b.nextName
	if rand.N(2) == 0 && (n < enough || rand.N(10) == 0) {
		b.nextName++
	} else if n > 0 {
		n -= 1 + rand.N(min(n, 20))
	}
	b.mu.Unlock()
	_, err := db.Exec("INSERT INTO u (name) VALUES (?)", fmt.Sprint("name ", n))
	b.answered(err)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil && b.names[n] == sure:
		b.wrong = append(b.wrong, fmt.Sprintf("name %d was inserted twice", n))
	case err == nil:
		b.names[n] = sure
	case code(err) == 1062:
		b.refused.Add(1)
		return nil
	case !undone(err) && b.names[n] != sure:
		b.names[n] = perhaps
	}
	return err
}

// change adds one to rows, in a transaction if there are several.
func (b *tally) change(db *sql.DB, ids ...int) error {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	note := func(sure, perhaps int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, id := range ids {
			b.changes[id].sure += sure
			b.changes[id].perhaps += perhaps
		}
	}
	if len(ids) == 1 {
		_, err := db.Exec("UPDATE n SET n = n + 1 WHERE id = ?", ids[0])
		b.answered(err)
		switch {
		case err == nil:
			note(1, 0)
		case !undone(err):
			note(0, 1)
		}
		return err
	}
	tx, err := db.Begin()
	b.answered(err)
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, err := tx.Exec("UPDATE n SET n = n + 1 WHERE id = ?", id)
		b.answered(err)
		if err != nil {
			_ = tx.Rollback()
			return err // nothing is committed without COMMIT
		}
	}
	err = tx.Commit()
	b.answered(err)
	switch {
	case err == nil:
		note(1, 0)
	case !undone(err):
		note(0, 1)
	}
	return err
}

// counter counts all rows over and over: those of n are always the same, and of s at least those that are there all the time, and at most
// those that may be.
func (b *tally) counter(ctx context.Context, db *sql.DB) error {
	for ctx.Err() == nil {
		var rows, distinct, inserted, least, leaving, gone int
		err := db.QueryRow("SELECT COUNT(*), COUNT(DISTINCT id) FROM n").Scan(&rows, &distinct)
		if err == nil {
			if rows != chaosRows || distinct != chaosRows {
				return fmt.Errorf("%d rows, %d of them different, instead of %d", rows, distinct, chaosRows)
			}
			b.mu.Lock()
			least, leaving, gone = len(b.sure), b.leaving, b.gone
			b.mu.Unlock()
			err = db.QueryRow("SELECT COUNT(*) FROM s").Scan(&inserted)
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // the proxy was shut out, and comes back
			continue
		}
		b.mu.Lock()
		least -= b.leaving - leaving // while they were counted
		most := b.next - gone
		b.mu.Unlock()
		if inserted < least || inserted > most {
			var again int
			err := db.QueryRow("SELECT COUNT(*) FROM s").Scan(&again)
			return fmt.Errorf("%s: %d rows, of which %d were acknowledged before and %d are possible; counted again: %d, %v",
				time.Now().Format(time.StampMilli), inserted, least, most, again, err)
		}
		b.counts.Add(1)
		b.done.Add(2)
	}
	return nil
}

// count counts rows of which there are always as many, by whatever process.
func (b *tally) count(db *sql.DB) error {
	var rows, distinct int
	err := db.QueryRow("SELECT COUNT(*), COUNT(DISTINCT id) FROM n").Scan(&rows, &distinct)
	b.answered(err)
	if err == nil {
		b.counts.Add(1)
	}
	if err == nil && (rows != chaosRows || distinct != chaosRows) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wrong = append(b.wrong, fmt.Sprintf("%d rows, %d of them different, instead of %d", rows, distinct, chaosRows))
	}
	return err
}

// answered counts statements, but for those nobody has answered.
func (b *tally) answered(err error) {
	if err == nil || code(err) != 0 {
		b.done.Add(1)
	}
}

// audit compares what is there with what clients were told, and where it is with the map.
func (b *tally) audit(t *testing.T, m *machine) {
	require.Eventually(t, func() bool { _, err := m.db.Exec("SELECT 1"); return err == nil }, time.Minute, 100*time.Millisecond)
	there := map[string]int{}
	for _, id := range strings.Split(text(t, m.db, "SELECT id FROM s"), ",") {
		there[id]++
	}
	lost, twice, ghosts := 0, 0, 0
	for id := range b.next {
		sure, known := b.known[id]
		switch n := there[strconv.Itoa(id)]; {
		case n > 1:
			twice++
		case n == 0 && sure:
			lost++
		case n == 1 && !known:
			ghosts++
		}
	}
	assert.Zero(t, lost, "acknowledged rows are missing")
	assert.Zero(t, twice, "rows are there twice")
	assert.Zero(t, ghosts, "rows are there whose insert was refused, or that were deleted")
	for id := range chaosRows {
		n, err := strconv.Atoi(text(t, m.db, fmt.Sprintf("SELECT n FROM n WHERE id = %d", id)))
		require.NoError(t, err)
		c := b.changes[id]
		assert.True(t, n >= c.sure && n <= c.sure+c.perhaps, "row %d was changed %d times; %d were acknowledged and %d are unknown", id, n, c.sure, c.perhaps)
	}
	assert.Empty(t, b.wrong)
	taken := map[string]int{}
	for _, name := range strings.Split(text(t, m.db, "SELECT name FROM u"), ",") {
		taken[name]++
	}
	for n := range b.nextName {
		name := fmt.Sprint("name ", n)
		assert.LessOrEqual(t, taken[name], 1, name)
		switch b.names[n] {
		case sure:
			assert.Equal(t, 1, taken[name], name)
		case unknown:
			assert.Zero(t, taken[name], "%s is there, and all who inserted it were refused", name)
		}
		if n%17 == 0 { // the index across groups says the same as the rows
			assert.Equal(t, taken[name], len(text(t, m.db, "SELECT 1 FROM u WHERE name = '"+name+"'")), name)
		}
	}
	pm, _, err := m.store.Map(t.Context())
	require.NoError(t, err)
	require.Empty(t, pm.Moving())
	for table, columns := range map[string]string{"s": "id, v", "n": "id, n", "u": "id, name"} {
		sum := "SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS('|', " + columns + "))), 0) FROM " + table
		var rows, crc int
		for g := range m.Info().NodeGroups {
			var r, c int
			require.NoError(t, m.NodeGroupDB(t, g+1, "d").QueryRow(sum).Scan(&r, &c))
			rows, crc = rows+r, crc+c
		}
		assert.Equal(t, fmt.Sprint(rows, " ", crc), text(t, m.db, sum), "checksum of %s", table)
	}
	for g, group := range m.Info().NodeGroups {
		for _, table := range []string{"s", "n", "u"} {
			for _, id := range strings.Split(text(t, m.NodeGroupDB(t, g+1, "d"), "SELECT id FROM "+table), ",") {
				if id != "" && pm.Owner(partition(id)) != placement.NodeGroupID(group.ID) {
					t.Errorf("row %s of %s is on node group %d, which does not own it", id, table, group.ID)
				}
			}
		}
		late := text(t, m.NodeGroupDB(t, g+1, ""), "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '_skarv' AND table_name = 'late_write'")
		if late != "0" {
			assert.Equal(t, "0", text(t, m.NodeGroupDB(t, g+1, ""), "SELECT COUNT(*) FROM _skarv.late_write"), "late writes on node group %d", g+1)
		}
	}
}
