package server

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"skarv/pkg/admin"
	"skarv/pkg/console"
	adminv1 "skarv/proto/admin/v1"
)

// runHTTP serves health, metrics and the console, which shows what api tells.
func (s *Server) runHTTP(ctx context.Context, api *admin.Server) error {
	var asking singleflight.Group // etcd and the other processes are asked once for all who look at the same time
	status := func(context.Context) console.Status {
		st, _, _ := asking.Do("", func() (any, error) { return s.status(ctx, api), nil })
		return st.(console.Status)
	}
	c, err := console.Listen(console.Config{
		Listener: s.http, Gatherer: s.registry, Ready: s.Ready, Status: status, Profiles: s.cfg.HTTP.Profiles, Log: s.log,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// status is what this process tells of itself, and of the cluster as skarvctl status tells it.
func (s *Server) status(ctx context.Context, api *admin.Server) console.Status {
	st := console.Status{
		Version: s.version, Process: s.id, Since: s.started, MySQLAddr: s.MySQLAddr(), AdminAddr: s.adminAddr(),
		Connections: s.sessions.Len(),
	}
	for _, r := range s.cfg.Roles {
		st.Roles = append(st.Roles, string(r))
	}
	r, err := api.Status(ctx, &adminv1.StatusRequest{})
	if err != nil {
		st.Problems = []string{"the cluster's status is not known: " + err.Error()}
		return st
	}
	if !r.Etcd.Healthy {
		st.Etcd = "not to be used since " + r.Etcd.Since.AsTime().Format(time.RFC3339) + ": " + r.Etcd.Error
	}
	st.Cluster, st.Backends, st.Revision, st.Epoch = r.ClusterId, r.Flavor, r.Revision, r.MapEpoch
	st.Leader, st.Problems = r.Leader, append([]string{}, r.Problems...)
	if snap := s.follower.Snapshot(); snap != nil {
		st.Map = snap.Map
	}
	for _, g := range r.NodeGroups {
		st.NodeGroups = append(st.NodeGroups, console.NodeGroup{
			ID: uint16(g.Id), Name: g.Name, Primary: g.Primary.Addr, Version: g.Primary.Version, Partitions: int(g.Partitions),
			Up: g.Health == adminv1.NodeGroup_HEALTH_UP, Problem: g.Error,
		})
	}
	return st
}
