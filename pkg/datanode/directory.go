package datanode

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"skarv/pkg/catalog"
)

// directory is a node's directory, locked by this process.
type directory struct {
	path string
	lock *os.File

	mu     sync.Mutex
	marker marker
}

// marker is skarv.json: what makes a directory ours and what must survive a restart.
type marker struct {
	Format  int            `json:"skarv_data_node"` // markerFormat
	Engine  catalog.Flavor `json:"engine"`
	Version string         `json:"server_version"` // that used the directory last
	ID      uint32         `json:"server_id"`
	Created time.Time      `json:"created"`
	// Initialised is set when the data directory is complete, Account when the server has been up with the account.
	// Discard: the data directory, if there is one, holds nothing that anybody has written: it was just made, or is being erased.
	Initialised bool              `json:"initialised"`
	Discard     bool              `json:"discard,omitempty"`
	Account     bool              `json:"account"`
	User        string            `json:"user,omitempty"`
	Password    string            `json:"password,omitempty"`
	Port        int               `json:"port,omitempty"`
	Variables   map[string]string `json:"variables,omitempty"`
}

const markerFormat = 1

func (d *directory) markerFile() string { return filepath.Join(d.path, "skarv.json") }
func (d *directory) dataDir() string    { return filepath.Join(d.path, "data") }
func (d *directory) optionFile() string { return filepath.Join(d.path, "my.cnf") }
func (d *directory) logFile() string    { return filepath.Join(d.path, "error.log") }
func (d *directory) pidFile() string    { return filepath.Join(d.path, "run", "server.pid") }
func (d *directory) tmpDir() string     { return filepath.Join(d.path, "tmp") }
func (d *directory) initFile() string   { return filepath.Join(d.path, "run", "account.sql") }

// maxSocketPath is what fits in a unix socket's address, with a byte to spare for servers that want one.
const maxSocketPath = 100

// socket is in the directory, unless its path is too long for a socket's address.
func (d *directory) socket() string {
	path := filepath.Join(d.path, "run", "s.sock")
	if len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(d.path))
	return filepath.Join(os.TempDir(), fmt.Sprintf("skarv-%d", os.Getuid()), fmt.Sprintf("%x.sock", sum[:8]))
}

// openDirectory makes or checks the directory and locks it.
func openDirectory(cfg Config) (*directory, error) {
	d := &directory{path: cfg.Dir}
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	// Look before anything is written: a directory that is not ours must stay as it is.
	text, err := os.ReadFile(d.markerFile())
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := d.checkEmpty(); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := d.takeLock(); err != nil {
		return nil, err
	}
	if text == nil {
		d.marker = marker{Format: markerFormat, Engine: cfg.Binary.Flavor, Version: cfg.Binary.Version, ID: cfg.ID, Created: time.Now().UTC()}
		err = d.saveMarker()
	} else {
		err = d.checkMarker(text, cfg)
	}
	if err == nil {
		err = d.prepare()
	}
	if err != nil {
		d.lock.Close()
		return nil, err
	}
	return d, nil
}

func (d *directory) checkEmpty() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	for _, e := range entries {
		if e.Name() != "lock" {
			return fmt.Errorf("%s is not a data node's directory: it holds %s but no skarv.json; choose an empty or new directory", d.path, e.Name())
		}
	}
	return nil
}

