package datanode

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"skarv/pkg/catalog"
)

// initialise makes the data directory beside its place and moves it there when it is complete. Only Run's
// goroutine calls it.
func (n *Node) initialise(ctx context.Context) error {
	d := n.dir
	if d.marker.Initialised {
		return nil
	}
	if n.proc != nil {
		return errors.New("a server is running")
	}
	if _, err := os.Stat(d.dataDir()); err == nil && !d.marker.Discard {
		return fmt.Errorf("data directory %s is damaged: it holds data but was never initialised; choose a new directory", d.path)
	}
	if err := os.RemoveAll(d.dataDir()); err != nil {
		return err
	}
	tmp := d.dataDir() + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := n.fill(ctx, tmp); err != nil {
		return err
	}
	if err := d.change(func(m *marker) { m.Discard = true }); err != nil {
		return err
	}
	if err := os.Rename(tmp, d.dataDir()); err != nil {
		return err
	}
	err := d.change(func(m *marker) {
		m.Initialised, m.Discard, m.Account = true, false, false
		m.User, m.Password = n.cfg.User, n.cfg.Password
		if m.Password == "" {
			m.Password = generatePassword()
		}
	})
	if err == nil {
		n.update(func(s *Status) { s.State = Stopped })
	}
	return err
}

// fill makes an initialised data directory at path, from a template if templates are in use.
func (n *Node) fill(ctx context.Context, path string) error {
	b := &n.cfg.Binary
	if n.cfg.Templates == "" {
		return b.bootstrap(ctx, path, n.dir.logFile())
	}
	template, err := b.template(ctx, n.cfg.Templates)
	if err != nil {
		return err
	}
	return copyTree(template, path)
}

// template returns an initialised data directory of this server version, made now if there is none. Processes
// that want the same one at the same time wait for the first.
func (b *Binary) template(ctx context.Context, templates string) (string, error) {
	if err := os.MkdirAll(templates, 0o700); err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Append(nil, b.Path, b.Version, bootstrapSQL(""), b.bootstrapSettings("")))
	dir := filepath.Join(templates, fmt.Sprintf("%s-%s-%x", b.Flavor, b.Version, sum[:6]))
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	tmp := dir + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return "", err
	}
	if err := b.bootstrap(ctx, tmp, dir+".log"); err != nil {
		return "", err
	}
	// The server's identity must not be copied.
	if err := os.Remove(filepath.Join(tmp, "auto.cnf")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return dir, os.Rename(tmp, dir)
}

// bootstrap has the server make its system tables in a new directory path. Only root from this machine can log
// in, without a password, through a socket that only this user can open.
func (b *Binary) bootstrap(ctx context.Context, path, logFile string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	args := []string{"--no-defaults"}
	for _, s := range b.bootstrapSettings(path) {
		args = append(args, "--"+s.name+"="+s.value)
	}
	var input bytes.Buffer
	if b.Flavor == catalog.MySQL {
		args = append(args, "--initialize-insecure")
	} else {
		args = append(args, "--bootstrap")
		if err := b.bootstrapInput(&input); err != nil {
			return err
		}
	}
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	begin, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	// Of its own, because a starting MariaDB clears the tmpdir, whoever else uses it.
	tmp, err := os.MkdirTemp("", "skarv-init-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	argv := b.command(append(args, "--tmpdir="+tmp)...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = b.environ(), &input, out, out
	if err := runToEnd(cmd); err != nil {
		return fmt.Errorf("initialise data directory: %s (%w); see %s", complaint(logFile, begin), err, logFile)
	}
	if _, err := os.Stat(filepath.Join(path, "mysql")); err != nil {
		return fmt.Errorf("initialise data directory: the server made no system tables; see %s", logFile)
	}
	return nil
}

func (b *Binary) bootstrapSettings(path string) []setting {
	s := []setting{{"datadir", path}}
	s = append(s, b.locations()...)
	if os.Geteuid() == 0 {
		s = append(s, setting{"user", "root"})
	}
	if b.Flavor == catalog.MySQL {
		s = append(s, setting{"secure-file-priv", "NULL"})
	}
	s = append(s, setting{"skip-log-bin", "ON"}, setting{"innodb-flush-log-at-trx-commit", "0"})
	if b.Flavor == catalog.MariaDB {
		// A small redo log copies faster; the first start makes it as large as my.cnf says.
		s = append(s, setting{"innodb-log-file-size", "8M"}, setting{"innodb-buffer-pool-size", "32M"},
			setting{"innodb-fast-shutdown", "0"}, setting{"aria-log-file-size", "8M"}, setting{"max-allowed-packet", "8M"})
	}
	return s
}

// bootstrapSQL surrounds the scripts that come with MariaDB. Every statement on a line of its own: that is how
// --bootstrap reads.
func bootstrapSQL(scripts string) string {
	return "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n" + scripts +
		"\nDELETE FROM mysql.global_priv WHERE Host<>'localhost' OR User='';\nDELETE FROM mysql.proxies_priv;\n"
}

// bootstrapInput collects the scripts that make MariaDB's system tables.
func (b *Binary) bootstrapInput(w *bytes.Buffer) error {
	var scripts bytes.Buffer
	for _, names := range [][]string{
		{"mysql_system_tables.sql", "mariadb_system_tables.sql"},
		{"mysql_performance_tables.sql", "mariadb_performance_tables.sql"},
		{"mysql_system_tables_data.sql", "mariadb_system_tables_data.sql"},
		{"maria_add_gis_sp_bootstrap.sql"},
		{"mysql_sys_schema.sql", "mariadb_sys_schema.sql"},
	} {
		var text []byte
		var err error
		for _, name := range names {
			if text, err = os.ReadFile(filepath.Join(b.share, name)); err == nil {
				break
			}
		}
		if err != nil {
			return fmt.Errorf("scripts that make MariaDB's system tables: %w", err)
		}
		scripts.Write(text)
		scripts.WriteByte('\n')
	}
	w.WriteString(bootstrapSQL(scripts.String()))
	return nil
}

// copyTree copies files and directories; nothing else is in a data directory.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if e.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		return copyFile(path, target)
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in) // copy_file_range: shared blocks where the file system can
	if closing := out.Close(); err == nil {
		err = closing
	}
	return err
}
