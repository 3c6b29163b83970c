package exec

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// LAST_INSERT_ID() behind an INSERT is the number of the first row that has come. With IGNORE and ON DUPLICATE KEY UPDATE rows may not
// come, and servers that were sent the numbers do not tell which: they are asked, in the same transaction, which of the numbers they have.
//
// Where no row has come with a number given out, the OK packet has that of the last row if any row was inserted or changed; behind ON
// DUPLICATE KEY UPDATE, of the row that the last one has met. A server that has changed nothing says 0: if others have, it is asked for it.

// span is consecutive values of a sequence.
type span struct{ first, last uint64 }

// spansAtOnce is how many spans one question is about.
const spansAtOnce = 500

// lookBehind reports that it must be asked which rows have come.
func (in *insertion) lookBehind() bool {
	n := in.node
	some := in.rows > 1 && (n.Ignore || n.Update) || n.Update && n.Returning
	return some && in.ids.first != 0 && !n.HiddenKey && n.Indexed == nil
}

// ambiguous refuses rows of which servers could not tell afterwards what LAST_INSERT_ID() is.
func (r *Runner) ambiguous(p *plan.Plan, in *insertion) error {
	n := in.node
	if n.Indexed != nil || n.HiddenKey {
		return nil // every row is looked at
	}
	own := n.Update && p.Uses&plan.SetsLastInsertID != 0
	several := in.rows > 1 && len(r.groups) > 1
	if !n.Sequence {
		if own && several {
			return sqlerr.Unsupported("LAST_INSERT_ID(expression) in ON DUPLICATE KEY UPDATE of several rows of several node groups", "insert the rows one by one")
		}
		return nil
	}
	if own && in.ids.brought && (n.Returning || several) {
		return sqlerr.Unsupported("LAST_INSERT_ID(expression) in an INSERT of several rows that bring values for AUTO_INCREMENT, or with RETURNING, with ON DUPLICATE KEY UPDATE",
			"insert the rows one by one, without RETURNING")
	}
	if in.rows > 1 && (n.Ignore || n.Update) {
		return in.ids.ambiguous(n.Renumbers)
	}
	return nil
}

// ambiguous refuses to find out which rows have come by their numbers where others may have these; renumbers: ON DUPLICATE KEY UPDATE
// gives rows other ones.
func (s *identities) ambiguous(renumbers bool) error {
	switch {
	case s.first == 0:
		return nil
	case renumbers:
		return sqlerr.Unsupported("ON DUPLICATE KEY UPDATE of the AUTO_INCREMENT column of table '"+s.table.Name+"' in an INSERT of several rows",
			"insert the rows one by one")
	case s.mixed:
		return sqlerr.Unsupported("a value for AUTO_INCREMENT that a row before it may have been given, in an INSERT of several rows with IGNORE or ON DUPLICATE KEY UPDATE",
			"insert the rows one by one")
	}
	return nil
}

// look finds out what LAST_INSERT_ID() becomes by rows that have just been written on the streams. sum is what the servers have said.
func (r *Runner) look(p *plan.Plan, in *insertion, sum *Summary) (err error) {
	streams := r.streams
	if in.node.Same {
		streams = streams[:1]
	}
	in.looked = true
	switch n := in.node; {
	case !sum.HasRows && sum.AffectedRows == 0:
	case !sum.HasRows && !n.Update && sum.AffectedRows == uint64(in.rows), !sum.HasRows && n.Update && !r.FoundRows && in.allNew(r.results):
		in.came = in.ids.first
	default:
		in.came, err = r.firstOf(streams, in.table, in.ids.given)
	}
	if err != nil || in.came != 0 || !sum.HasRows || p.Uses&plan.SetsLastInsertID == 0 {
		return err
	}
	// RETURNING does not tell what LAST_INSERT_ID(expr) has said last. All rows have met others, and so the last one.
	in.called, err = r.lastInsertID(&streams[in.groupOfLast()])
	return err
}

// mayLeave reports that a group may say nothing of the last row because it has changed none of its own.
func (in *insertion) mayLeave(p *plan.Plan, groups int) bool {
	n := in.node
	return n.Update && n.Sequence && !n.Same && !n.HiddenKey && !n.Returning && groups > 1 && p.Uses&plan.SetsLastInsertID == 0
}

// lookForLast finds out which row the last one has met and left as it is, if others have come or changed.
func (r *Runner) lookForLast(in *insertion, sum *Summary) (err error) {
	at := in.groupOfLast()
	if r.cameOf(in, sum) != 0 || r.results[at].insertID != 0 || !slices.ContainsFunc(r.results, func(res result) bool { return res.insertID != 0 }) {
		return nil
	}
	last := in.appendOne(nil, in.node.Before, in.rows-1, false)
	in.met, err = r.metOn(&r.streams[at], in.table, last, in.args.AppendText(nil, in.node.After))
	return err
}

// metOn is the value of AUTO_INCREMENT of the row of t that an INSERT of one row meets on a stream; 0 if that cannot be told. A trigger may
// refuse the question, for it sees a change that the client's statement does not make: then it is asked along with that one's changes, which
// tail, what stands behind its rows, ends with.
func (r *Runner) metOn(s *stream, t *catalog.Table, insert, tail []byte) (id uint64, err error) {
	r.Conns.Keep(s.conn)
	column := appendName(nil, t.Columns[t.AutoIncrement].Name)
	id, refused, err := r.met(s, slices.Concat(insert, []byte(" ON DUPLICATE KEY UPDATE ")), column)
	if refused {
		column = append(append(appendName(nil, t.Name), '.'), column...) // the new row may have a name, too
		id, _, err = r.met(s, slices.Concat(insert, tail, []byte(",\n")), column)
	}
	if err != nil {
		r.failed = s.group
	}
	return id, err
}

