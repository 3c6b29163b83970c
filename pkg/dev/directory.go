package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

// directory is where a local cluster keeps everything:
//
//	skarv.json   marker
//	lock         held (flock) while a process owns the directory
//	skarv.log    this process's log
//	etcd/        etcd's data; etcd.log its log
//	ng-1/ ...    the data nodes; ng-1-replica-1/ ... their replicas
type directory struct {
	path      string
	temporary bool // removed at the end
	lock      *os.File
	marker    marker
	fresh     bool // made now
}

// marker is skarv.json.
type marker struct {
	Format     int            `json:"skarv_dev"`
	Engine     catalog.Flavor `json:"engine"`
	NodeGroups int            `json:"node_groups"`
	Replicas   int            `json:"replicas,omitempty"` // of each of the first node groups
	Created    time.Time      `json:"created"`
	// Complete: everything was made once. From then on a part that is missing is damage, not a beginning.
	Complete bool `json:"complete"`
	// Groups are the node groups of the data nodes, 0 for one that was removed. Those not listed have the number of their
	// directory.
	Groups []placement.NodeGroupID `json:"groups,omitempty"`
}

const (
	markerFormat    = 1
	temporaryPrefix = "skarv-dev-"
)

// openDirectory makes or finds the directory of a cluster and locks it. An empty path is a temporary directory.
func openDirectory(path string) (*directory, error) {
	d := &directory{path: path, temporary: path == ""}
	var err error
	if d.temporary {
		removeLeftovers(os.TempDir())
		d.path, err = os.MkdirTemp("", temporaryPrefix)
	} else if d.path, err = filepath.Abs(path); err == nil {
		err = os.MkdirAll(d.path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	text, err := os.ReadFile(d.markerFile())
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.fresh = true
		if err := d.checkEmpty(); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, fmt.Errorf("data directory: %w", err)
	default:
		if err := json.Unmarshal(text, &d.marker); err != nil {
			return nil, fmt.Errorf("data directory %s is damaged: skarv.json: %w", d.path, err)
		}
		if d.marker.Format == 0 || d.marker.NodeGroups < 1 {
			return nil, fmt.Errorf("data directory %s is not one of `skarv dev`: see its skarv.json", d.path)
		}
		if d.marker.Format > markerFormat {
			return nil, fmt.Errorf("data directory %s was made by a newer skarv (format %d, this one knows %d)", d.path, d.marker.Format, markerFormat)
		}
	}
	if d.lock, err = lockFile(filepath.Join(d.path, "lock")); err != nil {
		return nil, fmt.Errorf("data directory %s: %w", d.path, err)
	}
	return d, nil
}

func (d *directory) markerFile() string { return filepath.Join(d.path, "skarv.json") }
func (d *directory) logFile() string    { return filepath.Join(d.path, "skarv.log") }

// node is where data node i is, or replica r of it.
func (d *directory) node(i, r int) string {
	name := "ng-" + strconv.Itoa(i)
	if r > 0 {
		name += "-replica-" + strconv.Itoa(r)
	}
	return filepath.Join(d.path, name)
}

func (d *directory) checkEmpty() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	for _, e := range entries {
		if e.Name() != "lock" {
			return fmt.Errorf("%s is not a data directory of `skarv dev`: it holds %s but no skarv.json; choose an empty or new directory", d.path, e.Name())
		}
	}
	return nil
}

// save writes the marker of a fresh directory.
func (d *directory) save() error {
	text, err := json.MarshalIndent(&d.marker, "", "  ")
	if err == nil {
		err = os.WriteFile(d.markerFile()+".new", append(text, '\n'), 0o600)
	}
	if err == nil {
		err = os.Rename(d.markerFile()+".new", d.markerFile())
	}
	if err != nil {
		return fmt.Errorf("marker of the data directory: %w", err)
	}
	return nil
}

// close gives the directory back, and removes it if it was temporary.
func (d *directory) close() error {
	if d.temporary {
		if err := os.RemoveAll(d.path); err != nil {
			return fmt.Errorf("remove temporary data directory: %w", err)
		}
	}
	return d.lock.Close()
}

func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		owner := make([]byte, 32)
		n, _ := f.ReadAt(owner, 0)
		f.Close()
		return nil, fmt.Errorf("in use by process %s", strings.TrimSpace(string(owner[:n])))
	}
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// removeLeftovers removes this user's temporary clusters whose process was killed. A directory younger than a
// minute may just be about to be locked.
func removeLeftovers(tmp string) {
	dirs, _ := filepath.Glob(filepath.Join(tmp, temporaryPrefix+"*"))
	for _, dir := range dirs {
		st, err := os.Lstat(dir)
		if err != nil || !st.IsDir() || time.Since(st.ModTime()) < time.Minute {
			continue
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Getuid() {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "skarv.json")); err != nil {
			continue
		}
		lock, err := lockFile(filepath.Join(dir, "lock"))
		if err != nil {
			continue
		}
		_ = os.RemoveAll(dir) // what cannot be removed now stays for the next time
		lock.Close()
	}
}
