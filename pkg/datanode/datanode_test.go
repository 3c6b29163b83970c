package datanode

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	datanodev1 "skarv/proto/datanode/v1"
)

// The test binary doubles as the process whose death must leave no server behind.
const parentOf = "SKARV_TEST_PARENT_OF"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentOf); dir != "" {
		beParent(dir)
	}
	os.Exit(m.Run())
}

func beParent(dir string) {
	ctx := context.Background()
	n, err := openNode(ctx, dir)
	if err == nil {
		go n.Run(ctx)
		if err = n.Initialise(ctx); err == nil {
			err = n.Start(ctx)
		}
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(n.Status().Pid)
	select {} // until killed
}

func engine() Engine {
	if e := os.Getenv("SKARV_TEST_ENGINE"); e != "" {
		return Engine(e)
	}
	return MariaDB
}

func openNode(ctx context.Context, dir string) (*Node, error) {
	b, err := Find(ctx, engine(), "")
	if err != nil {
		return nil, err
	}
	templates := ""
	if cache, err := CacheDir(); err == nil {
		templates = filepath.Join(cache, "templates")
	}
	return Open(Config{Dir: dir, Binary: b, ID: 7, Small: true, Relaxed: true, Templates: templates})
}

// run opens the node of dir and runs it until the test ends or stop is called.
func run(t *testing.T, dir string) (n *Node, stop func()) {
	t.Helper()
	n, err := openNode(t.Context(), dir)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	stopped := false
	stop = func() {
		cancel()
		if !stopped {
			stopped = true
			require.NoError(t, <-done)
		}
	}
	t.Cleanup(stop)
	return n, stop
}

func up(t *testing.T, n *Node) {
	t.Helper()
	require.NoError(t, n.Initialise(t.Context()))
	require.NoError(t, n.Start(t.Context()))
	require.Equal(t, Running, n.Status().State)
}

func await(t *testing.T, n *Node, until func(Status) bool) Status {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		changed := n.Changed()
		if s := n.Status(); until(s) {
			return s
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("still %+v", n.Status())
		}
	}
}

