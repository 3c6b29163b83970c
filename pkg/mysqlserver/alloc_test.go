//go:build !race

package mysqlserver_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The race detector makes sync.Pool forget things, so this runs without it.
func TestNoAllocationPerCommand(t *testing.T) {
	r := dialRaw(t, "tcp", startEcho(t))
	r.login("x", "", 0)
	request := packets("\x03select 1")
	answer := make([]byte, 64)
	roundTrip := func() {
		if _, err := r.nc.Write(request); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAtLeast(r.nc, answer, 11); err != nil {
			t.Fatal(err)
		}
	}
	roundTrip()
	assert.Zero(t, int(testing.AllocsPerRun(2000, roundTrip)))
}
