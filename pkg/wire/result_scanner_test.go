package wire

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// script writes an answer packet by packet.
type script struct {
	caps Capability
	seq  byte
	b    []byte
}

func (s *script) packet(payload []byte) *script {
	s.b = AppendPacket(s.b, &s.seq, payload)
	return s
}

func (s *script) ok(ok OK) *script { return s.packet(AppendOK(nil, ok, s.caps, OKHeader)) }

func (s *script) err(e *sqlerr.Error) *script { return s.packet(AppendErr(nil, e)) }

func (s *script) columns(n int) *script {
	for range n {
		s.packet(AppendColumn(nil, &sqltypes.Column{Name: "c"}, s.caps))
	}
	return s.eof(0, n)
}

// eof writes what ends n definitions, if anything.
func (s *script) eof(status Status, n int) *script {
	if !s.caps.Has(CapDeprecateEOF) && n > 0 {
		s.packet(AppendEOF(nil, EOF{Status: status}))
	}
	return s
}

func (s *script) head(columns int) *script {
	return s.packet(AppendColumnCount(nil, columns)).columns(columns)
}

func (s *script) rows(n int) *script {
	for i := range n {
		s.packet(AppendTextRow(nil, [][]byte{fmt.Append(nil, i), nil}))
	}
	return s
}

func (s *script) end(status Status) *script {
	return s.packet(AppendEnd(nil, OK{Status: status, Warnings: 1}, s.caps))
}

type scannerCase struct {
	name    string
	command Command
	answer  func(s *script)
	want    ResultSummary
}

func scannerCases() []scannerCase {
	return []scannerCase{
		{"ok", ComQuery, func(s *script) {
			s.ok(OK{AffectedRows: 3, LastInsertID: 9, Status: StatusInTrans, Info: []byte("info")})
		},
			ResultSummary{Results: 1, AffectedRows: 3, LastInsertID: 9, Status: StatusInTrans}},
		{"err", ComQuery, func(s *script) { s.err(sqlerr.LockDeadlock.New()) },
			ResultSummary{ErrCode: sqlerr.LockDeadlock, ErrState: [5]byte([]byte("40001"))}},
		{"rows", ComQuery, func(s *script) { s.head(2).rows(20).end(StatusAutocommit) },
			ResultSummary{Results: 1, Rows: 20, Columns: 2, Status: StatusAutocommit, Warnings: 1}},
		{"no rows", ComStmtExecute, func(s *script) { s.head(300).end(StatusAutocommit) },
			ResultSummary{Results: 1, Columns: 300, Status: StatusAutocommit, Warnings: 1}},
		{"err among rows", ComQuery, func(s *script) { s.head(2).rows(3).err(sqlerr.QueryInterrupted.New()) },
			ResultSummary{Results: 1, Rows: 3, Columns: 2, ErrCode: sqlerr.QueryInterrupted, ErrState: [5]byte([]byte("70100"))}},
		{"err among columns", ComQuery, func(s *script) { s.packet([]byte{3}).err(sqlerr.QueryInterrupted.New()) },
			ResultSummary{Results: 1, Columns: 3, ErrCode: sqlerr.QueryInterrupted, ErrState: [5]byte([]byte("70100"))}},
		{"several results", ComQuery, func(s *script) {
			s.head(1).rows(2).end(StatusMoreResults).ok(OK{AffectedRows: 1, Status: StatusMoreResults}).head(2).rows(1).end(0)
		}, ResultSummary{Results: 3, Rows: 3, Columns: 2, Warnings: 1}},
		{"cursor", ComStmtExecute, func(s *script) {
			s.packet([]byte{1}).packet(AppendColumn(nil, &sqltypes.Column{}, 0))
			s.packet(AppendEnd(nil, OK{Status: StatusCursorExists, Warnings: 1}, s.caps))
		}, ResultSummary{Results: 1, Columns: 1, Status: StatusCursorExists, Warnings: 1}},
		{"fetch", ComStmtFetch, func(s *script) { s.rows(5).end(StatusLastRowSent) },
			ResultSummary{Rows: 5, Status: StatusLastRowSent, Warnings: 1}},
		{"prepare", ComStmtPrepare, func(s *script) {
			s.packet(AppendPrepareOK(nil, PrepareOK{ID: 77, Columns: 3, Params: 2, Warnings: 4})).columns(2).columns(3)
		}, ResultSummary{Results: 1, Statement: 77, Columns: 3, Params: 2, Warnings: 4}},
		{"prepare without columns", ComStmtPrepare, func(s *script) {
			s.packet(AppendPrepareOK(nil, PrepareOK{ID: 77, Params: 1})).columns(1)
		}, ResultSummary{Results: 1, Statement: 77, Params: 1}},
		{"prepare without anything", ComStmtPrepare, func(s *script) { s.packet(AppendPrepareOK(nil, PrepareOK{ID: 77})) },
			ResultSummary{Results: 1, Statement: 77}},
		{"field list", ComFieldList, func(s *script) {
			s.packet(AppendColumn(nil, &sqltypes.Column{}, 0)).packet(AppendColumn(nil, &sqltypes.Column{}, 0)).end(0)
		}, ResultSummary{Columns: 2, Warnings: 1}},
		{"statistics", ComStatistics, func(s *script) { s.packet([]byte("Uptime: 5")) }, ResultSummary{}},
		{"no statistics", ComStatistics, func(s *script) { s.packet(nil) }, ResultSummary{}},
		{"set option", ComSetOption, func(s *script) { s.packet(AppendEOF(nil, EOF{Status: StatusAutocommit})) },
			ResultSummary{Status: StatusAutocommit}},
		{"much session state", ComQuery, func(s *script) {
			s.caps |= CapSessionTrack
			s.ok(OK{AffectedRows: 2, SessionState: AppendSessionVariable(nil, "v", string(make([]byte, 3*scanPrefix)))})
		}, ResultSummary{Results: 1, AffectedRows: 2, Status: StatusSessionStateChanged}},
	}
}

