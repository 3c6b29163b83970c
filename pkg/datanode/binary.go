package datanode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
)

// Engine is which database server to look for.
type Engine string

// The engines. Auto takes the first server that is found, MariaDB before MySQL.
const (
	Auto    Engine = "auto"
	MariaDB Engine = "mariadb"
	MySQL   Engine = "mysql"
)

// ParseEngine returns the engine called name.
func ParseEngine(name string) (Engine, error) {
	switch e := Engine(name); e {
	case Auto, MariaDB, MySQL:
		return e, nil
	}
	return "", fmt.Errorf("unknown engine %q: must be auto, mariadb or mysql", name)
}

// Binary is a database server's executable and what it needs to run. Obtain it from Find.
type Binary struct {
	Path    string
	Flavor  catalog.Flavor
	Version string // as the server reports it, "10.11.19-MariaDB-0+deb12u1" or "9.7.4"
	base    string // installation prefix: the directory above bin or sbin
	share   string // messages, character sets and bootstrap SQL
	plugins string
	loader  []string // command before Path, for a server unpacked together with its C library
	env     []string // added to the environment
}

// CacheDir is where the scripts unpack servers and where templates are kept: $SKARV_CACHE, or skarv in the
// user's cache directory.
func CacheDir() (string, error) {
	if dir := os.Getenv("SKARV_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("user's cache directory: %w", err)
	}
	return filepath.Join(dir, "skarv"), nil
}

// Find looks for a server of the engine: at path if given, else in PATH, in the directories where distributions
// keep servers, and among those unpacked in CacheDir.
func Find(ctx context.Context, engine Engine, path string) (Binary, error) {
	if path != "" {
		full, err := exec.LookPath(path)
		if err != nil {
			return Binary{}, fmt.Errorf("database server: %w", err)
		}
		b, err := inspect(ctx, full)
		if err != nil {
			return Binary{}, err
		}
		if engine != Auto && engine != "" && string(engine) != string(b.Flavor) {
			return Binary{}, fmt.Errorf("%s is %s %s, not %s", full, b.Flavor, b.Version, engine)
		}
		return b, nil
	}
	var refused error
	for _, candidate := range candidates(engine) {
		b, err := inspect(ctx, candidate)
		switch {
		case err != nil:
			refused = errors.Join(refused, err)
		case engine == Auto, engine == "", string(engine) == string(b.Flavor):
			return b, nil
		}
	}
	what := "a MariaDB (10.11 or newer) or MySQL (8.0.29 or newer) server"
	install := "scripts/install-mariadb.sh brings one"
	switch engine {
	case MariaDB:
		what = "a MariaDB server (10.11 or newer)"
	case MySQL:
		what, install = "a MySQL server (8.0.29 or newer)", "scripts/install-mysql.sh brings one"
	}
	if refused != nil {
		return Binary{}, fmt.Errorf("no usable %s: %s", strings.TrimPrefix(what, "a "), strings.ReplaceAll(refused.Error(), "\n", "; "))
	}
	return Binary{}, fmt.Errorf("%s is not in PATH and none is unpacked in the user's cache; %s", what, install)
}

func candidates(engine Engine) []string {
	var names []string
	if engine != MySQL {
		names = append(names, "mariadbd")
	}
	names = append(names, "mysqld")
	dirs := filepath.SplitList(os.Getenv("PATH"))
	dirs = append(dirs, "/usr/local/sbin", "/usr/sbin", "/usr/libexec", "/usr/local/mysql/bin")
	if cache, err := CacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "mariadb/root/usr/sbin"), filepath.Join(cache, "mysql/root/usr/sbin"))
	}
	var found []string
	seen := map[string]bool{}
	for _, dir := range dirs {
		for _, name := range names {
			path := filepath.Join(dir, name)
			real, err := filepath.EvalSymlinks(path)
			if err != nil || !filepath.IsAbs(path) || seen[real] {
				continue
			}
			if st, err := os.Stat(real); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
				seen[real] = true
				found = append(found, path)
			}
		}
	}
	return found
}

