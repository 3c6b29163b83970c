package dev

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
)

// The test binary doubles as the process whose death must leave no server behind.
const clusterIn = "SKARV_TEST_CLUSTER_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(clusterIn); dir != "" {
		beCluster(dir)
	}
	os.Exit(m.Run())
}

func beCluster(dir string) {
	c, err := New(context.Background(), Config{NodeGroups: 2, Engine: engine(), DataDir: dir})
	if err == nil {
		go func() {
			<-c.Ready()
			_ = json.NewEncoder(os.Stdout).Encode(c.Info())
		}()
		err = c.Run(context.Background())
	}
	fmt.Println("ended:", err)
	os.Exit(1)
}

func engine() datanode.Engine {
	if e := os.Getenv("SKARV_TEST_ENGINE"); e != "" {
		return datanode.Engine(e)
	}
	return datanode.MariaDB
}

// start runs a cluster until stop or the test's end.
func start(t *testing.T, cfg Config) (c *Cluster, stop func()) {
	t.Helper()
	cfg.Engine = engine()
	c, err := New(t.Context(), cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stopped := false
	stop = func() {
		cancel()
		if !stopped {
			stopped = true
			require.NoError(t, <-done)
		}
	}
	t.Cleanup(stop)
	select {
	case <-c.Ready():
	case err := <-done:
		stopped = true
		t.Fatal("ended before it was ready: ", err)
	case <-time.After(time.Minute):
		t.Fatal("not ready")
	}
	return c, stop
}

func open(t *testing.T, c *Cluster, db string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("mysql", "root@tcp("+c.Info().MySQLAddr+")/"+db)
	require.NoError(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func TestSecondStartFindsAllData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var steps []string
	c, stop := start(t, Config{NodeGroups: 3, DataDir: dir, Progress: func(s string) { steps = append(steps, s) }})
	info := c.Info()
	require.Len(t, info.NodeGroups, 3)
	require.Equal(t, os.Getpid(), info.Pid)
	require.Contains(t, strings.Join(steps, "\n"), "node group 3 is up")
	db := open(t, c, "")
	for _, sql := range []string{
		"CREATE DATABASE kept",
		"CREATE TABLE kept.t (id INT PRIMARY KEY, v VARCHAR(10))",
		"INSERT INTO kept.t VALUES (1, 'one'), (2, 'two'), (3, 'three')",
	} {
		_, err := db.Exec(sql)
		require.NoError(t, err, sql)
	}
	_, err := New(t.Context(), Config{DataDir: dir})
	require.ErrorContains(t, err, fmt.Sprintf("in use by process %d", os.Getpid()))
	stop()

	for name, cfg := range map[string]Config{
		"has 3 node groups, not 2":                 {DataDir: dir, NodeGroups: 2},
		"belongs to " + string(engine()) + ", not": {DataDir: dir, Engine: other()},
	} {
		_, err := New(t.Context(), cfg)
		require.ErrorContains(t, err, name)
	}

	moved := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.Rename(dir, moved))
	c, _ = start(t, Config{DataDir: moved})
	require.Len(t, c.Info().NodeGroups, 3)
	var v string
	require.NoError(t, open(t, c, "kept").QueryRow("SELECT v FROM t WHERE id = 2").Scan(&v))
	require.Equal(t, "two", v)
}

func other() datanode.Engine {
	if engine() == datanode.MySQL {
		return datanode.MariaDB
	}
	return datanode.MySQL
}

func TestTemporaryDirectoryGoes(t *testing.T) {
	c, stop := start(t, Config{NodeGroups: 1})
	dir := c.Info().DataDir
	require.DirExists(t, dir)
	stop()
	require.NoDirExists(t, dir)
}

func TestKilledParentLeavesNoServer(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), clusterIn+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var info Info
	require.NoError(t, json.Unmarshal(line, &info), "%s", line)
	require.Len(t, info.NodeGroups, 2)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	c, _ := start(t, Config{DataDir: dir})
	for i, g := range c.Info().NodeGroups {
		require.NotEqual(t, info.NodeGroups[i].Pid, g.Pid)
		argv, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", info.NodeGroups[i].Pid))
		require.NotContains(t, string(argv), dir)
	}
}

func TestWhatIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	busy := l.Addr().String()
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "thesis.txt"), nil, 0o600))
	damaged := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(damaged, "skarv.json"), []byte("{"), 0o600))
	node := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(node, "skarv.json"), []byte(`{"skarv_data_node":1}`), 0o600))
	for want, cfg := range map[string]Config{
		"--mysql-addr " + busy + " cannot be listened on": {MySQLAddr: busy},
		"--http-addr " + busy + " cannot be listened on":  {HTTPAddr: busy},
		"--admin-addr 1234: must be HOST:PORT":            {AdminAddr: "1234"},
		"listens on loopback only":                        {MySQLAddr: "0.0.0.0:3306"},
		"4 replicas: must be 0 to 3":                      {Replicas: 4},
		"1000 node groups: must be 1 to 64":               {NodeGroups: 1000},
		"it holds thesis.txt but no skarv.json":           {DataDir: foreign},
		"is damaged: skarv.json: unexpected end":          {DataDir: damaged},
		"is not one of `skarv dev`":                       {DataDir: node},
		"/no/such/server":                                 {ServerBinary: "/no/such/server"},
	} {
		_, err := New(t.Context(), cfg)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
	require.FileExists(t, filepath.Join(foreign, "thesis.txt"))
	require.NoFileExists(t, filepath.Join(foreign, "lock"))
}

func TestServerThatDoesNotComeUp(t *testing.T) {
	dir := t.TempDir()
	c, err := New(t.Context(), Config{NodeGroups: 2, Engine: engine(), DataDir: dir, Variables: map[string]string{"no_such_variable": "1"}})
	require.NoError(t, err)
	err = c.Run(t.Context())
	require.ErrorContains(t, err, "node group ")
	require.ErrorContains(t, err, "no_such_variable")
	require.ErrorContains(t, err, "error.log")
	require.NotContains(t, err.Error(), "\n")
}

func TestCancelWhileStarting(t *testing.T) {
	c, err := New(t.Context(), Config{NodeGroups: 2, Engine: engine(), DataDir: t.TempDir()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, c.Run(ctx))
}