func TestLife(t *testing.T) {
	dir := t.TempDir()
	n, stop := run(t, dir)
	require.Equal(t, Uninitialised, n.Status().State)
	require.ErrorIs(t, n.Start(t.Context()), ErrNotInitialised)
	up(t, n)
	first := n.Status()

	t.Run("the settings arrived", func(t *testing.T) {
		for query, want := range map[string]string{
			"SELECT @@server_id":                            "7",
			"SELECT @@log_bin":                              "1",
			"SELECT @@binlog_row_metadata":                  "FULL",
			"SELECT @@character_set_server":                 "utf8mb4",
			"SELECT CURRENT_USER()":                         "skarv@%",
			"SELECT COUNT(*) FROM mysql.user WHERE user=''": "0",
		} {
			got, err := n.ask(t.Context(), query)
			require.NoError(t, err, query)
			require.Equal(t, want, got, query)
		}
	})
	t.Run("the log begins empty", func(t *testing.T) {
		query := "SELECT @@gtid_binlog_pos"
		if n.cfg.Binary.Flavor == "mysql" {
			query = "SELECT @@gtid_executed"
		}
		got, err := n.ask(t.Context(), query)
		require.NoError(t, err)
		require.Empty(t, got)
	})
	t.Run("nobody else opens the directory", func(t *testing.T) {
		_, err := openNode(t.Context(), dir)
		require.ErrorContains(t, err, fmt.Sprintf("in use by process %d", os.Getpid()))
	})
	t.Run("stop, start", func(t *testing.T) {
		require.NoError(t, n.Stop(t.Context()))
		require.Equal(t, Stopped, n.Status().State)
		require.ErrorIs(t, syscall.Kill(first.Pid, 0), syscall.ESRCH)
		require.NoError(t, n.Stop(t.Context()))
		require.NoError(t, n.Start(t.Context()))
		require.NoError(t, n.Start(t.Context()))
		require.Equal(t, first.Addr, n.Status().Addr, "the port is kept")
	})
	t.Run("a second run finds the data", func(t *testing.T) {
		_, err := n.ask(t.Context(), "SELECT 1")
		require.NoError(t, err)
		exec1(t, n, "CREATE DATABASE kept")
		user, password := n.Account()
		stop()
		require.ErrorIs(t, n.Start(t.Context()), ErrEnded)
		n, _ := run(t, dir)
		up(t, n)
		u, p := n.Account()
		require.Equal(t, []string{user, password}, []string{u, p})
		got, err := n.ask(t.Context(), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name='kept'")
		require.NoError(t, err)
		require.Equal(t, "1", got)
	})
}

func exec1(t *testing.T, n *Node, sql string) {
	t.Helper()
	c, err := n.connect(t.Context())
	require.NoError(t, err)
	defer c.Close()
	st, err := c.Prepare(sql)
	require.NoError(t, err)
	_, err = st.Exec(nil) //nolint:staticcheck // no arguments
	require.NoError(t, err)
}

func TestCrashIsRepaired(t *testing.T) {
	n, _ := run(t, t.TempDir())
	up(t, n)
	before := n.Status()
	dead := n.Changed()
	require.NoError(t, n.Crash())
	<-dead
	first := n.Status()
	require.Equal(t, 1, first.Restarts)
	require.NotEqual(t, before.Pid, first.Pid, "who counts the death does not tell the dead server's process")
	after := await(t, n, func(s Status) bool { return s.Restarts == 1 && s.State == Running })
	require.NotEqual(t, before.Pid, after.Pid)
	require.Contains(t, after.LastError, "ended unexpectedly")
	_, err := n.ask(t.Context(), "SELECT 1")
	require.NoError(t, err)
}

func TestKilledStaysDown(t *testing.T) {
	n, _ := run(t, t.TempDir())
	up(t, n)
	require.NoError(t, n.Kill(t.Context()))
	require.Equal(t, Stopped, n.Status().State)
	require.NoError(t, n.Start(t.Context()))
}

func TestNoChildSurvivesItsParent(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentOf+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscan(line, &pid)
	require.NoError(t, err, line)

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	// Opening the directory waits for the server that is being killed.
	n, _ := run(t, dir)
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
		argv, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		require.Empty(t, string(argv), "only a zombie may be left")
	}
	up(t, n)
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	write := func(dir, name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	good := func(change func(map[string]any)) string {
		m := map[string]any{"skarv_data_node": 1, "engine": engine(), "server_version": "9.0.0", "server_id": 7, "initialised": true}
		if engine() == MariaDB {
			m["server_version"] = "10.11.1-MariaDB"
		}
		change(m)
		text, _ := json.Marshal(m)
		return string(text)
	}
	for name, c := range map[string]struct {
		make func(dir string)
		want string
	}{
		"foreign": {
			func(dir string) { write(dir, "ibdata1", "x") },
			"is not a data node's directory: it holds ibdata1",
		},
		"marker cut off": {
			func(dir string) { write(dir, "skarv.json", `{"skarv_data_no`) },
			"is damaged: skarv.json: unexpected end",
		},
		"marker of something else": {
			func(dir string) { write(dir, "skarv.json", `{"a":1}`) },
			"not a data node's marker",
		},
		"from the future": {
			func(dir string) { write(dir, "skarv.json", `{"skarv_data_node":99}`) },
			"made by a newer skarv (format 99",
		},
		"other engine": {
			func(dir string) { write(dir, "skarv.json", good(func(m map[string]any) { m["engine"] = "oracle" })) },
			"belongs to oracle, but ",
		},
		"newer server": {
			func(dir string) {
				write(dir, "skarv.json", good(func(m map[string]any) { m["server_version"] = "99.1.0" }))
			},
			"was last used by " + string(engine()) + " 99.1.0",
		},
		"other id": {
			func(dir string) { write(dir, "skarv.json", good(func(m map[string]any) { m["server_id"] = 8 })) },
			"belongs to server id 8, not 7",
		},
		"no system tables": {
			func(dir string) { write(dir, "skarv.json", good(func(map[string]any) {})) },
			"its system tables are missing",
		},
		"no tablespace": {
			func(dir string) {
				write(dir, "skarv.json", good(func(map[string]any) {}))
				write(dir, "data/mysql/x", "")
			},
			"its tablespace is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(dir)
			_, err := openNode(t.Context(), dir)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, dir)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestDamagedTablespace(t *testing.T) {
	dir := t.TempDir()
	n, stop := run(t, dir)
	up(t, n)
	stop()
	f, err := os.OpenFile(filepath.Join(dir, "data", "ibdata1"), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	n, _ = run(t, dir)
	err = n.Start(t.Context())
	require.ErrorContains(t, err, "did not come up: ")
	require.ErrorContains(t, err, "ibdata1")
	require.ErrorContains(t, err, filepath.Join(dir, "error.log"))
	require.NotContains(t, err.Error(), "\n")
	require.Equal(t, Failed, n.Status().State)
	require.Zero(t, n.Status().Pid)
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	b, err := Find(t.Context(), engine(), "")
	require.NoError(t, err)
	n, err := Open(Config{Dir: t.TempDir(), Binary: b, ID: 1, Addr: l.Addr().String(), Small: true})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- n.Run(ctx) }()
	require.NoError(t, n.Initialise(t.Context()), "without a template too")
	err = n.Start(t.Context())
	require.ErrorContains(t, err, "cannot listen on "+l.Addr().String())
	require.ErrorContains(t, err, "in use")
	cancel()
	require.NoError(t, <-done)
}

func TestRefusedVariableStopsTheStart(t *testing.T) {
	n, _ := run(t, t.TempDir())
	require.NoError(t, n.Initialise(t.Context()))
	_, err := n.Configure(t.Context(), map[string]string{"no_such_variable": "1"})
	require.NoError(t, err, "nobody to ask while the server is down")
	err = n.Start(t.Context())
	require.ErrorContains(t, err, "no_such_variable")
	_, err = n.Configure(t.Context(), map[string]string{"no_such_variable": ""})
	require.NoError(t, err)
	require.NoError(t, n.Start(t.Context()))
}

func TestInitialisationBegunAnew(t *testing.T) {
	dir := t.TempDir()
	n, _ := run(t, dir)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data.new", "mysql"), 0o700))
	up(t, n)
}

// What a death just before the end of an initialisation has left, or one in the middle of an Erase, is nobody's data.
func TestDeathAtTheEndOfInitialisation(t *testing.T) {
	for discard, refused := range map[bool]bool{true: false, false: true} {
		dir := t.TempDir()
		n, stop := run(t, dir)
		require.NoError(t, n.Initialise(t.Context()))
		require.NoError(t, n.dir.change(func(m *marker) { m.Initialised, m.Discard = false, discard }))
		stop()
		n, _ = run(t, dir)
		if refused {
			require.ErrorContains(t, n.Initialise(t.Context()), "holds data but was never initialised")
			continue
		}
		up(t, n)
		require.False(t, n.dir.marker.Discard)
		require.NoError(t, n.Erase(t.Context()))
		require.False(t, n.dir.marker.Discard)
		up(t, n)
	}
}

func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	n, _ := run(t, dir)
	up(t, n)
	require.LessOrEqual(t, len(n.Status().Socket), maxSocketPath)
}

func TestService(t *testing.T) {
	n, _ := run(t, t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	datanodev1.RegisterDataNodeServer(server, NewService(n))
	go server.Serve(l) //nolint:errcheck // ends with Stop
	defer server.Stop()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	c := datanodev1.NewDataNodeClient(conn)
	ctx := t.Context()

	_, err = c.Start(ctx, &datanodev1.StartRequest{})
	require.ErrorContains(t, err, "not initialised")
	account, err := c.Initialise(ctx, &datanodev1.InitialiseRequest{})
	require.NoError(t, err)
	require.Equal(t, "skarv", account.User)
	require.NotEmpty(t, account.Password)
	started, err := c.Start(ctx, &datanodev1.StartRequest{})
	require.NoError(t, err)
	require.Equal(t, datanodev1.State_STATE_RUNNING, started.Status.State)
	require.NotZero(t, started.Status.Pid)
	answer, err := c.Configure(ctx, &datanodev1.ConfigureRequest{Variables: map[string]string{"max_connections": "321", "back_log": "77"}})
	require.NoError(t, err)
	require.Equal(t, []string{"back_log"}, answer.NeedRestart)
	got, err := n.ask(ctx, "SELECT @@max_connections")
	require.NoError(t, err)
	require.Equal(t, "321", got)
	for name, value := range map[string]string{"datadir": "/", "a b": "1", "sql_mode": "x\ny", "no_such_variable": "1"} {
		_, err = c.Configure(ctx, &datanodev1.ConfigureRequest{Variables: map[string]string{name: value}})
		require.Error(t, err, name)
	}
	_, err = c.Stop(ctx, &datanodev1.StopRequest{})
	require.NoError(t, err)
	_, err = c.Start(ctx, &datanodev1.StartRequest{})
	require.NoError(t, err)
	got, err = n.ask(ctx, "SELECT CONCAT(@@max_connections, '/', @@back_log)")
	require.NoError(t, err)
	require.Equal(t, "321/77", got)
	st, err := c.Status(ctx, &datanodev1.StatusRequest{})
	require.NoError(t, err)
	require.Equal(t, string(engine()), st.Flavor)
}

func TestFind(t *testing.T) {
	_, err := Find(t.Context(), Auto, "/no/such/mysqld")
	require.ErrorContains(t, err, "/no/such/mysqld")
	_, err = Find(t.Context(), Auto, "/bin/true")
	require.ErrorContains(t, err, "no database server")
	fake := func(says string) string {
		path := filepath.Join(t.TempDir(), "mysqld")
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o700))
		return path
	}
	_, err = Find(t.Context(), Auto, fake("mysqld  Ver 5.7.44 for Linux"))
	require.ErrorContains(t, err, "is mysql 5.7.44, Skarv needs 8.0.29 or newer")
	_, err = Find(t.Context(), Auto, fake("mysqld  Ver 10.6.2-MariaDB for debian"))
	require.ErrorContains(t, err, "Skarv needs 10.11.0 or newer")
	_, err = Find(t.Context(), MySQL, fake("mysqld  Ver 11.4.2-MariaDB for debian"))
	require.ErrorContains(t, err, "not mysql")
	b, err := Find(t.Context(), MySQL, fake("mysqld  Ver 8.4.0 for Linux"))
	require.NoError(t, err)
	require.Equal(t, "8.4.0", b.Version)
}

func TestBackoff(t *testing.T) {
	var b backoff
	require.Equal(t, firstPause, b.next())
	require.Equal(t, 2*firstPause, b.next())
	for range 20 {
		b.next()
	}
	require.Equal(t, longestPause, b.next())
	b.survived(time.Second)
	require.Equal(t, longestPause, b.next())
	b.survived(longLife)
	require.Equal(t, firstPause, b.next())
}
