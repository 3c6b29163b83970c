package cluster

import (
	"context"
	"database/sql"
	"io"
	"path/filepath"
	"testing"

	"skarv/pkg/datanode"
	"skarv/pkg/dev"
)

// Server is one plain database server with the settings of a cluster's servers.
type Server struct {
	*datanode.Node
}

// StartServer runs a plain server until the test ends.
func StartServer(t testing.TB, options ...Option) *Server {
	t.Helper()
	cfg := dev.Config{Engine: TestEngine(), DataDir: shortTempDir(t)}
	for _, o := range options {
		o(&cfg)
	}
	b, err := datanode.Find(t.Context(), cfg.Engine, cfg.ServerBinary)
	if err != nil {
		t.Fatalf("start server: %v", err)
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
		t.Fatalf("start server: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stop server: %v", err)
		}
	})
	if err = n.Initialise(t.Context()); err == nil {
		err = n.Start(t.Context())
	}
	if err != nil {
		t.Fatalf("start server: %v", err)
	}
	return &Server{n}
}

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
