//go:build !linux

package mysqlconn

import (
	"syscall"
	"time"
)

// userTimeout does nothing where the kernel has no such setting; keepalive remains.
func userTimeout(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
