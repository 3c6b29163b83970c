//go:build unix && !linux

package socket

import (
	"io"
	"os"
	"syscall"
)

func sysRead(fd uintptr, p []byte) (int, error) {
	for {
		switch n, err := syscall.Read(int(fd), p); {
		case err == nil && n == 0:
			return 0, io.EOF
		case err == nil:
			return n, nil
		case err == syscall.EAGAIN:
			return 0, ErrWouldBlock
		case err != syscall.EINTR:
			return 0, os.NewSyscallError("read", err)
		}
	}
}

func sysWrite(fd uintptr, p []byte) (int, error) {
	for {
		switch n, err := syscall.Write(int(fd), p); {
		case err == nil:
			return n, nil
		case err == syscall.EAGAIN:
			return 0, ErrWouldBlock
		case err != syscall.EINTR:
			return 0, os.NewSyscallError("write", err)
		}
	}
}

func sysPeek(fd uintptr) (int, error) {
	var b [1]byte
	n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
	if err == syscall.EAGAIN {
		return 0, ErrWouldBlock
	}
	return n, err
}
