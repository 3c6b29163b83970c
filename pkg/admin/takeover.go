package admin

import (
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/account"
	"skarv/pkg/ddl"
	"skarv/pkg/takeover"
	"skarv/pkg/topology"
	adminv1 "skarv/proto/admin/v1"
)

// ImportCluster implements the API.
func (a *Server) ImportCluster(req *adminv1.ImportClusterRequest, out grpc.ServerStreamingServer[adminv1.ImportClusterResponse]) error {
	ctx := out.Context()
	group, err := toSpec(req.GetNodeGroup())
	if err != nil {
		return err
	}
	in := takeover.ImportRequest{
		Group: group, Servers: a.cfg.Servers, Keys: map[string][]string{}, References: req.GetReferences(), Singles: req.GetSingles(),
		DryRun: req.GetDryRun(), Accounts: req.GetAccounts(), Connected: req.GetConnected(),
	}
	for table, columns := range req.GetKeys() {
		in.Keys[table] = ddl.SplitNames(columns)
	}
	report, err := takeover.Import(ctx, a.cfg.Store, in, func(step string) {
		_ = out.Send(&adminv1.ImportClusterResponse{Step: step}) // who asked may have gone: the context ends then
	})
	if report == nil {
		return rpcError(err)
	}
	if err == nil && report.ClusterID != "" {
		// What is asked of this process next must find the cluster.
		if _, revision, err := a.cfg.Store.Cluster(ctx); err == nil {
			_, _ = a.cfg.Follower.Wait(ctx, revision)
		}
	}
	if serr := out.Send(&adminv1.ImportClusterResponse{Report: fromReport(report)}); serr != nil {
		return serr
	}
	if errors.Is(err, takeover.ErrImport) {
		return nil // the report says it
	}
	if err != nil {
		return rpcError(err)
	}
	return nil
}

func fromReport(r *takeover.ImportReport) *adminv1.ImportReport {
	out := &adminv1.ImportReport{
		ClusterId: r.ClusterID, Flavor: string(r.Flavor), Version: r.Version, Findings: fromFindings(r.Findings), Clients: r.Clients, Refusals: r.Refusals(),
	}
	for _, t := range r.Tables {
		out.Tables = append(out.Tables, &adminv1.ImportedTable{
			Database: t.Database, Name: t.Name, Kind: string(t.Kind), Key: t.Key, Why: t.Why, Rows: t.Rows, Bytes: t.Bytes,
			GlobalIndexes: t.Global, Findings: fromFindings(t.Findings),
		})
	}
	for _, x := range r.Accounts {
		imported := &adminv1.ImportedAccount{Name: x.Name, Grants: map[string]string{}, Problem: x.Problem, Imported: x.Imported}
		for on, p := range x.Grants {
			imported.Grants[on.String()] = account.PrivilegeName(p, on.Database)
		}
		out.Accounts = append(out.Accounts, imported)
	}
	return out
}

func fromFindings(list []takeover.Finding) (out []*adminv1.Finding) {
	for _, f := range list {
		out = append(out, &adminv1.Finding{Level: string(f.Level), What: f.What, Fix: f.Fix})
	}
	return out
}

// LeaveCluster implements the API.
func (a *Server) LeaveCluster(req *adminv1.LeaveClusterRequest, out grpc.ServerStreamingServer[adminv1.LeaveClusterResponse]) error {
	report, err := takeover.Leave(out.Context(), a.cfg.Store, a.cfg.Servers, req.GetDryRun(), func(step string) {
		_ = out.Send(&adminv1.LeaveClusterResponse{Step: step}) // who asked may have gone: the context ends then
	})
	if errors.Is(err, topology.ErrNoCluster) {
		return status.Error(codes.FailedPrecondition, "there is no cluster")
	}
	if report == nil {
		return rpcError(err)
	}
	if serr := out.Send(&adminv1.LeaveClusterResponse{Report: &adminv1.LeaveReport{
		Addr: report.Addr, Refusals: report.Refusals, Statements: report.Statements, Done: report.Done,
	}}); serr != nil {
		return serr
	}
	if err != nil && !errors.Is(err, takeover.ErrLeave) {
		return rpcError(err)
	}
	return nil
}
