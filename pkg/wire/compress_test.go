package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"slices"
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

// packet is payload with its header, or as several packets.
func packet(payload []byte) []byte {
	var seq byte
	return AppendPacket(nil, &seq, payload)
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
				p = packet(p)
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

// However it is written, each packet is in one frame, or its beginning, with the header, in one and all the rest in the next: Connector/Python
// reads no further. Of packets that are too long for that, no more is cut than must be.
func TestFramesOfAPacket(t *testing.T) {
	z := NewCompression()
	rnd := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, 4<<20)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	for _, level := range []int{0, 3} {
		var stream []byte
		for _, n := range []int{0, 1, 100, 3, frameContent, 10, 5 * frameContent, 0, 7, 3 << 20, frameContent - HeaderLen, 2} {
			stream = append(stream, packet(noise[:n])...)
		}
		for _, most := range []int{1, 7, 1000, 16 << 10, 16<<10 + 3, 1 << 20, 1 << 30} {
			m := &memConn{}
			c := compressed(z, m, level)
			for left := stream; len(left) > 0; {
				n := min(len(left), most)
				if most < 1<<20 && len(left) > 1<<20 {
					n = len(left) - 1<<20 // not all byte by byte
				}
				_, err := c.Write(left[:n])
				require.NoError(t, err)
				left = left[n:]
			}
			contents := framed(t, z, m.Bytes(), level)
			require.True(t, bytes.Equal(stream, slices.Concat(contents...)), "written by %d", most)
			rest := 0
			for i, content := range contents {
				require.LessOrEqual(t, rest, len(content), "frame %d, written by %d", i, most)
				content = content[rest:]
				for rest = 0; len(content) > 0 && rest == 0; {
					require.GreaterOrEqual(t, len(content), HeaderLen, "frame %d, written by %d", i, most)
					length, _ := Header(content)
					rest = max(0, HeaderLen+length-len(content))
					content = content[min(len(content), HeaderLen+length):]
				}
			}
		}
		m := &memConn{}
		huge := packet(bytes.Repeat(noise, 5))
		_, err := compressed(z, m, level).Write(huge)
		require.NoError(t, err)
		contents := framed(t, z, m.Bytes(), level)
		require.True(t, bytes.Equal(huge, slices.Concat(contents...)))
		require.LessOrEqual(t, len(contents), 4)
	}
}

// framed takes b apart.
func framed(t *testing.T, z *Compression, b []byte, level int) (contents [][]byte) {
	for len(b) > 0 {
		length, _ := Header(b)
		end := frameHeaderLen + length
		content, err := io.ReadAll(compressed(z, &memConn{Buffer: *bytes.NewBuffer(b[:end])}, level))
		require.NoError(t, err)
		contents, b = append(contents, content), b[end:]
	}
	return contents
}

// The numbers of frames go on from what the peer sent and begin anew with each command.
func TestCompressionSequence(t *testing.T) {
	z := NewCompression()
	m := &memConn{}
	client, server := z.Zlib(m), z.Zlib(m)
	pass := func(from, to *CompressedConn, wantSeq byte) {
		_, err := from.Write(packet([]byte("x")))
		require.NoError(t, err)
		assert.Equal(t, wantSeq, m.Bytes()[3])
		_, err = io.ReadFull(to, make([]byte, HeaderLen+1))
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
		_, err := compressed(z, m, level).Write(packet([]byte(strings.Repeat("a frame ", 100))))
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
		_, _ = compressed(z, m, level).Write(packet([]byte(strings.Repeat("a frame ", 100))))
		_, _ = compressed(z, m, level).Write(packet([]byte("short")))
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
