package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Comparison compares the rows of a table on two servers that should be equal, while both are used. Rows are read in small
// stretches of the key on both sides, without locks. What is not the same then may have been changed in between: it is read
// again in a way that leaves no doubt, and only what differs then counts.
type Comparison struct {
	Left, Right Server
	Table       *catalog.Table
	// Partitions are those to be compared; nil: all rows.
	Partitions *placement.Set
	// Settle is how doubts are settled.
	Settle Settling
	// Chunk, which may be nil, is told of the rows of each stretch, and may wait.
	Chunk func(ctx context.Context, rows int) error
}

// Settling is how it is found out whether rows that were read differently are different.
type Settling struct {
	// Caught waits until Right has everything that Left has committed now. nil: both are written to in the same transactions, and
	// rows are read with shared locks, first on Left.
	Caught func(ctx context.Context) error
}

const (
	compareRows = 1000
	// comparePasses is how often rows are looked at again that change all the time.
	comparePasses = 20
	// sureAfter is how often a row must be found different, with the left one unchanged meanwhile. More than once: it may have been
	// changed there and back.
	sureAfter = 3
)

// Run compares. Report.Changed counts the rows that were looked at again.
func (c *Comparison) Run(ctx context.Context) (Report, error) {
	var rep Report
	t, err := newTable(c.Table, 0, c.Left.Flavor)
	if err != nil {
		return rep, err
	}
	r := &comparing{Comparison: c, table: t, report: &rep, where: "TRUE"}
	if c.Partitions != nil {
		r.where = t.partitionIn(c.Partitions)
	}
	if r.left, err = newCopier(ctx, dial, c.Left, 0); err != nil {
		return rep, err
	}
	defer func() { r.left.conn.close() }()
	if r.right, err = newCopier(ctx, dial, c.Right, 0); err != nil {
		return rep, err
	}
	defer func() { r.right.conn.close() }()
	return rep, r.run(ctx)
}

// partitionIn is the condition that a row of t is in one of the partitions.
func (t *table) partitionIn(set *placement.Set) string {
	members := set.Members()
	if len(members) == 0 {
		return "FALSE"
	}
	if len(members) == placement.Partitions {
		return "TRUE"
	}
	return t.where + " IN (" + join(members, ",", func(p placement.Partition) string { return fmt.Sprint(p) }) + ")"
}

// comparing is a Comparison that runs.
type comparing struct {
	*Comparison
	table       *table
	where       string
	left, right *copier
	report      *Report
}

func (r *comparing) run(ctx context.Context) error {
	t := r.table
	for last := [][]byte(nil); ; {
		end, err := r.left.end(t, last, compareRows)
		if err != nil {
			return err
		}
		want, err := r.left.read(ctx, t, last, end, r.where)
		if err != nil {
			return err
		}
		if want.cut != nil {
			end = want.cut
		}
		doubts, err := r.stretch(ctx, want, last, end)
		if err != nil {
			return err
		}
		r.report.Changed += int64(len(doubts))
		for part := range slices.Chunk(doubts, deleteRows) {
			if err := r.settle(ctx, part); err != nil {
				return err
			}
		}
		if r.Chunk != nil {
			if err := r.Chunk(ctx, len(want.kept)); err != nil {
				return err
			}
		}
		if end == nil {
			return ctx.Err()
		}
		last = end
	}
}

// stretch compares what the left side has behind last up to end, and returns what is not the same on the right one: rows of
// either side.
func (r *comparing) stretch(ctx context.Context, want readRows, last, end [][]byte) (doubts []row, err error) {
	t := r.table
	left := want.rows
	for at := last; ; {
		got, err := r.right.read(ctx, t, at, end, r.where)
		if err != nil {
			return nil, err
		}
		for _, key := range got.kept {
			switch l, ok := left[key]; {
			case !ok || t.different(l, got.rows[key]) != "":
				doubts = append(doubts, got.rows[key])
			default:
				r.report.Compared++
			}
			delete(left, key)
		}
		if at = got.cut; at == nil {
			break
		}
	}
	for _, key := range want.kept {
		if l, ok := left[key]; ok {
			doubts = append(doubts, l)
		}
	}
	return doubts, nil
}