func (d *directory) checkMarker(text []byte, cfg Config) error {
	damaged := func(why string) error {
		return fmt.Errorf("data directory %s is damaged: %s; the server's log is %s", d.path, why, d.logFile())
	}
	if err := json.Unmarshal(text, &d.marker); err != nil {
		return damaged("skarv.json: " + err.Error())
	}
	m := &d.marker
	switch {
	case m.Format == 0:
		return damaged("skarv.json is not a data node's marker")
	case m.Format > markerFormat:
		return fmt.Errorf("data directory %s was made by a newer skarv (format %d, this one knows %d)", d.path, m.Format, markerFormat)
	case m.Engine != cfg.Binary.Flavor:
		return fmt.Errorf("data directory %s belongs to %s, but %s is %s", d.path, m.Engine, cfg.Binary.Path, cfg.Binary.Flavor)
	case olderSeries(cfg.Binary.Version, m.Version):
		return fmt.Errorf("data directory %s was last used by %s %s; %s is the older %s", d.path, m.Engine, m.Version, cfg.Binary.Path, cfg.Binary.Version)
	case m.ID != cfg.ID:
		return fmt.Errorf("data directory %s belongs to server id %d, not %d", d.path, m.ID, cfg.ID)
	}
	if m.Initialised {
		if _, err := os.Stat(filepath.Join(d.dataDir(), "mysql")); err != nil {
			return damaged("its system tables are missing (" + err.Error() + ")")
		}
		if _, err := os.Stat(filepath.Join(d.dataDir(), "ibdata1")); err != nil {
			return damaged("its tablespace is missing (" + err.Error() + ")")
		}
	}
	return nil
}

// olderSeries reports whether version a belongs to an older release series than b: files written by b are then not
// for a.
func olderSeries(a, b string) bool {
	x, y := numbers(a), numbers(b)
	x[2], y[2] = 0, 0
	return compareVersions(x, y) < 0
}

// prepare makes the directories the server's files go to.
func (d *directory) prepare() error {
	for _, path := range []string{filepath.Join(d.path, "run"), d.tmpDir()} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	dir := filepath.Dir(d.socket())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("directory of the server's socket: %w", err)
	}
	// Below the shared temporary directory somebody else may have been first.
	st, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("directory of the server's socket: %w", err)
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || !st.IsDir() || int(sys.Uid) != os.Getuid() || st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("directory of the server's socket: %s must belong to this user alone", dir)
	}
	return nil
}

// takeLock makes sure that no other process owns the directory and that no server of an earlier owner is left.
func (d *directory) takeLock() error {
	f, err := os.OpenFile(filepath.Join(d.path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		owner := make([]byte, 32)
		n, _ := f.ReadAt(owner, 0)
		f.Close()
		return fmt.Errorf("data directory %s is in use by process %s", d.path, strings.TrimSpace(string(owner[:n])))
	}
	// A server whose owner was just killed is being killed by the kernel: give that a moment.
	deadline := time.Now().Add(5 * time.Second)
	for pid, dying := d.survivor(); pid != 0; pid, dying = d.survivor() {
		if time.Now().After(deadline) {
			if dying {
				break // then the id belongs to somebody else by now
			}
			f.Close()
			return fmt.Errorf("a database server (process %d) that this node did not start runs on %s; stop it first", pid, d.path)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("data directory: %w", err)
	}
	d.lock = f
	return nil
}

// survivor returns the process id of a server that runs on this directory, or 0. Its pid file alone does not tell:
// ids are used again. A process that is dying has no arguments any more, but may still hold files.
func (d *directory) survivor() (pid int, dying bool) {
	text, err := os.ReadFile(d.pidFile())
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 {
		return 0, false
	}
	argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	switch {
	case err != nil:
		return 0, false
	case bytes.Contains(argv, []byte(d.optionFile())):
		return pid, false
	case len(argv) > 0:
		return 0, false
	}
	// pid (name) state ...: Z is dead and only waits for its parent's attention.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, found := bytes.Cut(stat, []byte(") "))
	if err != nil || !found || bytes.HasPrefix(state, []byte("Z")) {
		return 0, false
	}
	return pid, true
}

func (d *directory) close() error {
	return d.lock.Close() // and with it the lock
}

// change edits the marker and writes it.
func (d *directory) change(edit func(*marker)) error {
	d.mu.Lock()
	edit(&d.marker)
	d.mu.Unlock()
	return d.saveMarker()
}

// saveMarker replaces skarv.json as a whole, so that a crash leaves the old or the new one.
func (d *directory) saveMarker() error {
	d.mu.Lock()
	text, err := json.MarshalIndent(&d.marker, "", "  ")
	d.mu.Unlock()
	if err == nil {
		err = writeFile(d.markerFile(), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("marker of the data directory: %w", err)
	}
	return nil
}

func writeFile(path string, text []byte) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}

func generatePassword() string { return rand.Text() }
