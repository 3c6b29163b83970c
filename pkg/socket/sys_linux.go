package socket

import (
	"io"
	"os"
	"syscall"
	"unsafe"
)

// maxCall bounds what one system call moves: the runtime cannot stop a thread inside a raw system call, so a garbage
// collection waits for the longest of them.
const maxCall = 256 << 10

// sysRead is recv(2) on a non-blocking socket: read(2) takes the longer way, through the file system's layer. The raw form
// spares the runtime's bookkeeping for calls that may block.
func sysRead(fd uintptr, p []byte) (int, error) {
	for {
		n, _, e := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(min(len(p), maxCall)), 0, 0, 0)
		switch e {
		case 0:
			if n == 0 {
				return 0, io.EOF
			}
			return int(n), nil
		case syscall.EAGAIN:
			return 0, ErrWouldBlock
		case syscall.EINTR:
		default:
			return 0, os.NewSyscallError("recv", e)
		}
	}
}

// sysWrite is send(2) on a non-blocking socket; it may write less than p.
func sysWrite(fd uintptr, p []byte) (int, error) {
	for {
		n, _, e := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(min(len(p), maxCall)),
			syscall.MSG_NOSIGNAL, 0, 0)
		switch e {
		case 0:
			return int(n), nil
		case syscall.EAGAIN:
			return 0, ErrWouldBlock
		case syscall.EINTR:
		default:
			return 0, os.NewSyscallError("send", e)
		}
	}
}

// sysPeek looks for one byte without taking it.
func sysPeek(fd uintptr) (int, error) {
	var b [1]byte
	n, _, e := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), 1,
		syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	switch e {
	case 0:
		return int(n), nil
	case syscall.EAGAIN, syscall.EINTR:
		return 0, ErrWouldBlock
	default:
		return 0, os.NewSyscallError("recv", e)
	}
}