// settle finds out which of some rows are different.
func (r *comparing) settle(ctx context.Context, doubts []row) error {
	t := r.table
	found := map[string]int{} // how often a row was found different for sure
	for pass := 0; len(doubts) > 0; pass++ {
		if pass == comparePasses {
			r.report.Uncertain += int64(len(doubts))
			return nil
		}
		left, right, still, err := r.look(ctx, doubts)
		if err != nil {
			return err
		}
		var again []row
		for _, d := range doubts {
			key := string(t.keyOf(nil, d))
			what := t.compare(left.rows[key], right.rows[key])
			switch {
			case what == "":
				if left.rows[key] != nil {
					r.report.Compared++
				}
			case still != nil && t.compare(left.rows[key], still.rows[key]) != "":
				again = append(again, d) // it was changed while it was looked at
			default:
				if found[key]++; still != nil && found[key] < sureAfter {
					again = append(again, d)
					continue
				}
				r.report.Differs++
				if len(r.report.Differing) < maxDifferences {
					r.report.Differing = append(r.report.Differing, Difference{
						Table: t.label, Key: t.describe(d), Target: r.Right.Group, What: what, Partition: t.partitionText(d),
					})
				}
			}
		}
		doubts = again
	}
	return nil
}

// compare says how the right row differs from the left one; either may be missing.
func (t *table) compare(left, right row) string {
	switch {
	case left == nil && right == nil:
		return ""
	case left == nil:
		return "unexpected"
	case right == nil:
		return "missing"
	}
	return t.different(left, right)
}

// look reads rows on both sides. still, not nil, is the left side read again: rows that are not the same in it say nothing.
func (r *comparing) look(ctx context.Context, doubts []row) (left, right readRows, still *readRows, err error) {
	t := r.table
	q := "SELECT " + t.reads + " FROM " + t.name + " WHERE " + r.where + " AND " + t.oneOf(doubts)
	if r.Settle.Caught == nil {
		left, right, err = r.locked(ctx, q)
		return left, right, nil, err
	}
	if left, err = r.left.rows(ctx, t, q); err != nil {
		return left, right, nil, err
	}
	if err = r.Settle.Caught(ctx); err != nil {
		return left, right, nil, err
	}
	if right, err = r.right.rows(ctx, t, q); err != nil {
		return left, right, nil, err
	}
	again, err := r.left.rows(ctx, t, q)
	return left, right, &again, err
}

// locked reads rows on both sides while nobody can change them: what is committed on one side is, or is not, on both.
func (r *comparing) locked(ctx context.Context, q string) (left, right readRows, err error) {
	const tries = 20
	for try := 0; ; try++ {
		left, right, err = r.lockedOnce(ctx, q)
		if c := code(err); err == nil || try == tries || c != sqlerr.LockWaitTimeout && c != sqlerr.LockDeadlock {
			return left, right, err
		}
		if err := pause.For(ctx, 100*time.Millisecond); err != nil {
			return left, right, err
		}
	}
}

func (r *comparing) lockedOnce(ctx context.Context, q string) (left, right readRows, err error) {
	for _, c := range []*copier{r.left, r.right} {
		if _, err := c.conn.Exec("BEGIN"); err != nil {
			return left, right, err
		}
	}
	defer func() {
		for _, c := range []*copier{r.left, r.right} {
			if c.conn.Usable() {
				_, e := c.conn.Exec("ROLLBACK")
				if err == nil {
					err = e
				}
			}
		}
	}()
	if left, err = r.left.rows(ctx, r.table, q+" LOCK IN SHARE MODE"); err == nil {
		right, err = r.right.rows(ctx, r.table, q+" LOCK IN SHARE MODE")
	}
	return left, right, err
}

// partitionText is the partition of a row, -1 if it has none or it cannot be told.
func (t *table) partitionText(r row) int {
	if len(t.dist) == 0 {
		return -1
	}
	p, err := (&placer{}).partition(t, r)
	if err != nil {
		return -1
	}
	return int(p)
}