func TestResultScanner(t *testing.T) {
	var s ResultScanner // one for all: Reset must forget everything
	for _, caps := range []Capability{0, CapDeprecateEOF} {
		for _, c := range scannerCases() {
			t.Run(fmt.Sprintf("%s/%d", c.name, caps), func(t *testing.T) {
				sc := &script{caps: caps, seq: 1}
				c.answer(sc)
				c.want.Bytes = uint64(len(sc.b))
				c.want.NextSeq = sc.seq
				for piece := 1; piece <= len(sc.b); piece += 1 + piece/8 {
					s.Reset(c.command, sc.caps)
					s.Expect(1)
					// What follows the answer is none of its bytes.
					stream := append(append([]byte(nil), sc.b...), "next"...)
					fed := 0
					for done := false; !done; {
						n := min(piece, len(stream)-fed)
						var used int
						var err error
						used, done, err = s.Feed(stream[fed : fed+n])
						require.NoError(t, err)
						fed += used
						if !done {
							require.Equal(t, n, used)
							require.Less(t, fed, len(sc.b), "the answer has ended")
						}
					}
					require.Equal(t, len(sc.b), fed)
					require.Equal(t, c.want, *s.Summary())
					require.True(t, s.Boundary())
				}
			})
		}
	}
}

func TestResultScannerFile(t *testing.T) {
	for _, piece := range []int{1, 3, 100} {
		var s ResultScanner
		s.Reset(ComQuery, 0)
		sc := (&script{seq: 1}).packet([]byte("\xfb/some/file"))
		feed := func(b []byte) (done bool) {
			for len(b) > 0 {
				used, d, err := s.Feed(b[:min(piece, len(b))])
				require.NoError(t, err)
				b, done = b[used:], d
			}
			return done
		}
		require.True(t, feed(sc.b))
		require.True(t, s.Summary().LocalInfile)
		require.Equal(t, "/some/file", s.Summary().FileName)
	}
}

