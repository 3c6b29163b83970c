package admin

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/audit"
	adminv1 "skarv/proto/admin/v1"
)

// progressEvery is how often those who asked for something long are told how far it is.
const progressEvery = 200 * time.Millisecond

// Checksum implements the API. It runs in whichever process is asked, beside everything else.
func (a *Server) Checksum(req *adminv1.ChecksumRequest, out grpc.ServerStreamingServer[adminv1.ChecksumResponse]) error {
	if a.cfg.Login == nil {
		return status.Error(codes.FailedPrecondition, "this process does not reach the servers")
	}
	var told time.Time
	c := &audit.Checksum{
		Store: a.cfg.Store, Snapshot: a.snapshot, Login: a.cfg.Login, Servers: a.cfg.Servers,
		Request: audit.Request{Database: req.GetDatabase(), Table: req.GetTable(), RowsPerSecond: int(req.GetRowsPerSecond())},
		Progress: func(what string, rows, estimated uint64) {
			if time.Since(told) < progressEvery {
				return
			}
			told = time.Now()
			_ = out.Send(&adminv1.ChecksumResponse{Progress: &adminv1.ChecksumProgress{What: what, Rows: rows, RowsEstimated: estimated}})
		},
	}
	report, err := c.Run(out.Context())
	if err != nil {
		return rpcError(err)
	}
	answer, snap := &adminv1.ChecksumReport{Skipped: report.Skipped}, a.cfg.Follower.Snapshot()
	for _, t := range report.Tables {
		x := &adminv1.ChecksumTable{Table: t.Table, Comparison: t.Comparison, Between: t.Between, Rows: t.Rows, Differs: t.Differs, Unverified: t.Unverified}
		for _, d := range t.Differences {
			what := d.What
			if g := snap.Group(d.Target); g != nil {
				what += " on node group " + g.Label()
			}
			x.Differences = append(x.Differences, &adminv1.ChecksumDifference{Key: d.Key, What: what, Partition: int32(d.Partition)})
		}
		answer.Tables = append(answer.Tables, x)
	}
	return out.Send(&adminv1.ChecksumResponse{Report: answer})
}
