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
// memory executable, and where somebody has put breakpoints into the code; then all is as before.
//
// Tools that find functions by the program's file (perf, uprobes) find no names in moved code; runtime/pprof does.
func Use() (int, error) {
	text, err := os.ReadFile(settings)
	if err != nil || bytes.Contains(text, []byte("[never]")) {
		return 0, fmt.Errorf("huge pages: %w", errors.ErrUnsupported)
	}
	m, err := mappingOf(reflect.ValueOf(Use).Pointer())
	if err != nil {
		return 0, err
	}
	start, end := alignUp(m.start), m.end&^(pageSize-1)
	if start >= end {
		return 0, fmt.Errorf("huge pages: %w: the program is smaller than one", errors.ErrUnsupported)
	}
	size := end - start
	area, err := unix.MmapPtr(-1, 0, nil, size+pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return 0, os.NewSyscallError("mmap", err)
	}
	before := alignUp(uintptr(area)) - uintptr(area)
	moved, err := m.move(start, unsafe.Add(area, before), size)
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
func (m mapping) move(start uintptr, at unsafe.Pointer, size uintptr) (int, error) {
	to := unsafe.Slice((*byte)(at), size)
	if err := unix.Madvise(to, unix.MADV_HUGEPAGE); err != nil {
		return 0, fmt.Errorf("%w: %w", errors.ErrUnsupported, os.NewSyscallError("madvise", err))
	}
	if err := m.read(start, to); err != nil {
		return 0, err
	}
	if err := unix.Mprotect(to, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return 0, fmt.Errorf("%w: %w", errors.ErrUnsupported, os.NewSyscallError("mprotect", err))
	}
	if _, err := unix.MremapPtr(at, size, unsafe.Add(nil, start), size, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED); err != nil {
		return 0, os.NewSyscallError("mremap", err)
	}
	return int(size), nil
}

// read reads the code that is at start in memory, from the program's file: in memory there may be breakpoints (uprobes of the
// kernel, a debugger's), whose owner would not know the copies of them, and who runs into one would be ended. Where there are any,
// the error wraps errors.ErrUnsupported.
func (m mapping) read(start uintptr, to []byte) error {
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("huge pages: %w: %w", errors.ErrUnsupported, err)
	}
	defer file.Close()
	if _, err := file.ReadAt(to, m.offset+int64(start-m.start)); err != nil {
		return fmt.Errorf("huge pages: %w: %w", errors.ErrUnsupported, err)
	}
	code := unsafe.Add(nil, start) // code does not move
	if !bytes.Equal(to, unsafe.Slice((*byte)(code), len(to))) {
		return fmt.Errorf("huge pages: %w: the program's code is not as in its file, for a probe or a debugger has changed it", errors.ErrUnsupported)
	}
	return nil
}

func alignUp(at uintptr) uintptr { return (at + pageSize - 1) &^ (pageSize - 1) }

// mapping is a part of the address space that shows a file from offset on.
type mapping struct {
	start, end uintptr
	offset     int64
}

// mappingOf is the mapping that addr lies in: a line "start-end mode offset ..." of proc_pid_maps(5).
func mappingOf(addr uintptr) (m mapping, err error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return m, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var mode string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s %x", &m.start, &m.end, &mode, &m.offset); err == nil && m.start <= addr && addr < m.end {
			return m, nil
		}
	}
	return m, errors.New("huge pages: the program's code is not among its mappings")
}
