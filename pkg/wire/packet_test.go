package wire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

func TestPacketFraming(t *testing.T) {
	for _, n := range []int{0, 1, MaxPacket - 1, MaxPacket, MaxPacket + 1, 2 * MaxPacket} {
		payload := bytes.Repeat([]byte{'p'}, n)
		seq := byte(255)
		packets := AppendPacket([]byte("before"), &seq, payload)
		require.Equal(t, "before", string(packets[:6]))
		var got []byte
		next := byte(255)
		length := MaxPacket
		for rest := packets[6:]; len(rest) > 0; {
			require.Equal(t, MaxPacket, length, "only full packets go on")
			var s byte
			length, s = Header(rest)
			require.Equal(t, next, s)
			next++
			got = append(got, rest[HeaderLen:HeaderLen+length]...)
			rest = rest[HeaderLen+length:]
		}
		require.Less(t, length, MaxPacket)
		require.Equal(t, next, seq)
		require.True(t, bytes.Equal(payload, got))

		inPlace, start := BeginPacket([]byte("before"))
		seq = 255
		require.True(t, bytes.Equal(packets, EndPacket(append(inPlace, payload...), start, &seq)))
		require.Equal(t, next, seq)
	}
}

func TestCommand(t *testing.T) {
	var seq byte
	want := AppendPacket([]byte("before"), &seq, []byte("\x03SELECT 1"))
	require.Equal(t, want, AppendCommand([]byte("before"), ComQuery, []byte("SELECT 1")))
}

func TestLenenc(t *testing.T) {
	for _, n := range []uint64{0, 1, 250, 251, 255, 1<<16 - 1, 1 << 16, 1<<24 - 1, 1 << 24, 1 << 32, 1<<64 - 1} {
		b := AppendLenencInt(nil, n)
		got, size := LenencInt(b)
		require.Equal(t, n, got)
		require.Equal(t, len(b), size)
		if n < 1<<40 {
			require.Equal(t, len(b), lenencLen(int(n)))
		}
		_, size = LenencInt(b[:len(b)-1])
		require.Zero(t, size)
	}
	for _, bad := range []string{"", "\xfb", "\xff\x00\x00", "\x05abcd", "\xfe\xff\xff\xff\xff\xff\xff\xff\xffabc"} {
		_, size := LenencString([]byte(bad))
		require.Zero(t, size, bad)
	}
}

func TestOK(t *testing.T) {
	state := AppendSessionText(AppendSessionVariable(nil, "autocommit", "OFF"), ChangeSchema, "db")
	for name, c := range map[string]struct {
		ok   OK
		caps Capability
		want string
	}{
		"plain": {OK{AffectedRows: 1, LastInsertID: 300, Status: StatusAutocommit, Warnings: 5}, 0, "\x00\x01\xfc\x2c\x01\x02\x00\x05\x00"},
		"info":  {OK{Info: []byte("Rows matched: 1")}, 0, "\x00\x00\x00\x00\x00\x00\x00\x0fRows matched: 1"},
		"state": {OK{Status: StatusAutocommit, SessionState: state}, CapSessionTrack,
			"\x00\x00\x00\x02\x40\x00\x00\x00\x16\x00\x0f\x0aautocommit\x03OFF\x01\x03\x02db"},
		"state not wanted": {OK{Status: StatusAutocommit, SessionState: state}, 0, "\x00\x00\x00\x02\x00\x00\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			payload := AppendOK(nil, c.ok, c.caps, OKHeader)
			require.Equal(t, c.want, string(payload))
			got, err := ParseOK(payload, c.caps)
			require.NoError(t, err)
			require.Equal(t, payload, AppendOK(nil, got, c.caps, OKHeader))
			for i := range payload {
				ParseOK(payload[:i], c.caps) // no panic
			}
		})
	}
	ok, err := ParseOK([]byte("\x00\x00\x00\x02\x00\x00\x00text without its length"), 0)
	require.NoError(t, err)
	require.Equal(t, "text without its length", string(ok.Info))
	for _, bad := range []string{"", "\x00", "\x00\x00\x00\x02", "\x01\x00\x00\x02\x00\x00\x00"} {
		_, err := ParseOK([]byte(bad), 0)
		require.True(t, sqlerr.HasCode(err, sqlerr.MalformedPacket), bad)
	}
}

