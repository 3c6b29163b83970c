package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"skarv/pkg/wire"
)

// maxPassword bounds what is read as a password.
const maxPassword = 4096

// password is where a password comes from: never from the command line, which others can see.
type password struct{ file string }

func (p *password) flags(c *cobra.Command, whose string) {
	c.Flags().StringVar(&p.file, "password-file", "", "file with the password "+whose+", - for standard input (default: it is asked for)")
}

// read returns the first line of the file, or asks.
func (p *password) read(a *app, prompt string, twice bool) (string, error) {
	switch p.file {
	case "":
	case "-":
		return firstLine(a.in)
	default:
		f, err := os.Open(p.file)
		if err != nil {
			return "", fmt.Errorf("--password-file: %w", err)
		}
		defer f.Close()
		return firstLine(f)
	}
	tty, ok := a.in.(*os.File)
	if !ok || !isTerminal(tty) {
		return "", usage("no terminal to ask for the password: use --password-file FILE, or - for standard input")
	}
	first, err := ask(tty, a.errs, prompt)
	if err != nil || !twice {
		return first, err
	}
	second, err := ask(tty, a.errs, "Once more: ")
	if err == nil && first != second {
		err = errors.New("the two passwords differ")
	}
	return first, err
}

// hash reads a new password and returns what is kept of it.
func (p *password) hash(a *app, name, plugin string) (string, error) {
	pw, err := p.read(a, "New password of "+name+": ", true)
	if err != nil {
		return "", err
	}
	switch {
	case pw == "":
		return "", errors.New("an empty password would let everybody in: choose one")
	case plugin == wire.CachingSHA2Password:
		return wire.HashCachingSHA2(pw)
	case plugin == wire.NativePassword:
		return wire.HashNative(pw), nil
	default:
		return "", usage("unknown --plugin %q: use %s or %s", plugin, wire.CachingSHA2Password, wire.NativePassword)
	}
}

func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxPassword)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// ask reads a line without showing it.
func ask(tty *os.File, errs io.Writer, prompt string) (string, error) {
	fmt.Fprint(errs, prompt)
	old, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		return "", err
	}
	silent := *old
	silent.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, &silent); err != nil {
		return "", err
	}
	defer func() {
		_ = unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, old)
		fmt.Fprintln(errs)
	}()
	line, err := readLine(tty)
	return line, err
}

// readLine reads byte by byte, so that nothing after the line is taken.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < maxPassword; {
		n, err := r.Read(b)
		if n == 1 && b[0] == '\n' || errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		line = append(line, b[:n]...)
	}
	return strings.TrimRight(string(line), "\r"), nil
}
