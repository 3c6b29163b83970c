package cluster

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"skarv/pkg/datanode"
	"skarv/pkg/dev"
)

// Server is one plain database server with the settings of a cluster's servers.
type Server struct {
	*datanode.Node
	stop func() error
}

// StartServer runs a plain server until the test ends.
func StartServer(t testing.TB, options ...Option) *Server {
	t.Helper()
	cfg := dev.Config{Engine: TestEngine(), DataDir: shortTempDir(t)}
	for _, o := range options {
		o(&cfg)
	}
	s, err := OpenServer(t.Context(), cfg)
	if err != nil {
		t.Fatalf("start server: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop server: %v", err)
		}
	})
	return s
}

// OpenServer runs a plain server until Stop, for callers without a test; ctx is for its start. Of cfg it takes Engine, ServerBinary, DataDir and
// Variables.
func OpenServer(ctx context.Context, cfg dev.Config) (*Server, error) {
	b, err := datanode.Find(ctx, cfg.Engine, cfg.ServerBinary)
	if err != nil {
		return nil, err
	}
	templates := ""
	if cache, err := datanode.CacheDir(); err == nil {
		templates = filepath.Join(cache, "templates")
	}
	n, err := datanode.Open(datanode.Config{
		Dir: filepath.Join(cfg.DataDir, "server"), Binary: b, ID: 99, Small: true, Relaxed: true,
		Variables: cfg.Variables, Templates: templates,
	})
	if err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(run) }()
	s := &Server{n, func() error {
		cancel()
		return <-done
	}}
	if err = n.Initialise(ctx); err == nil {
		err = n.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// Stop ends the server and returns when it has ended. The test's end does it too.
func (s *Server) Stop() error { return s.stop() }

// Addr is where the server listens by TCP; use Account to log in.
func (s *Server) Addr() string { return s.Status().Addr }

// DSN logs in as the server's root.
func (s *Server) DSN(db string, params ...string) string {
	return "root@unix(" + s.Status().Socket + ")/" + db + query(params)
}

// TCP logs in over TCP, as the account Skarv would use.
func (s *Server) TCP(db string, params ...string) string {
	user, password := s.Account()
	return user + ":" + password + "@tcp(" + s.Addr() + ")/" + db + query(params)
}

// DB is a pool of connections, closed at the test's end.
func (s *Server) DB(t testing.TB, db string, params ...string) *sql.DB {
	t.Helper()
	return openDB(t, s.DSN(db, params...))
}

func readAll(t testing.TB, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
