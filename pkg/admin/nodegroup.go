package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/placement"
	adminv1 "skarv/proto/admin/v1"
)

// InitCluster implements the API.
func (a *Server) InitCluster(ctx context.Context, req *adminv1.InitClusterRequest) (*adminv1.InitClusterResponse, error) {
	var in control.InitRequest
	for _, g := range req.GetNodeGroups() {
		spec, err := toSpec(g)
		if err != nil {
			return nil, err
		}
		in.Groups = append(in.Groups, spec)
	}
	res, err := control.InitCluster(ctx, a.cfg.Store, a.cfg.Servers, in)
	if err != nil {
		return nil, rpcError(err)
	}
	// What is asked of this process next must find the cluster.
	if _, revision, err := a.cfg.Store.Cluster(ctx); err == nil {
		_, _ = a.cfg.Follower.Wait(ctx, revision)
	}
	out := &adminv1.InitClusterResponse{ClusterId: res.ClusterID, Warnings: res.Warnings}
	for _, g := range res.Groups {
		out.NodeGroups = append(out.NodeGroups, &adminv1.NodeGroup{Id: uint32(g.ID), Name: g.Name, Primary: fromNode(g.Primary)})
	}
	return out, nil
}

// AddNodeGroup implements the API.
func (a *Server) AddNodeGroup(ctx context.Context, req *adminv1.AddNodeGroupRequest) (*adminv1.AddNodeGroupResponse, error) {
	if _, err := a.snapshot(); err != nil {
		return nil, err
	}
	if n := int(req.GetCount()); n > 0 {
		return a.startNodeGroups(ctx, n)
	}
	spec, err := toSpec(req.GetNodeGroup())
	if err != nil {
		return nil, err
	}
	id, warnings, err := a.cfg.Client.AddGroup(ctx, spec)
	if err != nil {
		return nil, rpcError(err)
	}
	return &adminv1.AddNodeGroupResponse{Id: uint32(id), Ids: []uint32{uint32(id)}, Warnings: warnings}, nil
}

// Nodes starts and stops database servers on this machine: `skarv dev` has them.
type Nodes interface {
	// Start starts n further servers, which hold nothing.
	Start(ctx context.Context, n int) ([]control.GroupSpec, error)
	// Added is told which node group one of them became.
	Added(ctx context.Context, spec control.GroupSpec, id placement.NodeGroupID) error
	// Remove stops the server of a group that is out of the cluster.
	Remove(ctx context.Context, g *catalog.NodeGroup) error
}

// maxStarted bounds the node groups one request may start.
const maxStarted = 32

// startNodeGroups adds node groups on servers that are started for them.
func (a *Server) startNodeGroups(ctx context.Context, n int) (*adminv1.AddNodeGroupResponse, error) {
	if a.cfg.Nodes == nil {
		return nil, status.Error(codes.FailedPrecondition, "only `skarv dev` can start servers: name the address of one that runs, skarvctl nodegroup add HOST:PORT")
	}
	if n > maxStarted {
		return nil, status.Errorf(codes.InvalidArgument, "at most %d node groups at a time", maxStarted)
	}
	specs, err := a.cfg.Nodes.Start(ctx, n)
	if err != nil {
		return nil, rpcError(err)
	}
	out := &adminv1.AddNodeGroupResponse{}
	for _, spec := range specs {
		id, _, err := a.cfg.Client.AddGroup(ctx, spec) // the settings it warns of are ours: a cluster for trying out need not survive the machine
		if err != nil {
			return nil, rpcError(err)
		}
		out.Id, out.Ids = uint32(id), append(out.Ids, uint32(id))
		if err := a.cfg.Nodes.Added(ctx, spec, id); err != nil {
			return nil, rpcError(err)
		}
	}
	return out, nil
}

// SetPassword implements the API.
func (a *Server) SetPassword(ctx context.Context, req *adminv1.SetPasswordRequest) (*adminv1.SetPasswordResponse, error) {
	g, err := a.group(req.GetNodeGroup())
	if err != nil {
		return nil, err
	}
	servers, err := a.cfg.Client.Password(ctx, g.ID, req.GetPassword(), req.GetChange())
	if err != nil {
		return nil, rpcError(err)
	}
	out := &adminv1.SetPasswordResponse{}
	for _, s := range servers {
		told := &adminv1.ServerPassword{Addr: s.Addr, Changed: s.Changed, Kept: s.Kept}
		if s.Err != nil {
			told.Error = s.Err.Error()
		}
		out.Servers = append(out.Servers, told)
	}
	return out, nil
}

// RemoveNodeGroup implements the API.
func (a *Server) RemoveNodeGroup(ctx context.Context, req *adminv1.RemoveNodeGroupRequest) (*adminv1.RemoveNodeGroupResponse, error) {
	g, err := a.group(req.GetNodeGroup())
	if err != nil {
		return nil, err
	}
	notes, err := a.cfg.Client.RemoveGroup(ctx, g.ID, control.Removal{Lost: req.GetLost(), DryRun: req.GetDryRun()})
	if err != nil {
		return nil, rpcError(err)
	}
	if a.cfg.Nodes != nil && !req.GetDryRun() {
		if err := a.cfg.Nodes.Remove(ctx, g); err != nil {
			return nil, rpcError(fmt.Errorf("node group %s is out of the cluster, but its server could not be stopped: %w", g.Name, err))
		}
	}
	return &adminv1.RemoveNodeGroupResponse{Notes: notes}, nil
}

