package server

import (
	"context"
	"fmt"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/event"
	"skarv/pkg/mysqlserver"
	"skarv/pkg/schema"
	"skarv/pkg/session"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// finishTimeout bounds how long dropping an event whose time is over may take; it is tried again.
const finishTimeout = time.Minute

// newEvents returns the scheduler of events, which runs them through sessions of proxy.
func (s *Server) newEvents(proxy *mysqlserver.Server) *event.Scheduler {
	return event.New(event.Config{
		Store: s.store, Snapshot: s.follower.Snapshot, Next: s.follower.Wait, Process: s.id, Log: s.log, Registerer: s.registry,
		Ask: s.askInZone,
		Run: func(e *catalog.Event) error {
			definer := s.follower.Snapshot().Definer(e.Definer)
			if definer == nil {
				return sqlerr.NoSuchUser.New(e.Definer.User(), e.Definer.Host())
			}
			return proxy.Inside(definer.Name, "", func(h mysqlserver.Handler) error { return h.(*session.Session).RunEvent(e) })
		},
		Finish: s.finishEvent,
	})
}

// askInZone computes one row on any server, in a time zone.
func (s *Server) askInZone(_ context.Context, zone, query string) ([]string, error) {
	var last error
	state := backend.NewState("", []backend.Variable{{Name: "@@session.`time_zone`", Value: sqltypes.Literal(zone)}})
	for _, g := range s.groups() {
		c, err := s.pools.Get(g, backend.Profile{NoDB: true}, state, nil, backend.Claim{Class: backend.Started})
		if err != nil {
			last = err
			continue
		}
		_, rows, err := c.QueryAll(query, 1)
		c.Release()
		if err != nil || len(rows) != 1 {
			last = fmt.Errorf("%d rows: %w", len(rows), err)
			continue
		}
		out := make([]string, len(rows[0]))
		for i, v := range rows[0] {
			out[i] = string(v)
		}
		return out, nil
	}
	return nil, last
}

// finishEvent drops an event whose time is over, or disables it, unless it was changed.
func (s *Server) finishEvent(ctx context.Context, e *catalog.Event) error {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	req := control.DDLRequest{Session: schema.Session{DB: e.Database, SQLMode: e.SQLMode}, User: e.Definer, EventSince: e.Since}
	name := sqltypes.QuoteIn(e.Database, e.Name)
	if req.SQL = "DROP EVENT IF EXISTS " + name; e.Preserve {
		req.SQL = "ALTER EVENT " + name + " DISABLE"
	}
	_, err := s.controller().DDL(ctx, req)
	return err
}
