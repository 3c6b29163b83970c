package exec

import (
	"cmp"
	"strconv"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// writing is what write is to do.
type writing struct {
	text textOf
	same bool // see plan.Fragment
	// behind, not nil, looks at what was written, on the same connections. whole: in the same transaction, even if that is of one group; but
	// under LOCK TABLES nobody else comes in between.
	behind func(*Summary) error
	whole  bool
}

// write runs a statement that changes rows on r.groups. Over several groups its work stands or falls as a whole.
func (r *Runner) write(p *plan.Plan, w writing, sink Sink) (sum Summary, err error) {
	r.results, r.failed = r.results[:0], 0
	several := len(r.groups) > 1 || w.whole && !r.Locked
	if several {
		if err := r.Conns.BeginStatement(r.groups); err != nil {
			return sum, err
		}
	}
	var held *Held // the rows of RETURNING, until all groups have done their part
	if several {
		held = &Held{}
		sum, err = r.writeAll(p, w.same, w.text, held)
	} else {
		sum, err = r.writeAll(p, w.same, w.text, sink)
	}
	if err == nil && w.behind != nil {
		err = w.behind(&sum)
	}
	r.finish(err)
	if !several {
		return sum, err
	}
	if err = r.Conns.EndStatement(err); err != nil {
		return Summary{}, err
	}
	if sum.HasRows {
		err = held.Pass(sink, r.order(len(held.rows)))
	}
	return sum, err
}

// learn tells the sequence of t of the greatest value that there is in the groups just written to.
func (r *Runner) learn(t *catalog.Table) error {
	sql := append([]byte(nil), "SELECT MAX("...)
	sql = append(append(appendName(sql, t.Columns[t.AutoIncrement].Name), ") FROM "...), tableName(t)...)
	for i := range r.streams {
		if err := r.keep(&r.streams[i]); err != nil {
			return err
		}
		res, err := r.rowsFrom(&r.streams[i], sql)
		if err != nil {
			return err
		}
		if len(res.rows) != 1 {
			continue
		}
		if v, err := strconv.ParseUint(string(res.rows[0][0]), 10, 64); err == nil { // else none, or none above 0
			if err := r.Sequence.Observe(t, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Runner) writeAll(p *plan.Plan, same bool, text textOf, sink Sink) (sum Summary, err error) {
	if err := r.acquire(true); err != nil {
		return sum, err
	}
	if same && len(r.streams) > 1 {
		return r.writeCopies(p, text, sink)
	}
	answers, err := r.inTurn(r.timestamp(p), text)
	if err != nil {
		return sum, err
	}
	if answers.rows > 0 { // MariaDB's RETURNING
		return r.pass(&plan.Merge{Input: &plan.Fragment{}}, nil, sink)
	}
	return r.okSummary(answers)
}

// inTurn lets one group after the other do its part, in ascending order: each keeps its rows locked until all have
// done theirs, and no server sees that two statements wait for each other in different groups. In one order they cannot.
func (r *Runner) inTurn(timestamp []byte, text textOf) (sum answers, err error) {
	var info []byte
	for i := range r.streams {
		one := r.streams[i : i+1]
		if err := r.send(one, timestamp, text); err != nil {
			return sum, err
		}
		a, err := r.written(one, timestamp)
		if err != nil {
			return sum, err
		}
		sum.ok, sum.rows = sum.ok+a.ok, sum.rows+a.rows
		sum.affected, sum.warnings = sum.affected+a.affected, sum.warnings+a.warnings
		sum.insertID = max(sum.insertID, a.insertID) // of rows that bring their values: the greatest is most often the last
		info = addInfo(info, r.info)
	}
	r.info = append(r.info[:0], info...)
	return sum, nil
}

// written is heads of a statement that writes. What it has warned of is asked for before time goes on: SET leaves no warnings behind.
func (r *Runner) written(streams []stream, timestamp []byte) (sum answers, err error) {
	sum, err = r.heads(streams)
	if timestamp == nil {
		return sum, err
	}
	if err == nil {
		for i := range streams {
			r.Conns.Keep(streams[i].conn) // does nothing while there are rows to read
		}
	}
	return sum, cmp.Or(err, endClock(streams, timestamp))
}

// writeCopies does the same on every group. The first one goes ahead: two statements that want the same rows meet
// there, and one waits, instead of each holding what the other wants next.
func (r *Runner) writeCopies(p *plan.Plan, text textOf, sink Sink) (sum Summary, err error) {
	timestamp := r.timestamp(p)
	if err := r.send(r.streams[:1], timestamp, text); err != nil {
		return sum, err
	}
	first, err := r.written(r.streams[:1], timestamp)
	doubtful := copyMayRefer(err, r.hidden, r.streams[0].group) // the others tell whether rows of theirs refer to these, too
	if err != nil && !doubtful {
		return sum, err
	}
	err = nil
	if first.rows > 0 { // MariaDB's RETURNING: all copies answer alike
		if sum, err = r.passFirst(sink); err != nil {
			return sum, err
		}
	}
	info := append([]byte(nil), r.info...)
	if err := r.send(r.streams[1:], timestamp, text); err != nil {
		return sum, err
	}
	for i := 1; i < len(r.streams); i++ {
		other, herr := r.written(r.streams[i:i+1], timestamp)
		if copyMayRefer(herr, r.hidden, r.streams[i].group) {
			doubtful, herr = true, nil
			continue
		}
		if herr == nil && (other.rows > 0 || sum.HasRows) { // an error may stand among them
			rows, rerr := r.streams[i].skipRows()
			if herr = rerr; rerr == nil && rows != sum.Rows && !doubtful {
				herr = sqlerr.Internal.New("the copies of a reference table differ: " + groupName(r.streams[0].group) + " returned " +
					strconv.FormatUint(sum.Rows, 10) + " rows, " + groupName(r.streams[i].group) + " " + strconv.FormatUint(rows, 10))
			}
		}
		if herr == nil && other.affected != first.affected && !doubtful {
			herr = sqlerr.Internal.New("the copies of a reference table differ: " + groupName(r.streams[0].group) + " changed " +
				strconv.FormatUint(first.affected, 10) + " rows, " + groupName(r.streams[i].group) + " " +
				strconv.FormatUint(other.affected, 10))
		}
		if err == nil {
			err = herr
		}
		if r.interrupted() != nil {
			break
		}
	}
	if err == nil && doubtful {
		err = onlyCopiesRefer(r.hidden)
	}
	if err != nil {
		return sum, err
	}
	if sum.HasRows {
		return sum, nil
	}
	r.info = append(r.info[:0], info...)
	return r.okSummary(first)
}

// passFirst gives the rows of the first stream to sink.
func (r *Runner) passFirst(sink Sink) (Summary, error) {
	all := r.streams
	r.streams = all[:1]
	defer func() { r.streams = all }()
	return r.pass(&plan.Fragment{}, nil, sink)
}

// order is the order of the rows that an INSERT over several groups returns, which come group by group; nil: as they come.
func (r *Runner) order(rows int) []int {
	if len(r.owners) != rows {
		return nil
	}
	next := make(map[placement.NodeGroupID]int, len(r.groups)) // row of the result
	at := 0
	for _, g := range r.groups {
		next[g] = at
		for _, o := range r.owners {
			if o == g {
				at++
			}
		}
	}
	order := make([]int, rows)
	for i, o := range r.owners {
		order[i] = next[o]
		next[o]++
	}
	return order
}