// inspect finds out what the executable is by asking it.
func inspect(ctx context.Context, path string) (Binary, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Binary{}, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return Binary{}, err
	}
	b := Binary{Path: real, base: filepath.Dir(filepath.Dir(real))}
	b.findLibraries()
	argv := b.command("--no-defaults", "--version")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = b.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return Binary{}, fmt.Errorf("%s --version: %w: %s", path, err, firstLine(string(out)))
	}
	version := regexp.MustCompile(`\bVer (\S+)`).FindStringSubmatch(string(out))
	if version == nil {
		return Binary{}, fmt.Errorf("%s is no database server: --version says %q", path, firstLine(string(out)))
	}
	b.Version, b.Flavor = version[1], catalog.MySQL
	if strings.Contains(string(out), "MariaDB") {
		b.Flavor = catalog.MariaDB
	}
	least := [3]int{8, 0, 29}
	if b.Flavor == catalog.MariaDB {
		least = [3]int{10, 11, 0}
	}
	if compareVersions(numbers(b.Version), least) < 0 {
		return Binary{}, fmt.Errorf("%s is %s %s, Skarv needs %d.%d.%d or newer", path, b.Flavor, b.Version, least[0], least[1], least[2])
	}
	b.findShare()
	return b, nil
}

// findLibraries sets loader and env for a server that was unpacked somewhere instead of installed.
func (b *Binary) findLibraries() {
	if b.base == "/usr" || b.base == "/usr/local" || b.base == "/" {
		return
	}
	libs, _ := filepath.Glob(filepath.Join(b.base, "lib", "*-linux-gnu"))
	if len(libs) == 0 {
		return
	}
	path := strings.Join(libs, ":")
	loaders, _ := filepath.Glob(filepath.Join(b.base, "lib*", "ld-linux-*.so.*"))
	if len(loaders) == 0 {
		loaders, _ = filepath.Glob(filepath.Join(libs[0], "ld-linux-*.so.*"))
	}
	if len(loaders) > 0 {
		b.loader = []string{loaders[0], "--library-path", path, "--argv0", b.Path}
		return
	}
	if old := os.Getenv("LD_LIBRARY_PATH"); old != "" {
		path += ":" + old
	}
	b.env = []string{"LD_LIBRARY_PATH=" + path}
}

// findShare looks for the messages and plugins that belong to the binary.
func (b *Binary) findShare() {
	for _, dir := range []string{"share/mysql", "share/mariadb", "share/mysql-8.0", "share"} {
		dir = filepath.Join(b.base, dir)
		if _, err := os.Stat(filepath.Join(dir, "charsets", "Index.xml")); err == nil {
			b.share = dir
			break
		}
	}
	for _, dir := range []string{"lib/mysql/plugin", "lib/mariadb/plugin", "lib/plugin", "lib64/mysql/plugin", "lib64/mariadb/plugin"} {
		dir = filepath.Join(b.base, dir)
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			b.plugins = dir
			break
		}
	}
}

// Tool is the command that runs a client program which was installed, or unpacked, together with the server.
func (b Binary) Tool(ctx context.Context, name string, args ...string) *exec.Cmd {
	b.Path = filepath.Join(b.base, "bin", name)
	b.findLibraries()
	argv := b.command(args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = b.environ()
	return cmd
}

// command is the argument vector that runs the server.
func (b *Binary) command(args ...string) []string {
	argv := append([]string(nil), b.loader...)
	argv = append(argv, b.Path)
	return append(argv, args...)
}

func (b *Binary) environ() []string { return append(os.Environ(), b.env...) }

// locations are the settings that tell the server where its own files are.
func (b *Binary) locations() []setting {
	s := []setting{{"basedir", b.base}}
	if b.share != "" {
		s = append(s, setting{"lc-messages-dir", b.share}, setting{"character-sets-dir", filepath.Join(b.share, "charsets")})
	}
	if b.plugins != "" {
		s = append(s, setting{"plugin-dir", b.plugins})
	}
	return s
}

func numbers(version string) [3]int {
	var v [3]int
	version, _, _ = strings.Cut(version, "-")
	for i, part := range strings.SplitN(version, ".", 3) {
		v[i], _ = strconv.Atoi(part)
	}
	return v
}

func compareVersions(a, b [3]int) int {
	for i := range a {
		if a[i] != b[i] {
			return a[i] - b[i]
		}
	}
	return 0
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