// Switchover implements the API.
func (a *Server) Switchover(ctx context.Context, req *adminv1.SwitchoverRequest) (*adminv1.SwitchoverResponse, error) {
	g, err := a.group(req.GetNodeGroup())
	if err != nil {
		return nil, err
	}
	if req.GetTo() == "" {
		return nil, status.Error(codes.InvalidArgument, "name the server that is to be the primary")
	}
	how := control.Switchover{Group: g.ID, To: req.GetTo(), Lost: req.GetLost(), Drain: req.GetDrain().AsDuration()}
	var notes []string
	if req.GetDryRun() {
		notes, err = a.cfg.Client.ExamineSwitchover(ctx, how, a.cfg.Login)
	} else {
		notes, err = a.cfg.Client.Switchover(ctx, how)
	}
	if err != nil {
		return nil, rpcError(err)
	}
	return &adminv1.SwitchoverResponse{Notes: notes}, nil
}

// AutomaticFailover implements the API.
func (a *Server) AutomaticFailover(ctx context.Context, req *adminv1.AutomaticFailoverRequest) (*adminv1.AutomaticFailoverResponse, error) {
	g, err := a.group(req.GetNodeGroup())
	if err != nil {
		return nil, err
	}
	notes, err := a.cfg.Client.AutomaticFailover(ctx, g.ID, req.GetOn(), req.GetDryRun(), a.cfg.Login)
	if err != nil {
		return nil, rpcError(err)
	}
	return &adminv1.AutomaticFailoverResponse{Notes: notes}, nil
}

// AddReplicas implements the API.
func (a *Server) AddReplicas(ctx context.Context, req *adminv1.AddReplicasRequest) (*adminv1.AddReplicasResponse, error) {
	g, err := a.group(req.GetNodeGroup())
	if err != nil {
		return nil, err
	}
	how := control.ReplicaChange{Group: g.ID}
	for _, n := range req.GetReplicas() {
		node := toNode(n)
		if err := wellFormed(node); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(how.Add, func(o catalog.Node) bool { return o.Addr == node.Addr }) {
			return nil, status.Errorf(codes.InvalidArgument, "%s is named twice", node.Addr)
		}
		how.Add = append(how.Add, node)
	}
	if len(how.Add) == 0 {
		return nil, status.Error(codes.InvalidArgument, "name the servers that are to be replicas")
	}
	added, notes, err := a.changeReplicas(ctx, how, req.GetDryRun())
	if err != nil {
		return nil, err
	}
	return &adminv1.AddReplicasResponse{Added: added, Notes: notes}, nil
}

// RemoveReplica implements the API.
func (a *Server) RemoveReplica(ctx context.Context, req *adminv1.RemoveReplicaRequest) (*adminv1.RemoveReplicaResponse, error) {
	g, err := a.group(req.GetNodeGroup())
	if err != nil {
		return nil, err
	}
	if req.GetAddr() == "" {
		return nil, status.Error(codes.InvalidArgument, "name the replica that is to be taken away")
	}
	removed, notes, err := a.changeReplicas(ctx, control.ReplicaChange{Group: g.ID, Remove: req.GetAddr(), Force: req.GetForce()}, req.GetDryRun())
	if err != nil {
		return nil, err
	}
	return &adminv1.RemoveReplicaResponse{Removed: len(removed) > 0, Notes: notes}, nil
}

// changeReplicas changes the replicas of a node group, or looks whether it could.
func (a *Server) changeReplicas(ctx context.Context, how control.ReplicaChange, dryRun bool) (changed, notes []string, err error) {
	if dryRun {
		changed, notes, err = a.cfg.Client.ExamineReplicas(ctx, how, a.cfg.Login)
	} else {
		changed, notes, err = a.cfg.Client.ChangeReplicas(ctx, how)
	}
	if err != nil {
		err = rpcError(err)
	}
	return changed, notes, err
}

// group finds a node group of the present state by its id or name.
func (a *Server) group(text string) (*catalog.NodeGroup, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	return groupOf(snap, text)
}

// groupOf finds a node group by its id or name.
func groupOf(snap *catalog.Snapshot, text string) (*catalog.NodeGroup, error) {
	for _, g := range snap.Groups {
		if g.Name == text || strconv.Itoa(int(g.ID)) == text {
			return g, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "there is no node group %q: see skarvctl nodegroup list", text)
}

// fromNode leaves the password out.
func fromNode(n catalog.Node) *adminv1.Node {
	return &adminv1.Node{Addr: n.Addr, User: n.User, Tls: n.TLS, DataNode: n.DataNode, Version: n.Version, Flavor: string(n.Flavor)}
}

func toSpec(g *adminv1.NodeGroup) (control.GroupSpec, error) {
	spec := control.GroupSpec{Name: g.GetName(), Primary: toNode(g.GetPrimary())}
	for _, r := range g.GetReplicas() {
		spec.Replicas = append(spec.Replicas, toNode(r))
	}
	for _, n := range append([]catalog.Node{spec.Primary}, spec.Replicas...) {
		if n.User == "" {
			return spec, status.Error(codes.InvalidArgument, "a node needs an address and a user")
		}
		if err := wellFormed(n); err != nil {
			return spec, err
		}
	}
	return spec, nil
}

// wellFormed returns an error unless n says where a server is, and by what connection.
func wellFormed(n catalog.Node) error {
	switch {
	case n.Addr == "":
		return status.Error(codes.InvalidArgument, "a node needs an address")
	case !slices.Contains([]string{"", "preferred", "required", "verify"}, n.TLS):
		return status.Errorf(codes.InvalidArgument, "unknown TLS mode %q: use preferred, required or verify", n.TLS)
	}
	return nil
}

func toNode(n *adminv1.Node) catalog.Node {
	return catalog.Node{Addr: n.GetAddr(), User: n.GetUser(), Password: n.GetPassword(), TLS: n.GetTls(), DataNode: n.GetDataNode()}
}
