package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
)

// memConn is a net.Conn over memory.
type memConn struct {
	net.Conn
	bytes.Buffer
}

func (m *memConn) Read(p []byte) (int, error)  { return m.Buffer.Read(p) }
func (m *memConn) Write(p []byte) (int, error) { return m.Buffer.Write(p) }

func compressed(z *Compression, nc net.Conn, level int) *CompressedConn {
	if level == 0 {
		return z.Zlib(nc)
	}
	return z.Zstd(nc, level)
}

func TestCompressionRoundTrip(t *testing.T) {
	z := NewCompression()
	noise := make([]byte, 300_000)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	for _, level := range []int{0, 1, 3, 22, 99} {
		for range 3 { // with used compressors too
			m := &memConn{}
			c := compressed(z, m, level)
			var want []byte
			for _, p := range [][]byte{[]byte("short"), bytes.Repeat([]byte("long "), 100_000), noise, nil, []byte("x")} {
				n, err := c.Write(p)
				require.NoError(t, err)
				require.Equal(t, len(p), n)
				want = append(want, p...)
			}
			assert.Less(t, m.Len(), len(noise)+50_000)
			got, err := io.ReadAll(compressed(z, m, level))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got))
		}
	}
}

// The numbers of frames go on from what the peer sent and begin anew with each command.
func TestCompressionSequence(t *testing.T) {
	z := NewCompression()
	m := &memConn{}
	client, server := z.Zlib(m), z.Zlib(m)
	pass := func(from, to *CompressedConn, wantSeq byte) {
		_, err := from.Write([]byte("x"))
		require.NoError(t, err)
		assert.Equal(t, wantSeq, m.Bytes()[3])
		_, err = io.ReadFull(to, make([]byte, 1))
		require.NoError(t, err)
	}
	for range 2 {
		client.ResetSequence()
		pass(client, server, 0)
		pass(client, server, 1)
		pass(server, client, 2)
		pass(server, client, 3)
		pass(client, server, 4) // a file the server asked for
	}
}

func TestBrokenFrames(t *testing.T) {
	z := NewCompression()
	for _, level := range []int{0, 3} {
		m := &memConn{}
		_, err := compressed(z, m, level).Write([]byte(strings.Repeat("a frame ", 100)))
		require.NoError(t, err)
		whole := m.Bytes()
		edit := func(f func(b []byte) []byte) error {
			_, err := io.ReadAll(compressed(z, &memConn{Buffer: *bytes.NewBuffer(f(bytes.Clone(whole)))}, level))
			return err
		}
		require.NoError(t, edit(func(b []byte) []byte { return b }))
		for n := 1; n < len(whole); n++ {
			err := edit(func(b []byte) []byte { return b[:n] })
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut after %d", n)
		}
		for name, f := range map[string]func(b []byte) []byte{
			"shorter than said": func(b []byte) []byte { b[4]++; return b },
			"longer than said":  func(b []byte) []byte { b[4]--; return b },
			"no content":        func(b []byte) []byte { return append([]byte{0, 0, 0, 0}, b[4:7]...) },
			"other bytes":       func(b []byte) []byte { return append(b[:7], bytes.Repeat([]byte{7}, len(b)-7)...) },
			"bytes behind it":   func(b []byte) []byte { b[0]++; return append(b, 0) },
		} {
			assert.True(t, sqlerr.HasCode(edit(f), sqlerr.NetUncompressError), "%s: %v", name, edit(f))
		}
	}
}

func FuzzCompressedRead(f *testing.F) {
	z := NewCompression()
	for _, level := range []int{0, 3} {
		m := &memConn{}
		_, _ = compressed(z, m, level).Write([]byte(strings.Repeat("a frame ", 100)))
		_, _ = compressed(z, m, level).Write([]byte("short"))
		f.Add(m.Bytes(), level)
	}
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00x"), 0)
	f.Fuzz(func(t *testing.T, b []byte, level int) {
		got, err := io.ReadAll(compressed(z, &memConn{Buffer: *bytes.NewBuffer(b)}, level))
		if err == nil && len(got) > len(b)*1100+1<<24 {
			t.Fatalf("%d bytes became %d", len(b), len(got))
		}
	})
}
