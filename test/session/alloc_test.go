package session

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
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
		requireNoAllocation(t, run, name)
	}
}

// requireNoAllocation runs run often enough to know that it allocates nothing. What else lives in this process, etcd among it, allocates now
// and then, the more of it beside each run the slower the machine is: so where no series is without, what counts is whether one place has
// allocated as often as run has run. A failure says which.
func requireNoAllocation(t *testing.T, run func(), what string) {
	t.Helper()
	const often = 500
	for range 10 {
		if testing.AllocsPerRun(often, run) < 0.5 {
			return
		}
	}
	before, rate := allocated(), runtime.MemProfileRate
	runtime.MemProfileRate = 1
	for range often {
		run()
	}
	runtime.MemProfileRate = rate
	var places []string
	for stack, n := range allocated() {
		if n -= before[stack]; n < often {
			continue
		}
		place := fmt.Sprintf("%d objects:", n)
		frames := runtime.CallersFrames(slices.DeleteFunc(slices.Clone(stack[:]), func(pc uintptr) bool { return pc == 0 }))
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			place += fmt.Sprintf("\n\t%s:%d", f.Function, f.Line)
		}
		places = append(places, place)
	}
	if len(places) == 0 {
		return
	}
	t.Fatalf("%s allocates each time\n%s", what, strings.Join(places, "\n"))
}

// allocated is how many objects this process has allocated where, as far as they are counted.
func allocated() map[[32]uintptr]int64 {
	runtime.GC() // of what came before the counts are published by the second one
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 100_000)
	n, _ := runtime.MemProfile(records, true)
	at := map[[32]uintptr]int64{}
	for _, r := range records[:n] {
		at[r.Stack0] += r.AllocObjects
	}
	return at
}
