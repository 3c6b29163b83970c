package exec

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// answer is what a group says to a statement.
type answer struct {
	err     error // instead of a head
	ok      wire.OK
	columns []sqltypes.Column
	rows    []string // "1|a"
	rowErr  error    // after the rows
	more    bool     // another result follows
	warn    uint16
}

// cluster is node groups that answer as a function says. What happens is written to log.
type cluster struct {
	t      *testing.T
	answer func(g placement.NodeGroupID, sql string) answer
	// The functions below are nil for "fine".
	acquire  func(g placement.NodeGroupID) error
	begin    func() error
	end      func(err error) error
	evaluate func(sql string) ([]sqltypes.Column, [][]byte, error)
	warned   []diagnostics.Condition // by what is evaluated
	warnings uint16                  // how many, if it is more
	standing bool                    // the servers refuse to let time go on
	log      []string
	conns    map[placement.NodeGroupID]*fakeConn
}

func (c *cluster) note(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

func (c *cluster) Admit([]placement.NodeGroupID) error { return nil }

func (c *cluster) Acquire(g placement.NodeGroupID, write bool) (Conn, error) {
	if c.acquire != nil {
		if err := c.acquire(g); err != nil {
			return nil, err
		}
	}
	if c.conns == nil {
		c.conns = map[placement.NodeGroupID]*fakeConn{}
	}
	conn := &fakeConn{cluster: c, group: g}
	c.conns[g] = conn
	return conn, nil
}

func (c *cluster) Release(conn Conn, err error) {
	f := conn.(*fakeConn)
	if err == nil {
		require.Empty(c.t, f.queue, "group %d released with answers unread", f.group)
		require.False(c.t, f.reading, "group %d released with rows unread", f.group)
	}
	require.False(c.t, f.released)
	f.released = true
	c.note("release %d: %v", f.group, err)
}

func (c *cluster) Keep(conn Conn) { c.note("keep %d", conn.(*fakeConn).group) }

func (c *cluster) Enter(*Touched, bool) error { return nil }

func (c *cluster) BeginStatement(groups []placement.NodeGroupID) error {
	c.note("begin %v", groups)
	if c.begin != nil {
		return c.begin()
	}
	return nil
}

func (c *cluster) JoinStatement(g placement.NodeGroupID, write bool) error {
	c.note("join %d write %t", g, write)
	return nil
}

func (c *cluster) EndStatement(err error) error {
	for _, conn := range c.conns {
		require.True(c.t, conn.released)
	}
	c.note("end: %v", err)
	if c.end != nil {
		return c.end(err)
	}
	return err
}

func (c *cluster) Written() []placement.NodeGroupID { return nil }

func (c *cluster) Transaction() (open, copies bool) { return false, false }

func (c *cluster) Evaluate(sql, clock []byte) (Evaluated, error) {
	if clock != nil {
		c.note("clock %s", clock)
	}
	c.note("evaluate %s", strings.ReplaceAll(string(sql), "\n", ""))
	cols, row, err := c.evaluate(string(sql))
	return Evaluated{cols, row, max(c.warnings, uint16(len(c.warned))), c.warned}, err
}

// sent returns the statements the groups got.
func (c *cluster) sent() string {
	var out []string
	for _, l := range c.log {
		if l[0] >= '0' && l[0] <= '9' {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// fakeConn answers in order, from one buffer that every read spoils.
type fakeConn struct {
	cluster     *cluster
	group       placement.NodeGroupID
	queue       []answer
	now         answer
	reading     bool
	broken      bool
	released    bool
	interrupted bool
	buffer      []byte
	onRow       func()
}

var errIO = errors.New("connection reset by peer")

func (f *fakeConn) Send(cmd wire.Command, body []byte) error {
	require.Equal(f.cluster.t, wire.ComQuery, cmd)
	if f.broken || f.interrupted {
		return errIO
	}
	f.cluster.note("%d: %s", f.group, body)
	a := answer{}
	if !strings.HasPrefix(string(body), "SET timestamp") {
		a = f.cluster.answer(f.group, string(body))
	} else if f.cluster.standing && string(body) == "SET timestamp = DEFAULT" {
		a.err = sqlerr.QueryInterrupted.New()
	}
	f.queue = append(f.queue, a)
	return nil
}

func (f *fakeConn) Prepared([]byte, []wire.ParamType, int64) (uint32, error) {
	return 0, sqlerr.Internal.New("nothing is prepared here")
}

func (f *fakeConn) Ask(cmd wire.Command, body []byte) error { return f.Send(cmd, body) }

func (f *fakeConn) fail(err error) error {
	if _, ok := errors.AsType[*sqlerr.Error](err); !ok {
		f.broken = true
	}
	return err
}

func (f *fakeConn) ReadHead() (mysqlconn.Head, error) {
	require.False(f.cluster.t, f.reading)
	if f.broken || f.interrupted {
		return mysqlconn.Head{}, errIO
	}
	require.NotEmpty(f.cluster.t, f.queue, "nothing was asked")
	f.now, f.queue = f.queue[0], f.queue[1:]
	if f.now.err != nil {
		return mysqlconn.Head{}, f.fail(f.now.err)
	}
	if f.now.columns == nil {
		ok := f.now.ok
		return mysqlconn.Head{OK: &ok}, nil
	}
	f.reading = true
	return mysqlconn.Head{Columns: f.now.columns}, nil
}

func (f *fakeConn) ReadRow() ([]byte, error) {
	for i := range f.buffer {
		f.buffer[i] = 0xee
	}
	if f.onRow != nil {
		f.onRow()
	}
	switch {
	case f.broken || f.interrupted:
		return nil, errIO
	case !f.reading:
		return nil, io.EOF
	case len(f.now.rows) > 0:
		f.buffer = f.buffer[:0]
		for v := range strings.SplitSeq(f.now.rows[0], "|") {
			if v == "NULL" {
				f.buffer = wire.AppendTextValue(f.buffer, nil)
			} else {
				f.buffer = wire.AppendTextValue(f.buffer, append([]byte{}, v...))
			}
		}
		f.now.rows = f.now.rows[1:]
		return f.buffer, nil
	}
	f.reading = false
	if f.now.rowErr != nil {
		return nil, f.fail(f.now.rowErr)
	}
	return nil, io.EOF
}

func (f *fakeConn) MoreResults() bool  { return f.now.more }
func (f *fakeConn) EndStatus() wire.OK { return wire.OK{Warnings: f.now.warn} }
func (f *fakeConn) Broken() bool       { return f.broken || f.interrupted }
func (f *fakeConn) Usable() bool       { return !f.Broken() && len(f.queue) == 0 && !f.reading }
func (f *fakeConn) Interrupt()         { f.interrupted = true }

// result is a Sink that writes rows down.
type rowLog struct {
	columns []sqltypes.Column
	rows    []string
	fail    error
	onRow   func(n int)
}

func (s *rowLog) Columns(cols []sqltypes.Column) error {
	s.columns = cols
	return nil
}

func (s *rowLog) Row(payload []byte) error {
	fields, err := wire.ParseTextRow(payload, nil)
	if err != nil {
		return err
	}
	var out []string
	for _, f := range fields {
		if f == nil {
			out = append(out, "NULL")
		} else {
			out = append(out, string(f))
		}
	}
	s.rows = append(s.rows, strings.Join(out, "|"))
	if s.onRow != nil {
		s.onRow(len(s.rows))
	}
	return s.fail
}

// sequence gives out 101, 102, ...
type sequence struct {
	next     uint64
	observed []uint64
	asked    []int
}

func (s *sequence) Next(_ *catalog.Table, n int) (uint64, error) {
	s.asked = append(s.asked, n)
	first := s.next
	s.next += uint64(n)
	return first, nil
}

func (s *sequence) Observe(_ *catalog.Table, v uint64) error {
	s.observed = append(s.observed, v)
	s.next = max(s.next, v+1)
	return nil
}

func column(name string, t sqltypes.Type, flags uint16) sqltypes.Column {
	return sqltypes.Column{Name: name, Type: t, Flags: flags, Charset: 63}
}

// Result columns.
var (
	idColumn  = column("id", sqltypes.TypeLongLong, sqltypes.FlagNotNull)
	strColumn = sqltypes.Column{Name: "s", Type: sqltypes.TypeVarString, Charset: 45}
)

// world is three node groups, 1, 2 and 3, and tables.
type world struct {
	*cluster
	snap    *catalog.Snapshot
	t       *catalog.Table // t(id BIGINT), distributed by id
	pair    *catalog.Table // pair(a BIGINT, b VARCHAR), distributed by both
	runner  *Runner
	x       Execution
	dialect *sqlparse.Dialect
	seq     *sequence
	sink    *rowLog
	args    Arguments
}

func newWorld(t *testing.T) *world {
	m, err := placement.NewMap([]placement.NodeGroupID{1, 2, 3})
	require.NoError(t, err)
	w := &world{
		cluster: &cluster{t: t},
		snap: &catalog.Snapshot{
			Map:    m,
			Groups: []*catalog.NodeGroup{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}}, // 4 owns nothing yet
		},
		dialect: sqlparse.NewDialect(true, "10.11.6-MariaDB"),
		seq:     &sequence{next: 101},
		sink:    &rowLog{},
	}
	w.t = &catalog.Table{
		Database: "d", Name: "t", Kind: catalog.Sharded, Distribution: []int{0}, AutoIncrement: 0,
		Columns: []catalog.Column{{Name: "id", DataType: "bigint", ColumnType: "bigint(20)", Type: sqltypes.TypeLongLong}, {Name: "v"}},
	}
	require.NoError(t, w.t.Prepare(catalog.MariaDB))
	w.pair = &catalog.Table{
		Database: "d", Name: "pair", Kind: catalog.Sharded, Distribution: []int{0, 1}, AutoIncrement: -1,
		Columns: []catalog.Column{
			{Name: "a", DataType: "bigint", ColumnType: "bigint(20)"},
			{Name: "b", DataType: "varchar", ColumnType: "varchar(20)", Length: 20, Charset: "utf8mb4", Collation: "utf8mb4_general_ci"},
		},
	}
	require.NoError(t, w.pair.Prepare(catalog.MariaDB))
	w.x = Execution{Conns: w.cluster, Sequence: w.seq}
	w.runner = &Runner{Execution: w.x}
	return w
}

// scan makes sql the statement that runs.
func (w *world) scan(sql string) *Arguments {
	st := w.dialect.NewStatement()
	require.NoError(w.cluster.t, st.Scan([]byte(sql), 0))
	w.args.Reset(st, nil)
	return &w.args
}

func (w *world) run(p *plan.Plan, sql string) (Summary, error) {
	w.log, w.sink = nil, &rowLog{onRow: w.sink.onRow, fail: w.sink.fail}
	return w.runner.Run(w.x, p, w.snap, w.scan(sql), w.sink)
}

// rows answers every statement with the group's rows.
func (w *world) rows(columns []sqltypes.Column, rows map[placement.NodeGroupID][]string) {
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
		return answer{columns: columns, rows: rows[g]}
	}
}

// owner is the group of id.
func (w *world) owner(id string) placement.NodeGroupID {
	p, _, m := w.t.Key.Partition(nil, []sqltypes.Value{{Kind: sqltypes.Int, Raw: []byte(id)}}, placement.Compare)
	require.Equal(w.cluster.t, placement.Exact, m)
	return w.snap.Map.Owner(p)
}

// allGroups is a fragment of the client's own text for all groups.
func allGroups() *plan.Fragment { return &plan.Fragment{Target: plan.Target{Kind: plan.AllGroups}} }
