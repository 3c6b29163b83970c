package exec

import (
	"io"
	"math"
	"strconv"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// A statement that has to touch more than the rows its text names, or these on groups that its text does not tell, is run
// as a program of smaller ones by a rowWriter: read rows with their locks, then write by key, group by group as it turns
// out. All of it is one statement to Conns: it stands or falls as a whole.

// maxProgramRows bounds the rows of one such statement: they are in memory between reading and writing.
const maxProgramRows = 50000

// maxWarned is how many warnings are kept: as many as MySQL keeps by default. Sessions leave out those that their max_error_count does.
const maxWarned = 1024

// rowWriter runs one statement.
type rowWriter struct {
	*Runner
	snap  *catalog.Snapshot
	args  *Arguments
	clock []byte // SET timestamp for every group, or nil
	// unchecked: the servers do not look at foreign keys; it is done here.
	unchecked bool
	relations map[*catalog.Table]*relations
	gone      map[goneRow]bool // by cascades
	going     map[goneRow]bool // rows that cascades are about to delete
	leaving   map[goneRow]bool // those of going that what they refer to, and they themselves, still see
	renaming  []*catalog.Table // whose changed row has led to the cascades that are running, the statement's own first
	turns     *turns           // of an UPDATE's rows, where that may matter; or nil
	// affected, matched and changed are what the OK packet counts.
	affected, matched, changed uint64
	warnings                   uint
	told                       uint64 // the greatest AUTO_INCREMENT value that the sequence was told of
}

// program runs f as one statement over groups that f finds out. unchecked: the servers are not to look at foreign keys.
func (r *Runner) program(p *plan.Plan, snap *catalog.Snapshot, a *Arguments, unchecked bool, f func(w *rowWriter) error) (w *rowWriter, err error) {
	w = &rowWriter{Runner: r, snap: snap, args: a, unchecked: unchecked}
	if p.Uses&plan.ReadsClock != 0 && !r.FixedClock {
		w.clock = r.setClock()
	}
	r.results, r.failed, r.Warned = r.results[:0], 0, r.Warned[:0]
	r.groups, r.streams = r.groups[:0], r.streams[:0]
	if err := r.Conns.BeginStatement(nil); err != nil {
		return nil, err
	}
	err = f(w)
	if cerr := w.end(); err == nil {
		err = cerr
	}
	r.finish(err)
	return w, r.Conns.EndStatement(err)
}

// end brings the connections back into the session's state. One that cannot be brought back is closed: nobody else may get
// it.
func (w *rowWriter) end() (first error) {
	for i := range w.streams {
		s := &w.streams[i]
		if err := w.restore(s); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (w *rowWriter) restore(s *stream) error {
	if s.err != nil || s.conn.Broken() {
		return nil
	}
	for _, sql := range w.states(restoring) {
		_, _ = s.skipRows() // too many: to break off would lose the client's transaction
		if s.err != nil || s.heads > 0 {
			s.conn.Interrupt()
			return nil
		}
		err := s.send([]byte(sql))
		if err == nil {
			_, err = s.readHead()
		}
		if err != nil {
			s.conn.Interrupt()
			return err
		}
	}
	return nil
}

const (
	setting   = 0
	restoring = 1
)

// states are the statements that set a connection's state for the program, or restore it.
func (w *rowWriter) states(which int) (out []string) {
	if w.clock != nil {
		out = append(out, [2]string{string(w.clock), "SET timestamp = DEFAULT"}[which])
	}
	if w.unchecked {
		out = append(out, [2]string{"SET foreign_key_checks = 0", "SET foreign_key_checks = 1"}[which])
	}
	return out
}

// on returns the stream to g, which takes part from now on.
func (w *rowWriter) on(g placement.NodeGroupID, write bool) (*stream, error) {
	if cause := w.interrupted(); cause != nil {
		return nil, cause
	}
	if err := w.Conns.JoinStatement(g, write); err != nil {
		return nil, err
	}
	for i := range w.streams {
		if w.streams[i].group == g {
			return &w.streams[i], nil
		}
	}
	c, err := w.Conns.Acquire(g, true)
	if err != nil {
		return nil, err
	}
	w.streams = append(w.streams, stream{conn: c, group: g, runner: w.Runner})
	w.mu.Lock()
	w.mu.active = append(w.mu.active, c)
	w.mu.Unlock()
	s := &w.streams[len(w.streams)-1]
	for _, sql := range w.states(setting) {
		if err := s.send([]byte(sql)); err != nil {
			return nil, err
		}
		if _, err := s.readHead(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// exec runs a statement without rows on g.
func (w *rowWriter) exec(g placement.NodeGroupID, sql []byte) (wire.OK, error) {
	s, err := w.on(g, true)
	if err != nil {
		return wire.OK{}, err
	}
	s.binary = false
	return w.run(s, wire.ComQuery, sql, nil)
}

// execOpen is exec of a text with parameters of the client's statement, whose RETURNING, if it has one, gives rows to held.
func (w *rowWriter) execOpen(g placement.NodeGroupID, text textOf, held *Held) (wire.OK, error) {
	s, err := w.on(g, true)
	if err != nil {
		return wire.OK{}, err
	}
	hidden := w.hidden
	w.hidden = nil // the row is named
	cmd, err := w.opened(s, text)
	w.hidden = hidden
	if err != nil {
		w.failed = g
		return wire.OK{}, err
	}
	return w.run(s, cmd, w.body, held)
}

// opened is Runner.command with the statement's parameters left open.
func (w *rowWriter) opened(s *stream, text textOf) (wire.Command, error) {
	w.open = w.args
	defer func() { w.open = nil }()
	return w.command(s, text)
}

// run is what exec and its like have in common; a result is for held, if that is not nil.
func (w *rowWriter) run(s *stream, cmd wire.Command, body []byte, held *Held) (wire.OK, error) {
	g := s.group
	if err := s.sendCommand(cmd, body); err != nil {
		return wire.OK{}, err
	}
	head, err := s.readHead()
	if err != nil {
		w.failed = g
		return wire.OK{}, err
	}
	if head.OK == nil && held != nil {
		rows, warnings := len(held.rows), s.warnings
		err := s.copyTo(head.Columns, held)
		return wire.OK{AffectedRows: uint64(len(held.rows) - rows), Warnings: clampWarnings(s.warnings - warnings)}, err
	}
	if head.OK == nil {
		return wire.OK{}, s.breakOff(sqlerr.Internal.New(groupName(g) + " answered a write with rows"))
	}
	ok := *head.OK
	ok.Info = append([]byte(nil), head.OK.Info...)
	return ok, nil
}

// rowsOf is the result of query.
type rowsOf struct {
	columns  []sqltypes.Column
	rows     [][][]byte
	warnings uint
}

// query runs a SELECT on g, which does not see rows that are not the group's.
func (w *rowWriter) query(g placement.NodeGroupID, sql []byte) (out rowsOf, err error) {
	if w.hidden != nil {
		if sql, err = w.hide(sql, w.hidden, g); err != nil {
			return out, err
		}
	}
	s, err := w.on(g, false)
	if err != nil {
		return out, err
	}
	if out, err = w.rowsFrom(s, sql); err != nil {
		w.failed = g
	}
	return out, err
}

// queryOpen is query of a text with parameters of the client's statement.
func (w *rowWriter) queryOpen(g placement.NodeGroupID, text textOf) (out rowsOf, err error) {
	s, err := w.on(g, false)
	if err != nil {
		return out, err
	}
	cmd, err := w.opened(s, text)
	if err == nil {
		out, err = w.allRows(s, cmd, w.body)
	}
	if err != nil {
		w.failed = g
	}
	return out, err
}

// rowsFrom runs a SELECT on a stream and reads all of its rows.
func (r *Runner) rowsFrom(s *stream, sql []byte) (out rowsOf, err error) {
	s.binary = false
	return r.allRows(s, wire.ComQuery, sql)
}

func (r *Runner) allRows(s *stream, cmd wire.Command, body []byte) (out rowsOf, err error) {
	if err := s.answered(); err != nil {
		return out, err
	}
	if err := s.sendCommand(cmd, body); err != nil {
		return out, err
	}
	warnings := s.warnings
	head, err := s.readHead()
	if err != nil {
		return out, err
	}
	if head.OK != nil {
		return out, s.breakOff(sqlerr.Internal.New(groupName(s.group) + " answered a SELECT without rows"))
	}
	out.columns = append(out.columns, head.Columns...)
	for {
		payload, err := s.Next()
		if err == io.EOF {
			out.warnings = s.warnings - warnings
			return out, nil
		}
		if err != nil {
			return out, err
		}
		row, err := wire.ParseTextRow(append([]byte(nil), payload...), make([][]byte, 0, len(out.columns)))
		if err != nil {
			return out, err
		}
		if out.rows = append(out.rows, row); len(out.rows) > maxProgramRows {
			return out, tooManyRows()
		}
	}
}

func tooManyRows() error {
	return sqlerr.Unsupported("changing more than "+strconv.Itoa(maxProgramRows)+" rows at once with a statement that moves rows or maintains a global index",
		"change them in parts, with conditions or LIMIT")
}

// warn takes over the warnings of the statement that ran last on g, numbering its only row as row.
func (w *rowWriter) warn(g placement.NodeGroupID, ok wire.OK, row int) error {
	if ok.Warnings == 0 {
		return nil
	}
	w.warnings += uint(ok.Warnings)
	list, err := w.query(g, []byte("SHOW WARNINGS"))
	if err != nil {
		return err
	}
	before := len(w.Warned)
	w.Warned = diagnostics.AppendRows(w.Warned, list.rows, maxWarned)
	for i := range w.Warned[before:] {
		c := &w.Warned[before+i]
		c.Message = atRow(c.Message, row)
	}
	return nil
}

// warningsOf are the warnings of the query that s has read to its end.
func (w *rowWriter) warningsOf(s *stream) (out []diagnostics.Condition, err error) {
	list, err := w.rowsFrom(s, []byte("SHOW WARNINGS"))
	return diagnostics.AppendRows(nil, list.rows, math.MaxInt), err
}
