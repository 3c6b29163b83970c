// Package clients runs what others wrote against a Skarv cluster: the test suites and programs of MySQL clients. What
// is known not to pass is listed with its reason in docs/clients.md; a list that is not exact fails the test.
package clients

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

const driverModule = "github.com/go-sql-driver/mysql"

// skippedDriverTests need no server of ours: one dials an address in the Internet, the others only parse.
const skippedDriverTests = "^(TestConnectorReturnsTimeout|Fuzz.*)$"

// TestGoSQLDriver runs the driver's own test suite, of the version in go.mod.
func TestGoSQLDriver(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(4))
	_, err := c.DB(t, "").ExecContext(t.Context(), "CREATE DATABASE gotest")
	require.NoError(t, err)

	run := exec.CommandContext(t.Context(), driverTests(t), "-test.v", "-test.timeout=5m", "-test.skip="+skippedDriverTests)
	run.Dir = t.TempDir()
	run.Env = append(os.Environ(), "MYSQL_TEST_PROT=tcp", "MYSQL_TEST_ADDR="+c.Addr(), "MYSQL_TEST_USER=root", "MYSQL_TEST_PASS=",
		"MYSQL_TEST_DBNAME=gotest", "MYSQL_TEST_CONCURRENT=1")
	out, _ := run.CombinedOutput() // fails as long as one test does
	require.Regexp(t, `(?m)^(PASS|FAIL)$`, string(out), "the suite did not run to its end")
	failed := tests(out, "FAIL")
	require.Greater(t, len(tests(out, "PASS")), 150, "tests that pass")
	require.Equal(t, documentedFailures(t, "go-sql-driver/mysql"), failed,
		"docs/clients.md must list the failing tests\n%s", failures(out))
}

// driverTests builds the test program of the driver from the module cache, which is read-only and has no go.sum of ours.
func driverTests(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", driverModule).Output()
	require.NoError(t, err)
	source := t.TempDir()
	require.NoError(t, os.CopyFS(source, os.DirFS(strings.TrimSpace(string(dir)))))
	require.NoError(t, filepath.WalkDir(source, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o755)
	}))
	program := filepath.Join(source, "driver.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", program, ".")
	build.Dir = source
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// tests are the top-level tests with a result, sorted.
func tests(out []byte, result string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^--- `+result+`: (\w+)`).FindAllSubmatch(out, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return names
}

// failures are the lines of a test's output that tell of failures.
func failures(out []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(out) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("--- PASS")) && !bytes.HasPrefix(line, []byte("===")) {
			b.Write(line)
		}
	}
	return b.String()
}

// documentedFailures are the names in the first column of the table below a heading of docs/clients.md, sorted.
func documentedFailures(t *testing.T, heading string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## "+heading)
	require.True(t, found, "docs/clients.md has no section %q", heading)
	section, _, _ = strings.Cut(section, "\n#")
	var names []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(section, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}