// A row of several packets is one row, wherever its bytes break.
func TestResultScannerHugeRows(t *testing.T) {
	for _, caps := range []Capability{0, CapDeprecateEOF} {
		for _, n := range []int{MaxPacket - 1, MaxPacket, MaxPacket + 1} {
			row := bytes.Repeat([]byte{EOFHeader}, n) // looks like an end, but is too long for one
			if n < MaxPacket {
				row[0] = 0xfd
			}
			sc := (&script{caps: caps, seq: 1}).head(1).packet(row).rows(1).end(0)
			var s ResultScanner
			s.Reset(ComQuery, caps)
			var used int
			var done bool
			var err error
			for b := sc.b; len(b) > 0; b = b[used:] {
				used, done, err = s.Feed(b[:min(len(b), 1<<20-7)])
				require.NoError(t, err)
			}
			require.True(t, done)
			require.EqualValues(t, 2, s.Summary().Rows)
		}
	}
}

func TestResultScannerRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		command Command
		answer  string
	}{
		"sequence":        {ComQuery, "\x01\x00\x00\x01\x01\x01\x00\x00\x03x"},
		"empty":           {ComQuery, "\x00\x00\x00\x01"},
		"no columns":      {ComQuery, "\x03\x00\x00\x01\xfc\x00\x00"},
		"many columns":    {ComQuery, "\x04\x00\x00\x01\xfd\xff\xff\xff"},
		"endless head":    {ComQuery, "\xff\xff\x00\x01\x05"},
		"short OK":        {ComPing, "\x03\x00\x00\x01\x00\x00\x00"},
		"short ERR":       {ComQuery, "\x02\x00\x00\x01\xff\x00"},
		"no OK":           {ComPing, "\x01\x00\x00\x01\x05"},
		"prepare":         {ComStmtPrepare, "\x02\x00\x00\x01\x00\x00"},
		"row without any": {ComStmtFetch, "\x00\x00\x00\x01"},
	} {
		t.Run(name, func(t *testing.T) {
			var s ResultScanner
			s.Reset(c.command, 0)
			_, done, err := s.Feed([]byte(c.answer))
			require.False(t, done)
			require.True(t, sqlerr.HasCode(err, sqlerr.MalformedPacket), err)
		})
	}
	var s ResultScanner
	s.Reset(ComStmtClose, 0)
	used, done, err := s.Feed(nil)
	require.NoError(t, err)
	require.True(t, done)
	require.Zero(t, used)
}

func TestResultScannerNoAllocations(t *testing.T) {
	sc := (&script{seq: 1}).head(3).rows(50).end(0)
	var s ResultScanner
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s.Reset(ComQuery, 0)
		half := len(sc.b) - 3 // inside the last packet
		if _, _, err := s.Feed(sc.b[:half]); err != nil {
			t.Error(err)
		}
		if _, done, err := s.Feed(sc.b[half:]); err != nil || !done {
			t.Error(err)
		}
	}))
}

func BenchmarkResultScanner(b *testing.B) {
	for name, rows := range map[string]int{"point": 1, "10000 rows": 10000} {
		sc := (&script{caps: CapDeprecateEOF, seq: 1}).head(1).rows(rows).end(0)
		b.Run(name, func(b *testing.B) {
			var s ResultScanner
			b.SetBytes(int64(len(sc.b)))
			for b.Loop() {
				s.Reset(ComQuery, CapDeprecateEOF)
				for rest := sc.b; len(rest) > 0; {
					used, _, err := s.Feed(rest[:min(len(rest), 16<<10)])
					if err != nil {
						b.Fatal(err)
					}
					rest = rest[used:]
				}
			}
		})
	}
}