func TestSessionChanges(t *testing.T) {
	state := AppendSessionVariable(nil, "sql_mode", "")
	state = AppendSessionText(state, ChangeGTIDs, "a:1-5")
	state = AppendSessionText(state, ChangeSchema, "")
	// MariaDB: two variables in one entry.
	state = append(state, 0, 10, 1, 'a', 1, '1', 1, 'b', 3, 't', 'w', 'o')
	var got []string
	for len(state) > 0 {
		var c SessionChange
		var err error
		c, state, err = NextSessionChange(state)
		require.NoError(t, err)
		if c.Type != ChangeVariable {
			got = append(got, string(c.Text()))
			continue
		}
		for name, value, rest := c.Variable(); name != nil; name, value, rest = rest.Variable() {
			got = append(got, string(name)+"="+string(value))
		}
	}
	require.Equal(t, []string{"sql_mode=", "a:1-5", "", "a=1", "b=two"}, got)
	_, _, err := NextSessionChange([]byte{0, 5, 1})
	require.Error(t, err)
}

func TestErrAndEOF(t *testing.T) {
	e := sqlerr.NoSuchTable.New("d", "t")
	got, err := ParseErr(AppendErr(nil, e))
	require.NoError(t, err)
	require.Equal(t, e, got)
	got, err = ParseErr([]byte("\xff\x10\x04Too many connections"))
	require.NoError(t, err)
	require.Equal(t, &sqlerr.Error{Code: 1040, State: "HY000", Message: "Too many connections"}, got)
	_, err = ParseErr([]byte("\xff\x10"))
	require.Error(t, err)

	eof := EOF{Warnings: 3, Status: StatusMoreResults}
	payload := AppendEOF(nil, eof)
	back, err := ParseEOF(payload)
	require.NoError(t, err)
	require.Equal(t, eof, back)
	require.True(t, IsEOF(payload, 0))
	require.False(t, IsEOF(append(payload, "row of 0xfe.."...), 0))
	require.False(t, IsEOF(nil, 0))
	for _, caps := range []Capability{0, CapDeprecateEOF} {
		end := AppendEnd(nil, OK{Status: StatusInTrans, Warnings: 2}, caps)
		require.True(t, IsEOF(end, caps))
		ok, err := ParseEnd(end, caps)
		require.NoError(t, err)
		require.Equal(t, OK{Status: StatusInTrans, Warnings: 2}, ok)
	}
}

func TestColumn(t *testing.T) {
	col := sqltypes.Column{Schema: "s", Table: "t", OrgTable: "ot", Name: "näme", Charset: 45, Length: 1 << 31, Type: sqltypes.TypeJSON,
		Flags: sqltypes.FlagSet, Decimals: 31}
	for _, caps := range []Capability{0, CapMariaExtendedTypes} {
		if caps != 0 {
			col.Extended = "\x01\x04json"
		}
		payload := AppendColumn(nil, &col, caps)
		got, err := ParseColumn(payload, caps)
		require.NoError(t, err)
		require.Equal(t, col, got)
		for i := range len(payload) - 2 { // the last two bytes say nothing
			_, err := ParseColumn(payload[:i], caps)
			require.Error(t, err)
		}
	}
}

func TestTextRow(t *testing.T) {
	fields := [][]byte{[]byte("a"), nil, {}, bytes.Repeat([]byte("x"), 300)}
	payload := AppendTextRow(nil, fields)
	got, err := ParseTextRow(payload, make([][]byte, 9))
	require.NoError(t, err)
	require.Equal(t, fields, got)
	_, err = ParseTextRow(payload[:len(payload)-1], nil)
	require.Error(t, err)
	_, err = ParseTextRow([]byte{0xff}, nil)
	require.Error(t, err)
}
