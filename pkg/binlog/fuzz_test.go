package binlog

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

// FuzzEvents: whatever a server sends, a Stream answers with transactions or an error.
func FuzzEvents(f *testing.F) {
	tableMap := []byte{18, 0, 0, 0, 0, 0, 1, 0, 1, 'b', 0, 1, 't', 0, 2, 3, 252, 1, 2, 2, 1, 1, 0, 4, 5, 2, 'i', 'd', 1, 'v'}
	rows := []byte{18, 0, 0, 0, 0, 0, 1, 0, 2, 0, 2, 0xff, 0, 7, 0, 0, 0, 3, 0, 'a', 'b', 'c'}
	gtid := append(make([]byte, 17), 1, 0, 0, 0, 0, 0, 0, 0)
	f.Add(byte(writeRowsV2), tableMap, rows)
	f.Add(byte(queryEvent), tableMap, append(make([]byte, 14), "XA COMMIT X'61',X'',1"...))
	f.Add(byte(xaPrepareEvent), tableMap, []byte{0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 'a'})
	f.Add(byte(payloadEvent), tableMap, []byte{2, 1, 255, 0})
	f.Add(byte(mariaWriteV1), tableMap, append(rows[:12:12], 0x81, 3, 0x78, 0x9c))
	f.Fuzz(func(t *testing.T, kind byte, describe, body []byte) {
		for _, flavor := range []catalog.Flavor{catalog.MySQL, catalog.MariaDB} {
			s := &Stream{cfg: Config{Flavor: flavor, MaxBuffer: 1 << 20}, tables: map[uint64]mapped{}, branches: map[XID]*branch{}}
			s.after.flavor = flavor
			for _, e := range []event{{kind: gtidEvent, body: gtid}, {kind: tableMapEvent, body: describe}, {kind: kind, body: body}, {kind: xidEvent}} {
				if _, err := s.take(e); err != nil {
					return
				}
				for len(s.queue) > 0 {
					inner := s.queue[0]
					s.queue = s.queue[1:]
					if _, err := s.take(inner); err != nil {
						return
					}
				}
			}
		}
	})
}

// FuzzValues: every type reads any bytes without harm.
func FuzzValues(f *testing.F) {
	f.Add(byte(245), uint16(4), []byte{9, 0, 0, 0, 0, 1, 0, 8, 0, 11, 0, 1, 0, 12, 'a'})
	f.Add(byte(246), uint16(10<<8|2), []byte{0x80, 0, 0, 1, 50})
	f.Add(byte(19), uint16(6), []byte{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add(byte(254), uint16(200), []byte{3, 'a', 'b', 'c'})
	f.Fuzz(func(t *testing.T, kind byte, meta uint16, b []byte) {
		col := Column{Type: kind, meta: meta, Collation: binaryCollation}
		c := cursor{b: b}
		_, _ = col.appendValue(nil, &c)
	})
}

func FuzzPosition(f *testing.F) {
	f.Add("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7:10-20,4e11fa47-71ca-11e1-9e33-c80aa9429562:3", uint64(6))
	f.Add("1-2-3,4-5-6", uint64(9))
	f.Fuzz(func(t *testing.T, text string, n uint64) {
		for _, flavor := range []catalog.Flavor{catalog.MySQL, catalog.MariaDB} {
			p, err := ParsePosition(flavor, text)
			if err != nil {
				continue
			}
			again, err := ParsePosition(flavor, p.String())
			require.NoError(t, err)
			require.Equal(t, p, again)
			g := GTID{Seq: max(n>>1, 1)}
			if flavor == catalog.MySQL {
				g.Source[0] = 1
				require.False(t, p.With(g).Without(g).Contains(g))
			}
			require.True(t, p.With(g).Contains(g))
			require.Equal(t, p.String(), p.With(g).Intersect(p).String())
		}
	})
}

func TestPositions(t *testing.T) {
	const id = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
	p, err := ParsePosition(catalog.MySQL, id+":1-5:\n7")
	require.NoError(t, err)
	g := p.sources[0].id
	with := func(n uint64) GTID { return GTID{Source: g, Seq: n} }
	require.Equal(t, id+":1-7", p.With(with(6)).String())
	require.Equal(t, id+":1-5:7", p.String(), "a position does not change")
	require.Equal(t, id+":1-2:4-5:7", p.Without(with(3)).String())
	require.Equal(t, id+":1-5", p.Without(with(7)).String())
	q, err := ParsePosition(catalog.MySQL, id+":3-6,4e11fa47-71ca-11e1-9e33-c80aa9429562:1")
	require.NoError(t, err)
	require.Equal(t, id+":3-5", p.Intersect(q).String())
	require.Equal(t, id+":7", with(7).String())
	for _, bad := range []string{"x", id, id + ":0", id + ":5-4", id + ":tag:1", "1-2"} {
		_, err := ParsePosition(catalog.MySQL, bad)
		require.Error(t, err, bad)
	}
	encoded := p.encode()
	require.Equal(t, uint64(8), binary.LittleEndian.Uint64(encoded[len(encoded)-8:]), "the end of a range is behind it")
	m, err := ParsePosition(catalog.MariaDB, "2-1-5,0-9-100")
	require.NoError(t, err)
	require.Equal(t, "0-9-100,2-1-5", m.String())
	require.True(t, m.Contains(GTID{Domain: 2, Server: 7, Seq: 4}))
	require.False(t, m.Contains(GTID{Domain: 1, Seq: 1}))
	require.Equal(t, "0-9-100,2-3-6", m.With(GTID{Domain: 2, Server: 3, Seq: 6}).String())
	n, err := ParsePosition(catalog.MariaDB, "2-1-4")
	require.NoError(t, err)
	require.Equal(t, "2-1-4", m.Intersect(n).String())
}
