package control

import (
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/topology"
	adminv1 "skarv/proto/admin/v1"
)

// LeaveCluster implements the API.
func (a *Admin) LeaveCluster(req *adminv1.LeaveClusterRequest, out grpc.ServerStreamingServer[adminv1.LeaveClusterResponse]) error {
	report, err := Leave(out.Context(), a.cfg.Store, req.GetDryRun(), func(step string) {
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
	if err != nil && !errors.Is(err, ErrLeave) {
		return rpcError(err)
	}
	return nil
}
