package session

import (
	"context"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/wire"
)

// A statement that is relayed allocates nothing, from the client's packet to the last byte of the answer. The client
// here allocates nothing either, so what is counted is the proxy's, and a little of what else lives in this process.
func TestRelayAllocatesNothing(t *testing.T) {
	c, err := mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: shared.Addr(), User: "root", DB: "d"})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = c.Exec("CREATE TABLE numbered (id BIGINT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(100))")
	require.NoError(t, err)
	packet := func(cmd wire.Command, body []byte) []byte {
		var seq byte
		return wire.AppendPacket(nil, &seq, append([]byte{byte(cmd)}, body...))
	}
	st, err := c.Prepare([]byte("SELECT v FROM t WHERE id = ?"))
	require.NoError(t, err)
	execute := wire.AppendExecuteHead(nil, st.ID, 0)
	execute = append(execute, 0, 1, 8, 0)                  // no NULLs, new types: BIGINT
	execute = binary.LittleEndian.AppendUint64(execute, 7) // id
	buf := make([]byte, 16<<10)
	for name, request := range map[string][]byte{
		"text select":     packet(wire.ComQuery, []byte("SELECT v FROM t WHERE id = 7")),
		"prepared select": packet(wire.ComStmtExecute, execute),
		"insert":          packet(wire.ComQuery, []byte("INSERT INTO numbered (id, v) VALUES (0, 'some text that is not short')")),
		"update":          packet(wire.ComQuery, []byte("UPDATE t SET v = v WHERE id = 7")),
	} {
		cmd := wire.Command(request[wire.HeaderLen])
		scratch := append([]byte(nil), request...)
		run := func() {
			copy(scratch, request)
			sum, err := c.Relay(scratch, cmd, io.Discard, buf)
			if err != nil || sum.Failed() {
				t.Fatalf("%s: %v, error %d", name, err, sum.ErrCode)
			}
		}
		for range 100 {
			run() // plans, prepared statements and buffers are made
		}
		require.Less(t, allocations(run), 0.5, name)
	}
}

// allocations is how often run allocates: the least of several series, because what else lives in this process allocates
// now and then, the more the slower the machine is.
func allocations(run func()) float64 {
	least := testing.AllocsPerRun(500, run)
	for range 9 {
		least = min(least, testing.AllocsPerRun(500, run))
	}
	return least
}
