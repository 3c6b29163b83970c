package console

import (
	"context"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
)

// Without Profiles nobody takes any.
func TestProfilesLeftOut(t *testing.T) {
	page, err := template.ParseFS(files, "page.html")
	require.NoError(t, err)
	for profiles, want := range map[bool]int{false: 404, true: 200} {
		w := httptest.NewRecorder()
		handler(Config{Profiles: profiles}, page).ServeHTTP(w, httptest.NewRequest("GET", "/debug/pprof/", nil))
		require.Equal(t, want, w.Code)
	}
}

func TestConsole(t *testing.T) {
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "skarv_test_total", Help: "Tests."})
	registry.MustRegister(counter)
	var broken atomic.Bool
	c, err := Listen(Config{
		Addr: "127.0.0.1:0", Gatherer: registry, Profiles: true,
		Ready: func() error {
			if broken.Load() {
				return errors.New("no cluster state yet")
			}
			return nil
		},
		Status: func(context.Context) Status {
			return Status{Version: "1", NodeGroups: []NodeGroup{{ID: 1, Name: "<b>ng1</b>", Partitions: 960, Problem: "refused"}},
				Problems: []string{"node group <b>ng1</b> is down"}}
		},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	get := func(path string) (int, string) {
		r, err := http.Get("http://" + c.Addr().String() + path)
		require.NoError(t, err)
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return r.StatusCode, string(body)
	}

	code, body := get("/healthz")
	require.Equal(t, 200, code, body)
	code, _ = get("/readyz")
	require.Equal(t, 200, code)
	broken.Store(true)
	code, body = get("/readyz")
	require.Equal(t, 503, code)
	require.Equal(t, "no cluster state yet\n", body)
	code, _ = get("/healthz")
	require.Equal(t, 200, code, "alive all the same")
	_, body = get("/metrics")
	require.Contains(t, body, "skarv_test_total 0")
	_, body = get("/api/status")
	var s Status
	require.NoError(t, json.Unmarshal([]byte(body), &s))
	require.Equal(t, 960, s.NodeGroups[0].Partitions)
	_, body = get("/")
	require.Contains(t, body, "<td><span class=\"swatch\" style=\"background: hsl(0deg 60% 55%)\"></span>&lt;b&gt;ng1")
	require.Contains(t, body, "none elected")
	require.Contains(t, body, "<li>node group &lt;b&gt;ng1&lt;/b&gt; is down</li>")
	code, _ = get("/debug/pprof/")
	require.Equal(t, 200, code)
	code, _ = get("/nothing")
	require.Equal(t, 404, code)

	r, err := http.Post("http://"+c.Addr().String()+"/api/status", "text/plain", strings.NewReader("x"))
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)

	cancel()
	require.NoError(t, <-done)
}

// The picture has every partition once: of two groups that own every other one, and of a third that gets two of them.
func TestPicture(t *testing.T) {
	require.Empty(t, Status{}.Picture())
	m, err := placement.NewMap([]placement.NodeGroupID{1, 2})
	require.NoError(t, err)
	m, err = m.Next(nil, []placement.Moving{{Reorg: "r", A: m.Owner(1), B: 3, Partitions: placement.SetOf(1, 129), Phase: placement.In}})
	require.NoError(t, err)
	svg := string(Status{Map: m}.Picture())
	require.Equal(t, placement.Partitions+2, strings.Count(svg, "h1"), "a cell for each partition, and two that move")
	require.Contains(t, svg, `<path class="moving" d="M1 0.8h1M1 1.8h1"/>`)
	owners := make([]placement.Partition, mapColumns+2)
	for i := range owners {
		owners[i] = placement.Partition(i)
	}
	require.Equal(t, "M0 0.5h128M0 1.5h2", string(appendCells(nil, owners, 0.5)), "neighbours in a row are one line")
}

func TestAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, err = Listen(Config{Addr: l.Addr().String()})
	require.ErrorContains(t, err, "listen for HTTP on "+l.Addr().String())
}

func TestClosedListenerEndsRun(t *testing.T) {
	c, err := Listen(Config{Addr: "127.0.0.1:0"})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.ErrorContains(t, c.Run(t.Context()), "HTTP on")
}