// Stray looks through a sharded table on one server for rows of partitions that are not its. mine is asked for each stretch, and again
// before a row is counted: the partitions whose rows may be there at the moment. A row whose partition cannot be told
// counts as well. chunk is as Comparison.Chunk.
func Stray(ctx context.Context, s Server, of *catalog.Table, mine func() placement.Set, chunk func(context.Context, int) error) (Report, error) {
	var rep Report
	t, err := newTable(of, 0, s.Flavor)
	if err != nil {
		return rep, err
	}
	reader, err := newCopier(ctx, dial, s, 0)
	if err != nil {
		return rep, err
	}
	defer func() { reader.conn.close() }()
	place := &placer{}
	columns := slices.Clone(t.key)
	for _, i := range t.dist {
		if !slices.Contains(columns, i) {
			columns = append(columns, i)
		}
	}
	list := join(columns, ",", func(i int) string { return t.columns[i].reads })
	read := func(where, order string) ([]row, error) {
		_, got, err := reader.conn.QueryAll("SELECT "+list+" FROM "+t.name+where+order, compareRows+1)
		rows := make([]row, len(got))
		for n, fields := range got {
			rows[n] = make(row, len(t.columns))
			for at, i := range columns {
				rows[n][i] = fields[at]
			}
		}
		return rows, err
	}
	for last := [][]byte(nil); ; {
		where := ""
		if last != nil {
			where = " WHERE " + string(t.appendOrder(nil, last, false))
		}
		allowed := mine()
		rows, err := read(" FORCE INDEX ("+sqltypes.QuoteName(t.index)+")"+where, " ORDER BY "+t.keyList(false)+fmt.Sprintf(" LIMIT %d", compareRows))
		if err != nil {
			return rep, err
		}
		for _, r := range rows {
			p, err := place.partition(t, r)
			if err == nil && allowed.Has(p) {
				rep.Compared++
				continue
			}
			rep.Changed++
			// Perhaps the partition comes or goes just now.
			if now := mine(); err == nil && now.Has(p) {
				rep.Compared++
				continue
			}
			again, rerr := read(" WHERE "+string(t.appendIs(nil, r)), "")
			if rerr != nil {
				return rep, rerr
			}
			if len(again) == 0 {
				continue
			}
			what := fmt.Sprintf("its partition %d is another node group's", p)
			if err != nil {
				what, p = "its partition cannot be told", 0
			}
			rep.Differs++
			if len(rep.Differing) < maxDifferences {
				d := Difference{Table: t.label, Key: t.describe(r), Target: s.Group, What: what, Partition: int(p)}
				if err != nil {
					d.Partition = -1
				}
				rep.Differing = append(rep.Differing, d)
			}
		}
		if chunk != nil {
			if err := chunk(ctx, len(rows)); err != nil {
				return rep, err
			}
		}
		if len(rows) < compareRows {
			return rep, ctx.Err()
		}
		last = t.bounds(rows[len(rows)-1])
	}
}

// FollowerCaught returns what waits until the mover that follows source's log has applied everything of now on target. reorg is the
// id of its Move.
func FollowerCaught(source, target Server, reorg string) func(context.Context) error {
	const table = "CREATE TABLE IF NOT EXISTS `_skarv`.`checksum` (id INT NOT NULL PRIMARY KEY, at DATETIME(6) NOT NULL) ENGINE=InnoDB"
	mine := "reorg=" + quote(reorg) + " AND source=" + fmt.Sprint(int(source.Group))
	return func(ctx context.Context) error {
		from, err := dial(ctx, source)
		if err != nil {
			return err
		}
		defer from.close()
		to, err := dial(ctx, target)
		if err != nil {
			return err
		}
		defer to.close()
		if _, err := from.Exec(table); err != nil {
			return err
		}
		goal, err := binlog.Current(from.Conn, source.Flavor)
		if err != nil {
			return err
		}
		for {
			// The mover notes how far it is when there is something in the log.
			if _, err := from.Exec("REPLACE INTO `_skarv`.`checksum` VALUES (1, UTC_TIMESTAMP(6))"); err != nil {
				return err
			}
			text, err := to.value("SELECT applied FROM `_skarv`.`reorg_pos` WHERE " + mine)
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) != "" {
				at, err := binlog.ParsePosition(target.Flavor, text)
				if err != nil {
					return err
				}
				if at.Covers(goal) {
					return nil
				}
			}
			if err := pause.For(ctx, 200*time.Millisecond); err != nil {
				return err
			}
		}
	}
}

// ErrBehind: a replica did not come in time to where its primary was.
var ErrBehind = errors.New("more than a minute behind, or does not replicate")

// ReplicaCaught returns what waits until a replica has applied everything that is committed on its primary now; for a minute, then the
// error is ErrBehind.
func ReplicaCaught(primary, replica Server) func(context.Context) error {
	return func(ctx context.Context) error {
		from, err := dial(ctx, primary)
		if err != nil {
			return err
		}
		defer from.close()
		to, err := dial(ctx, replica)
		if err != nil {
			return err
		}
		defer to.close()
		goal, err := binlog.Current(from.Conn, primary.Flavor)
		if err != nil {
			return err
		}
		const limit = 60 // seconds
		got, err := to.value(goal.Wait(limit))
		if err == nil && got != "0" {
			err = fmt.Errorf("replica %s is %w", replica.Name, ErrBehind)
		}
		return err
	}
}
