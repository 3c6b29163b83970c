// Package console is the process's window for people and monitoring, over HTTP: /healthz, /readyz, /metrics,
// perhaps /debug/pprof/, the state of the cluster as JSON at /api/status and as a page at /. It only reads. It knows nothing
// of how the process works: what it shows it is given by the callbacks of its Config.
//
// There is no login: bind it to loopback or a network of your own.
package console

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"skarv/pkg/placement"
)

// Config says where to listen and where to look. Callbacks are called from many goroutines at once; but for Status, which may take
// seconds, they must not wait for anything.
type Config struct {
	Addr string // HOST:PORT
	// Listener is served instead of Addr if it is not nil; the Console closes it.
	Listener net.Listener
	// Gatherer is what /metrics shows.
	Gatherer prometheus.Gatherer
	// Ready returns why the process cannot serve clients now, or nil. A nil func is always ready.
	Ready func() error
	// Status returns what /api/status and the page show. A nil func shows nothing.
	Status func(context.Context) Status
	// Profiles: /debug/pprof/ is there.
	Profiles bool
	Log      *slog.Logger
}

// Status is what the process tells of itself and of the cluster as it sees it.
type Status struct {
	Version   string    `json:"version"`
	Process   string    `json:"process"` // this process's name among the cluster's
	Roles     []string  `json:"roles"`
	Since     time.Time `json:"since"`
	MySQLAddr string    `json:"mysql_addr,omitempty"`
	AdminAddr string    `json:"admin_addr,omitempty"`
	Cluster   string    `json:"cluster,omitempty"` // id; empty before `cluster init`
	Backends  string    `json:"backends,omitempty"`
	Epoch     uint64    `json:"map_epoch"`
	// Map is what the page draws; nil before `cluster init`.
	Map      *placement.PartitionMap `json:"-"`
	Revision int64                   `json:"revision"` // of the cluster state in use
	Leader   string                  `json:"leader,omitempty"`
	// Etcd is empty while etcd answers, else what is wrong with it.
	Etcd        string      `json:"etcd,omitempty"`
	Connections int         `json:"client_connections"`
	NodeGroups  []NodeGroup `json:"node_groups"`
	// Problems are what is wrong with the cluster, each with the next step: the PROBLEM lines of skarvctl status.
	Problems []string `json:"problems"`
}

// NodeGroup is one node group as this process sees it.
type NodeGroup struct {
	ID         uint16 `json:"id"`
	Name       string `json:"name"`
	Primary    string `json:"primary"`
	Version    string `json:"version"`
	Partitions int    `json:"partitions"`
	Up         bool   `json:"up"`
	Problem    string `json:"problem,omitempty"`
}

// Console is the HTTP server. Obtain it from Listen.
type Console struct {
	listener net.Listener
	server   *http.Server
}

// Limits on what a client may send and how slowly.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	drainTimeout  = 2 * time.Second
	// maxScrapes is how many requests to /metrics are answered at once.
	maxScrapes = 4
)

//go:embed page.html
var files embed.FS

// Listen takes the address; Run serves it.
func Listen(cfg Config) (*Console, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	page, err := template.ParseFS(files, "page.html")
	if err != nil {
		return nil, fmt.Errorf("console page: %w", err)
	}
	l := cfg.Listener
	if l == nil {
		if l, err = net.Listen("tcp", cfg.Addr); err != nil {
			return nil, fmt.Errorf("listen for HTTP on %s: %w", cfg.Addr, err)
		}
	}
	return &Console{
		listener: l,
		server: &http.Server{
			Handler:           handler(cfg, page),
			ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
			ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
		},
	}, nil
}

// Addr is the address listened on.
func (c *Console) Addr() net.Addr { return c.listener.Addr() }

// Close gives the address back if Run is never called.
func (c *Console) Close() error { return c.listener.Close() }

// Run serves until ctx ends, then lets running requests end for a moment. It returns after all have.
func (c *Console) Run(ctx context.Context) error {
	drained := make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		defer close(drained)
		dctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if c.server.Shutdown(dctx) != nil {
			_ = c.server.Close() // profiles of many seconds are cut off
		}
	})
	err := c.server.Serve(c.listener)
	if !undo() {
		<-drained
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("HTTP on %s: %w", c.listener.Addr(), err)
}

func handler(cfg Config, page *template.Template) http.Handler {
	status := func(r *http.Request) Status {
		if cfg.Status == nil {
			return Status{}
		}
		return cfg.Status(r.Context())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if cfg.Ready != nil {
			if err := cfg.Ready(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		fmt.Fprintln(w, "ok")
	})
	if cfg.Gatherer != nil {
		mux.Handle("GET /metrics", promhttp.HandlerFor(cfg.Gatherer, promhttp.HandlerOpts{
			MaxRequestsInFlight: maxScrapes, EnableOpenMetrics: true,
		}))
	}
	mux.HandleFunc("GET /api/status", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		if err := enc.Encode(status(r)); err != nil {
			cfg.Log.Debug("status not sent", "error", err)
		}
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := page.Execute(w, status(r)); err != nil {
			cfg.Log.Debug("page not sent", "error", err)
		}
	})
	if cfg.Profiles {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		mux.ServeHTTP(w, r)
	})
}
