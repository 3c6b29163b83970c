package server

import (
	"context"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"skarv/pkg/digest"
	"skarv/pkg/metrics"
	adminv1 "skarv/proto/admin/v1"
)

// listStatements is what statements have cost on all processes that answer, most time first.
func (s *Server) listStatements(ctx context.Context) ([]digest.Row, error) {
	rows, _, err := s.statementCosts(ctx, true, false)
	digest.ByTotal.Sort(rows)
	return rows, err
}

// statementCosts is what statements have cost here, with cluster on all processes; missing are those that do not answer. With reset all of these
// begin to count anew.
func (s *Server) statementCosts(ctx context.Context, cluster, reset bool) (rows []digest.Row, missing []string, err error) {
	rows = s.digests.Rows()
	if reset {
		s.digests.Reset()
	}
	if !cluster {
		return rows, nil, nil
	}
	missing, err = askOthers(ctx, s, func(api adminv1.AdminClient) (*adminv1.StatementsResponse, error) {
		return api.Statements(ctx, &adminv1.StatementsRequest{Reset_: reset})
	}, func(r *adminv1.StatementsResponse) {
		for _, d := range r.GetStatements() {
			rows = append(rows, digest.Row{
				Database: d.GetDatabase(), Text: d.GetText(), Count: d.GetCount(), Errors: d.GetErrors(), Rows: d.GetRows(), Bytes: d.GetBytes(),
				Total: d.GetTotal().AsDuration(), Most: d.GetMax().AsDuration(), Ways: d.GetWays(),
				First: d.GetFirstSeen().AsTime(), Last: d.GetLastSeen().AsTime(),
			})
		}
	})
	return digest.Merge(rows), missing, err
}

// statements is statementCosts for callers of the admin API: sorted, and no more than limit; 0: all.
func (s *Server) statements(ctx context.Context, req *adminv1.StatementsRequest) (*adminv1.StatementsResponse, error) {
	rows, missing, err := s.statementCosts(ctx, req.GetCluster(), req.GetReset_())
	if err != nil {
		return nil, err
	}
	digest.Order(req.GetOrder()).Sort(rows)
	r := &adminv1.StatementsResponse{Missing: missing, All: uint32(len(rows))}
	for i := range rows {
		r.Total = durationpb.New(r.Total.AsDuration() + rows[i].Total)
	}
	if n := int(req.GetLimit()); n > 0 {
		rows = rows[:min(n, len(rows))]
	}
	for i := range rows {
		d := &rows[i]
		r.Statements = append(r.Statements, &adminv1.StatementDigest{
			Database: d.Database, Text: d.Text, Ways: d.Ways, Strategies: metrics.Ways(d.Ways), Count: d.Count, Errors: d.Errors, Rows: d.Rows, Bytes: d.Bytes,
			Total: durationpb.New(d.Total), Max: durationpb.New(d.Most), Average: durationpb.New(d.Average()),
			FirstSeen: timestamppb.New(d.First), LastSeen: timestamppb.New(d.Last),
		})
	}
	return r, nil
}