// met asks which value column has in the row that an INSERT meets, to whose changes that question is added. Nothing stays of it. The OK
// packet does not tell if the table has triggers.
func (r *Runner) met(s *stream, insert, column []byte) (id uint64, refused bool, err error) {
	insert = append(append(append(append(insert, column...), " = LAST_INSERT_ID("...), column...), ')')
	do := func(sql []byte) error {
		if err := s.send(sql); err != nil {
			return err
		}
		_, err := s.readHead()
		return err
	}
	if err = do([]byte(rowSavepoint)); err == nil {
		err = do([]byte("SET last_insert_id = 0"))
	}
	if err != nil {
		return 0, false, err
	}
	err = do(insert)
	if refused = err != nil && r.goesOn(s, err); !refused && err == nil {
		id, err = r.lastInsertID(s)
	}
	if refused || err == nil {
		err = do([]byte(rowRollback))
	}
	return id, refused, err
}

// lastInsertID is what LAST_INSERT_ID() is on a stream.
func (r *Runner) lastInsertID(s *stream) (uint64, error) {
	res, err := r.rowsFrom(s, []byte("SELECT LAST_INSERT_ID()"))
	if err != nil || len(res.rows) != 1 {
		return 0, err
	}
	return strconv.ParseUint(string(res.rows[0][0]), 10, 64)
}

// goesOn reports that what a server has refused leaves the transaction, and the client's statement, as they were.
func (r *Runner) goesOn(s *stream, err error) bool {
	e, told := errors.AsType[*sqlerr.Error](err)
	if !told || s.err != nil || r.interrupted() != nil {
		return false
	}
	return !sqlerr.MayRollBack(e) && !sqlerr.CutShort(e)
}

// allNew reports that rows of an ON DUPLICATE KEY UPDATE have met no others, by what each group has said.
func (in *insertion) allNew(results []result) bool {
	if in.node.Same {
		results = results[:min(len(results), 1)]
	}
	return !slices.ContainsFunc(results, func(res result) bool {
		if res.records {
			return res.affected != res.rows || res.duplicates > 0
		}
		return res.affected != 1
	})
}

// groupOfLast is the place, among the groups that get rows, of that of the last row.
func (in *insertion) groupOfLast() int {
	if len(in.owners) == 0 {
		return 0
	}
	return in.placeOf(len(in.owners) - 1)
}

// groupOfCall is that of the last row that says LAST_INSERT_ID(expr).
func (in *insertion) groupOfCall() int {
	var text []byte
	for row := len(in.owners) - 1; row >= 0; row-- {
		if text = in.appendRow(text[:0], row, nil); setsLastInsertID(text) {
			return in.placeOf(row)
		}
	}
	return in.groupOfLast()
}

func (in *insertion) placeOf(row int) int {
	var before []placement.NodeGroupID
	for _, g := range in.owners {
		if g < in.owners[row] {
			before = addGroup(before, 0, g)
		}
	}
	return len(before)
}

// setsLastInsertID reports whether LAST_INSERT_ID is called with an argument.
func setsLastInsertID(sql []byte) bool {
	rest := bytes.ToUpper(sql)
	for {
		_, behind, found := bytes.Cut(rest, []byte("LAST_INSERT_ID"))
		if !found {
			return false
		}
		rest = behind
		if argument, called := bytes.CutPrefix(bytes.TrimSpace(rest), []byte("(")); called && !bytes.HasPrefix(bytes.TrimSpace(argument), []byte(")")) {
			return true
		}
	}
}

// firstOf is the least of the values given out that t has on one of the streams; 0 if it has none.
func (r *Runner) firstOf(streams []stream, t *catalog.Table, given []span) (first uint64, err error) {
	for i := range streams {
		if err := r.keep(&streams[i]); err != nil {
			return 0, err
		}
	}
	column := appendName(nil, t.Columns[t.AutoIncrement].Name)
	for some := range slices.Chunk(given, spansAtOnce) {
		sql := append(append(append([]byte("SELECT MIN("), column...), ") FROM "...), tableName(t)...)
		for i, s := range some {
			sql = append(append(append(sql, [2]string{" WHERE ", " OR "}[min(i, 1)]...), column...), " BETWEEN "...)
			sql = strconv.AppendUint(append(strconv.AppendUint(sql, s.first, 10), " AND "...), s.last, 10)
		}
		for i := range streams {
			res, err := r.rowsFrom(&streams[i], sql)
			if err != nil {
				r.failed = streams[i].group
				return 0, err
			}
			if len(res.rows) != 1 || res.rows[0][0] == nil {
				continue
			}
			v, err := strconv.ParseUint(string(res.rows[0][0]), 10, 64)
			if err != nil {
				return 0, sqlerr.Internal.New("a value of AUTO_INCREMENT is no number")
			}
			if first == 0 || v < first {
				first = v
			}
		}
		if first != 0 {
			break
		}
	}
	return first, nil
}

// Came is the least of the values that ids has given out for rows which were inserted, by a statement that is running, and have come to
// the tables of any group; 0 if none has.
func (r *Runner) Came(x Execution, snap *catalog.Snapshot, ids *Identities) (first uint64, err error) {
	r.Execution = x
	r.results, r.groups = r.results[:0], r.groups[:0]
	for _, g := range snap.Groups {
		r.groups = addGroup(r.groups, 0, g.ID)
	}
	if err = r.acquire(false); err == nil {
		first, err = r.firstOf(r.streams, ids.ids.table, ids.ids.given)
	}
	r.finish(err)
	return first, err
}
