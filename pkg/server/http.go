package server

import (
	"context"
	"time"

	"skarv/pkg/console"
	"skarv/pkg/control"
)

// leaderTimeout is how long the page waits for etcd to name the controller.
const leaderTimeout = time.Second

// runHTTP serves health, metrics and the console.
func (s *Server) runHTTP(ctx context.Context) error {
	c, err := console.Listen(console.Config{
		Listener: s.http, Gatherer: s.registry, Ready: s.Ready, Status: s.status, Profiles: s.cfg.HTTP.Profiles, Log: s.log,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// status is what this process tells of itself and the cluster.
func (s *Server) status(ctx context.Context) console.Status {
	st := console.Status{
		Version: s.version, Process: s.id, Since: s.started, MySQLAddr: s.MySQLAddr(), AdminAddr: s.adminAddr(),
		Connections: s.sessions.Len(),
	}
	for _, r := range s.cfg.Roles {
		st.Roles = append(st.Roles, string(r))
	}
	if h := s.store.Healthy(); !h.OK {
		st.Etcd = "not to be used since " + h.Since.Format(time.RFC3339) + ": " + h.Err.Error()
	} else {
		ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
		defer cancel()
		var err error
		if st.Leader, _, err = s.store.Leader(ctx, control.Role); err != nil {
			st.Etcd = "does not say who is controller: " + err.Error()
		}
	}
	snap := s.follower.Snapshot()
	if snap == nil {
		return st
	}
	st.Cluster, st.Backends, st.Revision = snap.ClusterID, string(snap.Flavor), snap.Revision
	if snap.Map != nil {
		st.Epoch, st.Map = snap.Map.Epoch(), snap.Map
	}
	for _, g := range snap.Groups {
		h := s.pools.Health(g.ID)
		n := console.NodeGroup{
			ID: uint16(g.ID), Name: g.Name, Primary: g.Primary.Addr, Version: g.Primary.Version, Up: h.Up, Problem: h.LastError,
		}
		if snap.Map != nil {
			n.Partitions = len(snap.Map.Owned(g.ID))
		}
		st.NodeGroups = append(st.NodeGroups, n)
	}
	return st
}
