package server

import (
	"google.golang.org/grpc"

	"skarv/pkg/admin"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
)

// newAdmin returns the admin API of this process.
func (s *Server) newAdmin() *admin.Server {
	return admin.New(admin.Config{
		Options:  append(s.access.ServerOptions(), grpc.ChainUnaryInterceptor(s.forMe)),
		Log:      s.log,
		Store:    s.store,
		Follower: s.follower,
		Client:   s.controller(),
		Health: func(id placement.NodeGroupID) (admin.GroupHealth, bool) {
			h := s.pools.Health(id)
			return admin.GroupHealth{
				Up: h.Up, Since: h.Since, Err: h.LastError,
				Limit: h.Limit, InUse: h.InUse, Queue: h.Queue, Refused: h.Refused, Crowded: h.Crowded, Full: h.Full, Locked: h.Locked, ReadOnly: h.ReadOnly, Barred: h.Barred, Clock: h.Clock,
			}, true
		},
		Transactions: s.listTransactions,
		InDoubt:      s.inDoubt,
		Login:        s.pools.Login,
		Servers:      s.servers,
		Nodes:        s.options.Nodes,
		Sessions:     s.clientSessions,
		KillSession:  s.sessions.Kill,
		AllSessions:  s.allSessions,
		KillAnywhere: peers{s}.Kill,
		Refusals: reorg.New(reorg.Config{
			Store: s.store, Follower: s.follower, Login: s.pools.Login, Log: s.log,
		}).Refusals,
		Crossings:    s.crossings,
		SessionTrace: s.sessionTrace,
		Load:         s.partitionLoad,
		Statements:   s.statements,
		AwaitDrained: s.awaitDrained,
	})
}
