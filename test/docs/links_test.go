package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#([^)\s]+))?\)`)

// TestLinks follows the links of all documents to other files and their headings, and finds from README.md and ARCHITECTURE.md
// every document there is: what nothing leads to is not read.
func TestLinks(t *testing.T) {
	const root = "../.."
	documents := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".md") {
			var text []byte
			text, err = os.ReadFile(path)
			documents[path] = string(text)
		}
		return err
	}))
	linked := map[string]bool{}
	for path, text := range documents {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to := filepath.Join(filepath.Dir(path), m[1])
			_, err := os.Stat(to)
			require.NoError(t, err, "a link of %s", path)
			if m[2] != "" {
				require.Contains(t, anchors(documents[to]), m[2], "a link of %s to %s", path, m[1])
			}
			if path == filepath.Join(root, "README.md") || path == filepath.Join(root, "ARCHITECTURE.md") {
				linked[to] = true
			}
		}
	}
	for path := range documents {
		if path != filepath.Join(root, "README.md") && !strings.Contains(path, "testdata") {
			require.True(t, linked[path], "neither README.md nor ARCHITECTURE.md has a link to %s", path)
		}
	}
}

// anchors are the names by which the headings of a document can be linked to.
func anchors(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(heading)), " ", "-")
			all = append(all, regexp.MustCompile(`[^a-z0-9_-]`).ReplaceAllString(name, ""))
		}
	}
	return all
}
