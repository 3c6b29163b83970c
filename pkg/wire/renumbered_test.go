package wire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// However the packets are cut into pieces; numbers wrap around.
func TestRenumbered(t *testing.T) {
	stream := func(seq byte, last int) (b []byte) {
		for i := range 300 {
			b = AppendPacket(b, &seq, bytes.Repeat([]byte{byte(i)}, i%7*i%53))
		}
		return AppendPacket(b, &seq, make([]byte, last))
	}
	for _, by := range []byte{1, 2, 255} {
		for _, size := range []int{1, 2, 3, 4, 5, 64, 16 << 10, 1 << 25} {
			last := 0
			if size > 1<<10 {
				last = MaxPacket
			}
			var dst bytes.Buffer
			w := Renumbered{Dst: &dst, By: by}
			for p := stream(1, last); len(p) > 0; {
				n, err := w.Write(p[:min(size, len(p))])
				require.NoError(t, err)
				p = p[n:]
			}
			require.True(t, bytes.Equal(stream(1+by, last), dst.Bytes()), "%d in pieces of %d", by, size)
		}
	}
}
