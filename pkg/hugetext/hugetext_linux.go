package hugetext

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pageSize is that of a huge page, on the architectures we know.
const pageSize = 2 << 20

// settings is where the kernel says who gets huge pages: "always [madvise] never".
const settings = "/sys/kernel/mm/transparent_hugepage/enabled"

// Use moves the code of the running program and returns how many bytes of it, which are the process's own memory from now on. It
// may be called while other goroutines run. The error wraps errors.ErrUnsupported where the kernel has no huge pages or lets nobody make
// memory executable; then all is as before.
//
// Tools that find functions by the program's file (perf, uprobes) find no names in moved code; runtime/pprof does.
func Use() (int, error) {
	text, err := os.ReadFile(settings)
	if err != nil || bytes.Contains(text, []byte("[never]")) {
		return 0, fmt.Errorf("huge pages: %w", errors.ErrUnsupported)
	}
	start, end, err := mappingOf(reflect.ValueOf(Use).Pointer())
	if err != nil {
		return 0, err
	}
	start, end = alignUp(start), end&^(pageSize-1)
	if start >= end {
		return 0, fmt.Errorf("huge pages: %w: the program is smaller than one", errors.ErrUnsupported)
	}
	size := end - start
	area, err := unix.MmapPtr(-1, 0, nil, size+pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return 0, os.NewSyscallError("mmap", err)
	}
	before := alignUp(uintptr(area)) - uintptr(area)
	moved, err := move(start, unsafe.Add(area, before), size)
	unmap := func(from unsafe.Pointer, size uintptr) {
		if size > 0 {
			err = errors.Join(err, os.NewSyscallError("munmap", unix.MunmapPtr(from, size)))
		}
	}
	if moved == 0 {
		unmap(area, size+pageSize)
	} else { // what lay between is somewhere else now, and its addresses may be somebody else's
		unmap(area, before)
		unmap(unsafe.Add(area, before+size), pageSize-before)
	}
	return moved, err
}

// move copies size bytes of code from start to at, and lets the copy take the code's place: the instructions are the same before and
// after, and who runs into the moment between waits for the kernel. All that a system may refuse comes before that step: it moves one
// mapping of the same size within this process, and what holds its code cannot survive that it fails half way.
func move(start uintptr, at unsafe.Pointer, size uintptr) (int, error) {
	to := unsafe.Slice((*byte)(at), size)
	if err := unix.Madvise(to, unix.MADV_HUGEPAGE); err != nil {
		return 0, fmt.Errorf("%w: %w", errors.ErrUnsupported, os.NewSyscallError("madvise", err))
	}
	code := unsafe.Add(nil, start) // code does not move
	copy(to, unsafe.Slice((*byte)(code), size))
	if err := unix.Mprotect(to, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return 0, fmt.Errorf("%w: %w", errors.ErrUnsupported, os.NewSyscallError("mprotect", err))
	}
	if _, err := unix.MremapPtr(at, size, code, size, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED); err != nil {
		return 0, os.NewSyscallError("mremap", err)
	}
	return int(size), nil
}

func alignUp(at uintptr) uintptr { return (at + pageSize - 1) &^ (pageSize - 1) }

// mappingOf is the mapping that addr lies in: a line "start-end mode ..." of proc_pid_maps(5).
func mappingOf(addr uintptr) (start, end uintptr, err error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x", &start, &end); err == nil && start <= addr && addr < end {
			return start, end, nil
		}
	}
	return 0, 0, errors.New("huge pages: the program's code is not among its mappings")
}
