package wire

import (
	"bytes"
	"testing"

	"skarv/pkg/sqltypes"
)

// Whatever arrives in whatever pieces: the scanner learns the same, keeps little, and uses no byte behind the end.
func FuzzResultScanner(f *testing.F) {
	for _, caps := range []Capability{0, CapDeprecateEOF} {
		for _, c := range scannerCases() {
			sc := &script{caps: caps, seq: 1}
			c.answer(sc)
			f.Add(sc.b, byte(c.command), uint64(sc.caps), 3)
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, command byte, caps uint64, piece int) {
		var whole, parts ResultScanner
		whole.Reset(Command(command), Capability(caps))
		parts.Reset(Command(command), Capability(caps))
		used, done, err := whole.Feed(stream)
		if used > len(stream) || !done && err == nil && used != len(stream) {
			t.Fatal(used, len(stream), done)
		}
		piece = min(max(piece, 1), 1000)
		fed := 0
		var n int
		var d bool
		var e error
		for !d && e == nil && fed < len(stream) {
			n, d, e = parts.Feed(stream[fed:min(fed+piece, len(stream))])
			fed += n
		}
		if len(stream) > 0 && (d != done || (e == nil) != (err == nil)) {
			t.Fatal(d, done, e, err)
		}
		if err == nil && (fed != used || *whole.Summary() != *parts.Summary() || whole.Boundary() != parts.Boundary()) {
			t.Fatal(fed, used, whole.Summary(), parts.Summary())
		}
		if cap(parts.partial) > 3*scanPrefix {
			t.Fatal(cap(parts.partial))
		}
	})
}

func FuzzParsePackets(f *testing.F) {
	f.Add([]byte("\x00\x01\xfc\x2c\x01\x02\x40\x05\x00\x02ab\x03\x00\x01x"), uint64(CapSessionTrack))
	f.Add(AppendColumn(nil, &sqltypes.Column{Name: "n", Schema: "s"}, 0), uint64(0))
	f.Add(AppendTextRow(nil, [][]byte{nil, []byte("x")}), uint64(0))
	f.Add(AppendPrepareOK(nil, PrepareOK{ID: 1}), uint64(0))
	f.Add([]byte("\xff\x10\x04#08004text"), uint64(0))
	f.Fuzz(func(t *testing.T, payload []byte, c uint64) {
		caps := Capability(c)
		if ok, err := ParseOK(payload, caps); err == nil {
			again, err := ParseOK(AppendOK(nil, ok, caps, OKHeader), caps)
			if err != nil || again.AffectedRows != ok.AffectedRows || !bytes.Equal(again.Info, ok.Info) {
				t.Fatal(ok, again, err)
			}
			for rest := ok.SessionState; len(rest) > 0 && err == nil; {
				var change SessionChange
				change, rest, err = NextSessionChange(rest)
				change.Text()
				for name, _, more := change.Variable(); name != nil; name, _, more = more.Variable() {
				}
			}
		}
		if e, err := ParseErr(payload); err == nil {
			_ = e.Error()
		}
		if IsEOF(payload, caps) {
			_, _ = ParseEnd(payload, caps)
		}
		if col, err := ParseColumn(payload, caps); err == nil {
			again, err := ParseColumn(AppendColumn(nil, &col, caps), caps)
			if err != nil || again != col {
				t.Fatal(col, again, err)
			}
		}
		if fields, err := ParseTextRow(payload, nil); err == nil {
			again, err := ParseTextRow(AppendTextRow(nil, fields), nil)
			if err != nil || len(again) != len(fields) {
				t.Fatal(err)
			}
		}
		_, _ = ParsePrepareOK(payload)
	})
}

func FuzzParams(f *testing.F) {
	cases := paramCases()
	f.Add(executePayload(cases, true), len(cases))
	f.Add(executePayload(cases[:1], true), 1)
	f.Fuzz(func(t *testing.T, payload []byte, n int) {
		if n < 0 || n > 1<<16 {
			return
		}
		var p Params
		if p.Parse(payload, n, nil, nil) != nil {
			return
		}
		for i := range p.Len() {
			p.Value(i)
			p.AppendSQL(nil, i, i%2 == 0, false)
		}
	})
}

func FuzzBinaryRow(f *testing.F) {
	f.Add([]byte("\x00\x00\x05\x04\xe8\x07\x02\x1d"), []byte{byte(sqltypes.TypeTiny), byte(sqltypes.TypeDate)})
	f.Fuzz(func(t *testing.T, payload, types []byte) {
		cols := make([]sqltypes.Column, len(types))
		for i, ty := range types {
			cols[i] = sqltypes.Column{Type: sqltypes.Type(ty), Decimals: ty, Flags: uint16(ty), Length: uint32(ty)}
		}
		fields, _, err := ParseBinaryRow(payload, cols, nil, nil)
		if err != nil {
			return
		}
		if len(fields) != len(cols) {
			t.Fatal(len(fields), len(cols))
		}
		_, _ = AppendBinaryRow(nil, cols, fields)
	})
}

func FuzzAppendBinaryRow(f *testing.F) {
	f.Add([]byte("2024-02-29 01:02:03.5"), byte(sqltypes.TypeDatetime), uint16(0))
	f.Add([]byte("-838:59:59"), byte(sqltypes.TypeTime), uint16(0))
	f.Add([]byte("1e10"), byte(sqltypes.TypeDouble), uint16(0))
	f.Fuzz(func(t *testing.T, text []byte, ty byte, flags uint16) {
		cols := []sqltypes.Column{{Type: sqltypes.Type(ty), Flags: flags &^ sqltypes.FlagZerofill, Decimals: 6}}
		payload, err := AppendBinaryRow(nil, cols, [][]byte{text})
		if err != nil || !known(cols[0].Type) {
			return
		}
		if _, _, err := ParseBinaryRow(payload, cols, nil, nil); err != nil {
			t.Fatal(err)
		}
	})
}

// known reports whether t is a type a column can have.
func known(t sqltypes.Type) bool {
	c := cursor{b: make([]byte, 16)}
	_, err := binaryValue(&c, t)
	return err == nil
}
