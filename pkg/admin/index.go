package admin

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/audit"
	adminv1 "skarv/proto/admin/v1"
)

// CheckIndexes implements the API. It runs in whichever process is asked, beside everything else: see audit.IndexCheck.
func (a *Server) CheckIndexes(ctx context.Context, req *adminv1.CheckIndexesRequest) (*adminv1.CheckIndexesResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	if len(snap.Map.Moving()) > 0 || snap.Map.AnyForeign() {
		return nil, status.Error(codes.FailedPrecondition, "partitions are being moved: try again when skarvctl reorg shows that it is done")
	}
	out := &adminv1.CheckIndexesResponse{}
	found := req.GetTable() == ""
	for _, t := range snap.Tables() {
		name := t.Database + "." + t.Name
		if req.GetTable() != "" && req.GetTable() != name {
			continue
		}
		found = true
		for _, x := range t.Global {
			if x.Building {
				continue
			}
			c := &audit.IndexCheck{Snap: snap, Servers: a.cfg.Servers, Index: x, Repair: req.GetRepair(), Lenient: true}
			if err := c.Run(ctx); err != nil {
				return nil, status.Errorf(codes.Aborted, "index %s of %s: %v", x.Name, name, err)
			}
			out.Indexes = append(out.Indexes, &adminv1.IndexCheck{Table: name, Name: x.Name, Rows: c.Rows, Entries: c.Entries,
				Missing: c.Missing, Wrong: c.Wrong, Stale: c.Stale, Duplicates: c.Duplicates})
		}
	}
	if !found {
		return nil, status.Errorf(codes.NotFound, "there is no table %s", req.GetTable())
	}
	now, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	if now.Map.Epoch() != snap.Map.Epoch() {
		return nil, status.Error(codes.Aborted, "partitions were moved meanwhile: what was found does not count, run it again")
	}
	return out, nil
}
