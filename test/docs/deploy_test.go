package docs

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"gopkg.in/yaml.v3"

	"skarv/pkg/adminaccess"
	"skarv/pkg/server"
	adminv1 "skarv/proto/admin/v1"
)

const deploy = "../../deploy"

// every YAML document of a file, decoded.
func documents(t *testing.T, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var all []map[string]any
	for dec := yaml.NewDecoder(f); ; {
		var d map[string]any
		err := dec.Decode(&d)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err, path)
		all = append(all, d)
	}
}

// inside follows keys of nested maps.
func inside(t *testing.T, v any, keys ...string) string {
	t.Helper()
	for _, key := range keys {
		m, ok := v.(map[string]any)
		require.True(t, ok, key)
		v = m[key]
	}
	text, ok := v.(string)
	require.True(t, ok, "%v", keys)
	return text
}

func TestExampleConfigurationsAreGood(t *testing.T) {
	_, err := server.ReadConfig(filepath.Join(deploy, "skarv.yaml"))
	require.NoError(t, err)
	compose := documents(t, filepath.Join(deploy, "compose/compose.yaml"))
	_, err = server.ParseConfig("compose", []byte(inside(t, compose[0], "configs", "skarv", "content")))
	require.NoError(t, err)
	kubernetes := documents(t, filepath.Join(deploy, "kubernetes/skarv.yaml"))
	require.Len(t, kubernetes, 5)
	secret := t.TempDir()
	command(t, secret, "kubernetes/skarv.yaml", "openssl req")
	command(t, secret, "kubernetes/skarv.yaml", "openssl rand")
	config := strings.ReplaceAll(inside(t, kubernetes[0], "data", "skarv.yaml"), "/etc/skarv-admin", secret)
	_, err = server.ParseConfig("kubernetes", []byte(config))
	require.NoError(t, err)

	// The pods take each other for who they are.
	access, err := adminaccess.Load(adminaccess.Files{
		Cert: filepath.Join(secret, "tls.crt"), Key: filepath.Join(secret, "tls.key"), CA: filepath.Join(secret, "tls.crt"), Token: filepath.Join(secret, "token"),
	}, nil)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	pod := grpc.NewServer(access.ServerOptions()...)
	t.Cleanup(pod.Stop)
	go func() { _ = pod.Serve(l) }() // until Stop
	for _, name := range []string{"skarv-1.skarv-pods.default.svc", "127.0.0.1"} {
		options, err := access.DialOptions(l.Addr().String(), false, name)
		require.NoError(t, err)
		conn, err := grpc.NewClient(l.Addr().String(), options...)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		_, err = adminv1.NewAdminClient(conn).Status(t.Context(), &adminv1.StatusRequest{})
		require.Equal(t, codes.Unimplemented, status.Code(err), err)
	}
}

// command runs a command that a file tells its reader to run, in a directory.
func command(t *testing.T, dir, file, begin string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, file))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "#   "+begin)
	require.True(t, found)
	line, _, _ := strings.Cut(strings.ReplaceAll(rest, "\\\n#", ""), "\n")
	c := exec.CommandContext(t.Context(), "sh", "-c", begin+line)
	c.Dir = dir
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// Metrics that deploy/ and the operations guide speak of must be metrics of the code.
func TestMetricsThatAreNamedExist(t *testing.T) {
	name := regexp.MustCompile(`\bskarv_[a-z_]+\b`)
	known := map[string]bool{}
	err := filepath.WalkDir("../../pkg", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range regexp.MustCompile(`"(skarv_[a-z_]+)"`).FindAllStringSubmatch(string(text), -1) {
			known[found[1]] = true
		}
		return err
	})
	require.NoError(t, err)
	for _, file := range []string{"../../docs/operations.md", deploy + "/grafana/skarv.json", deploy + "/prometheus/skarv-alerts.yaml"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		names := name.FindAllString(string(text), -1)
		require.NotEmpty(t, names)
		for _, n := range names {
			base := n
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				base = strings.TrimSuffix(base, suffix)
			}
			require.True(t, known[n] || known[base], "%s speaks of %s, which no code counts", file, n)
		}
	}
}

func TestDashboardIsJSON(t *testing.T) {
	text, err := os.ReadFile(deploy + "/grafana/skarv.json")
	require.NoError(t, err)
	var d struct{ Panels []struct{ Title string } }
	require.NoError(t, json.Unmarshal(text, &d))
	require.NotEmpty(t, d.Panels)
	rules := documents(t, deploy+"/prometheus/skarv-alerts.yaml")
	require.Contains(t, rules[0], "groups")
}
