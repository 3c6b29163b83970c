package e2e

import (
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmeSession is what README.md shows of a first session: the statements, what the client prints, and the operator's commands with what
// is said of each.
type readmeSession struct {
	statements, printed string
	commands            [][2]string
}

func readReadme(t *testing.T) (s readmeSession) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(text), "```\n$ mariadb ")
	require.True(t, found, "README.md shows no session")
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(block, "\n")
	for _, line := range lines[1:] { // behind the client's arguments
		if prompt := regexp.MustCompile(`^(MariaDB \[[^]]*\]>|    ->) `).FindString(line); prompt != "" {
			s.statements += line[len(prompt):] + "\n"
		} else if c, ok := strings.CutPrefix(line, "$ bin/skarvctl "); ok {
			command, claim, _ := strings.Cut(c, "#")
			s.commands = append(s.commands, [2]string{strings.TrimSpace(command), strings.TrimSpace(claim)})
		} else if line != "" {
			s.printed += line + "\n"
		}
	}
	return s
}

// The session of README.md ends as README.md says.
func TestReadme(t *testing.T) {
	session := readReadme(t)
	p, info := startDev(t, "--node-groups", "4")
	host, port, err := net.SplitHostPort(info.MySQLAddr)
	require.NoError(t, err)
	client := exec.CommandContext(t.Context(), "mariadb", "--no-defaults", "--table", "--host="+host, "--port="+port, "--user=root")
	client.Stdin = strings.NewReader(session.statements)
	out, err := client.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, session.printed, string(out))

	ctl := &proxy{process: p, mysql: info.MySQLAddr, admin: info.AdminAddr}
	// holds are what proves the claims that stand behind the commands.
	holds := map[string]func(out string){
		"which partition and node group, and why": func(out string) {
			require.Regexp(t, `(?i)partition +\d+`, out)
			require.Regexp(t, `ng[1-4]`, out)
		},
		"3840 of them, 960 on each node group": func(out string) {
			require.Contains(t, out, "3840 partitions")
			require.Len(t, regexp.MustCompile(`(?m)^\s*\d+\s+\S+\s+960\s`).FindAllString(out, -1), 4, out)
		},
		"a fifth, still empty": func(string) {
			require.Regexp(t, `(?m)^\s*5\s+\S+\s+0\s`, ctl.must(t, "partitions"))
		},
		"its share of the partitions moves to it, while clients read and write": func(string) {
			require.Len(t, regexp.MustCompile(`(?m)^\s*\d+\s+\S+\s+768\s`).FindAllString(ctl.must(t, "partitions"), -1), 5)
		},
	}
	for _, c := range session.commands {
		r := ctl.ctlWith(t, "y\n", strings.Fields(c[0])...)
		require.Zero(t, r.code, "skarvctl %s: %s%s", c[0], r.out, r.errs)
		require.Contains(t, holds, c[1], "nothing proves what README.md says of skarvctl %s", c[0])
		holds[c[1]](r.out)
		delete(holds, c[1])
	}
	require.Empty(t, holds, "README.md does not say any more")
}
