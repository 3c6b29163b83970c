package control

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/mysqlconn"
)

// watched are connections to the servers of one node group, kept from one look at them to the next. Made with login it has none. It belongs to one goroutine,
// which ends it.
type watched struct {
	login func(*catalog.NodeGroup) mysqlconn.Config
	to    map[string]*watching // by address
}

// watching is a connection to one of the servers.
type watching struct {
	*failover.Server
	cancel func()
}

func (c *watching) end() {
	c.cancel()
	c.Close()
}

// end ends all connections.
func (w *watched) end() {
	for _, c := range w.to {
		c.end()
	}
	w.to = nil
}

// views looks at the primary and at those replicas that answer; the others are nil.
func (w *watched) views(ctx context.Context, g *catalog.NodeGroup) (primary *failover.View, replicas map[string]*failover.View, err error) {
	all := make([]*failover.View, len(g.Replicas))
	to := make([]*watching, len(g.Replicas))
	var looks errgroup.Group
	for i, n := range g.Replicas {
		to[i] = w.take(n.Addr)
		looks.Go(func() error {
			all[i], to[i], _ = view(ctx, w.login, g, n, to[i])
			return nil
		})
	}
	_ = looks.Wait()
	// Behind them: of a primary that dies meanwhile its replicas were seen as they were before.
	primary, s, err := view(ctx, w.login, g, g.Primary, w.take(g.Primary.Addr))
	w.end() // to servers that are not the group's any more
	w.to = map[string]*watching{}
	w.hold(g.Primary.Addr, s)
	replicas = map[string]*failover.View{}
	for i, n := range g.Replicas {
		replicas[n.Addr] = all[i]
		w.hold(n.Addr, to[i])
	}
	return primary, replicas, err
}

// take returns the connection to a server, which is the caller's then; nil: there is none.
func (w *watched) take(addr string) *watching {
	c := w.to[addr]
	delete(w.to, addr)
	return c
}

// hold keeps a connection; nil: there is none any more.
func (w *watched) hold(addr string, c *watching) {
	if c != nil {
		w.to[addr] = c
	}
}

// view looks at one server, by a connection that there is or another one, and returns that; nil: there is none.
func view(ctx context.Context, login func(*catalog.NodeGroup) mysqlconn.Config, g *catalog.NodeGroup, n catalog.Node, s *watching) (*failover.View, *watching, error) {
	end := time.Now().Add(lookTime)
	for used := s != nil; ; used = false {
		if s == nil {
			var err error
			if s, err = watchServer(ctx, login, g, n); err != nil {
				return nil, nil, err
			}
		}
		bounded, cancel := context.WithDeadline(ctx, end)
		release := s.Until(bounded)
		v, err := s.View()
		ended := !release()
		cancel()
		if err == nil && !ended {
			return v, s, nil
		}
		s.end()
		if s = nil; !used || ended {
			if err == nil {
				err = context.DeadlineExceeded
			}
			return nil, nil, err
		}
	}
}

// watchServer connects to one of a group's servers, for as long as ctx or until it is cancelled.
func watchServer(ctx context.Context, login func(*catalog.NodeGroup) mysqlconn.Config, g *catalog.NodeGroup, n catalog.Node) (*watching, error) {
	of := *g
	of.Primary = n
	cfg := login(&of)
	cfg.Timeout = lookTime
	// It outlives the look.
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := time.AfterFunc(2*lookTime, cancel)
	s, err := failover.Dial(long, cfg, n.Addr, g.Primary.Flavor)
	if !stop.Stop() && err == nil {
		s.Close()
		err = context.DeadlineExceeded
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &watching{Server: s, cancel: cancel}, nil
}
