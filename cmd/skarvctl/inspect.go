package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	adminv1 "skarv/proto/admin/v1"
)

type nodeGroup struct {
	ID         uint32     `json:"id"`
	Name       string     `json:"name"`
	Primary    string     `json:"primary"`
	Replicas   []string   `json:"replicas,omitempty"`
	Version    string     `json:"version,omitempty"`
	Partitions uint32     `json:"partitions"`
	Health     string     `json:"health"`
	Since      *time.Time `json:"health_since,omitempty"`
	Error      string     `json:"error,omitempty"`
	Load       *load      `json:"load,omitempty"`
	// Failover is off, armed or not armed.
	Failover       string `json:"automatic_failover"`
	FailoverReason string `json:"automatic_failover_reason,omitempty"`
}

// load is what the process that was asked sees of a node group.
type load struct {
	Limit   uint32 `json:"limit"`
	InUse   uint32 `json:"in_use"`
	Queue   uint32 `json:"queue"`
	Refused uint64 `json:"refused"`
}

func toGroup(g *adminv1.NodeGroup) nodeGroup {
	out := nodeGroup{
		ID: g.Id, Name: g.Name, Primary: g.GetPrimary().GetAddr(), Version: g.GetPrimary().GetVersion(),
		Partitions: g.Partitions, Since: when(g.HealthSince), Error: g.Error,
	}
	out.Health = strings.ToLower(strings.TrimPrefix(g.Health.String(), "HEALTH_"))
	if l := g.GetLoad(); l != nil {
		out.Load = &load{l.Limit, l.InUse, l.Queue, l.Refused}
	}
	for _, r := range g.Replicas {
		out.Replicas = append(out.Replicas, r.Addr)
	}
	out.Failover = "off"
	if f := g.GetAutomaticFailover(); f != nil {
		out.Failover, out.FailoverReason = map[bool]string{true: "armed", false: "not armed"}[f.Armed], f.Reason
	}
	return out
}

func toGroups(in []*adminv1.NodeGroup) []nodeGroup {
	out := make([]nodeGroup, len(in))
	for i, g := range in {
		out[i] = toGroup(g)
	}
	return out
}

func printGroups(w io.Writer, groups []nodeGroup) {
	row(w, "ID", "NAME", "PRIMARY", "REPLICAS", "VERSION", "PARTITIONS", "HEALTH", "FAILOVER", "IN USE", "LIMIT", "WAIT", "REFUSED", "ERROR")
	for _, g := range groups {
		l := g.Load
		if l == nil {
			l = &load{}
		}
		row(w, g.ID, g.Name, g.Primary, strings.Join(g.Replicas, ","), g.Version, g.Partitions, g.Health, g.Failover, l.InUse, l.Limit, l.Queue, l.Refused, g.Error)
	}
}

type etcdState struct {
	Healthy   bool       `json:"healthy"`
	Since     *time.Time `json:"since,omitempty"`
	Error     string     `json:"error,omitempty"`
	Endpoints []string   `json:"endpoints"`
}

type member struct {
	ID        string     `json:"id"`
	Addr      string     `json:"addr,omitempty"`
	AdminAddr string     `json:"admin_addr,omitempty"`
	Version   string     `json:"version,omitempty"`
	Started   *time.Time `json:"started,omitempty"`
	Proxy     bool       `json:"proxy"`
	Revision  int64      `json:"revision"`
}

type clusterStatus struct {
	OK            bool        `json:"ok"`
	ClusterID     string      `json:"cluster_id,omitempty"`
	Flavor        string      `json:"flavor,omitempty"`
	ServerVersion string      `json:"server_version,omitempty"`
	Revision      int64       `json:"revision"`
	MapEpoch      uint64      `json:"map_epoch"`
	Databases     uint32      `json:"databases"`
	Tables        uint32      `json:"tables"`
	Etcd          etcdState   `json:"etcd"`
	Controller    string      `json:"controller,omitempty"`
	Processes     []member    `json:"processes"`
	NodeGroups    []nodeGroup `json:"node_groups"`
	Problems      []string    `json:"problems"`
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show how the cluster is; exit code 4 if it is not well",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			var s clusterStatus
			err := a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.Status(ctx, &adminv1.StatusRequest{})
				if err != nil {
					return err
				}
				s = toStatus(r)
				return a.print(s, s.table)
			})
			if err == nil && !s.OK {
				return &exitError{exitDegraded, errors.New("")}
			}
			return err
		},
	}
}

func toStatus(r *adminv1.StatusResponse) clusterStatus {
	e := r.GetEtcd()
	s := clusterStatus{
		OK: len(r.Problems) == 0, ClusterID: r.ClusterId, Flavor: r.Flavor, ServerVersion: r.ServerVersion,
		Revision: r.Revision, MapEpoch: r.MapEpoch, Databases: r.Databases, Tables: r.Tables,
		Etcd:       etcdState{Healthy: e.GetHealthy(), Since: when(e.GetSince()), Error: e.GetError(), Endpoints: e.GetEndpoints()},
		Controller: r.Leader, Processes: []member{}, NodeGroups: toGroups(r.NodeGroups), Problems: r.Problems,
	}
	if s.Problems == nil {
		s.Problems = []string{}
	}
	for _, m := range r.Members {
		s.Processes = append(s.Processes, member{
			ID: m.Id, Addr: m.Addr, AdminAddr: m.AdminAddr, Version: m.Version, Started: when(m.Started), Proxy: m.Proxy, Revision: m.Acked,
		})
	}
	return s
}

func (s clusterStatus) table(w io.Writer) {
	row(w, "cluster", s.ClusterID)
	row(w, "servers", strings.TrimSpace(s.Flavor+" "+s.ServerVersion))
	etcd := "down"
	if s.Etcd.Healthy {
		etcd = "up"
	}
	row(w, "etcd", fmt.Sprintf("%s since %s (%s)", etcd, s.Etcd.Since.Local().Format(time.DateTime), strings.Join(s.Etcd.Endpoints, ", ")))
	row(w, "controller", s.Controller)
	row(w, "map", fmt.Sprintf("epoch %d, revision %d", s.MapEpoch, s.Revision))
	row(w, "schema", fmt.Sprintf("%d databases, %d tables", s.Databases, s.Tables))
	fmt.Fprintln(w)
	if len(s.NodeGroups) > 0 {
		printGroups(w, s.NodeGroups)
		fmt.Fprintln(w)
	}
	if len(s.Processes) > 0 {
		row(w, "PROCESS", "MYSQL", "ADMIN", "VERSION", "STARTED", "REVISION")
		for _, m := range s.Processes {
			row(w, m.ID, m.Addr, m.AdminAddr, m.Version, m.Started.Local().Format(time.DateTime), m.Revision)
		}
		fmt.Fprintln(w)
	}
	if s.OK {
		fmt.Fprintln(w, "All is well.")
	}
	for _, p := range s.Problems {
		fmt.Fprintln(w, "PROBLEM:", p)
	}
}

type partition struct {
	Partition     int    `json:"partition"`
	NodeGroup     uint32 `json:"node_group"`
	NodeGroupName string `json:"node_group_name"`
}

func (a *app) partitionsCommand() *cobra.Command {
	var hot bool
	var top int
	c := &cobra.Command{
		Use:   "partitions",
		Short: "Show which node group owns which of the 3840 partitions, and with --hot which are busy",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if top < 1 {
				return usage("--top is at least 1, not %d", top)
			}
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.Partitions(ctx, &adminv1.PartitionsRequest{})
				if err != nil {
					return err
				}
				if hot {
					return a.hotPartitions(ctx, api, r, top)
				}
				names := groupNames(r)
				list := make([]partition, len(r.Owners))
				owned := map[uint32][]int{}
				for p, g := range r.Owners {
					list[p] = partition{p, g, names[g]}
					owned[g] = append(owned[g], p)
				}
				return a.print(list, func(w io.Writer) {
					row(w, "NODE GROUP", "NAME", "COUNT", "PARTITIONS")
					for _, g := range r.NodeGroups {
						row(w, g.Id, g.Name, len(owned[g.Id]), ranges(owned[g.Id], 8))
					}
					fmt.Fprintf(w, "\n%d partitions, map epoch %d\n", len(r.Owners), r.Epoch)
				})
			})
		},
	}
	c.Flags().BoolVar(&hot, "hot", false, "the busiest partitions, by the statements of the last minutes of all processes")
	c.Flags().IntVar(&top, "top", 20, "how many of them")
	return c
}

func groupNames(r *adminv1.PartitionsResponse) map[uint32]string {
	names := map[uint32]string{}
	for _, g := range r.NodeGroups {
		names[g.Id] = g.Name
	}
	return names
}

type hotPartition struct {
	partition
	StatementsPerSecond float64 `json:"statements_per_second"`
}

type groupLoad struct {
	NodeGroup           uint32  `json:"node_group"`
	Name                string  `json:"name"`
	Partitions          int     `json:"partitions"`
	StatementsPerSecond float64 `json:"statements_per_second"`
	Share               float64 `json:"share"` // of the statements on single partitions
}

// hotPartitions shows the busiest partitions, and how busy the node groups are with all of theirs.
func (a *app) hotPartitions(ctx context.Context, api adminv1.AdminClient, r *adminv1.PartitionsResponse, top int) error {
	load, err := api.PartitionLoad(ctx, &adminv1.PartitionLoadRequest{Cluster: true})
	if err != nil {
		return err
	}
	if len(load.Rates) != len(r.Owners) {
		return errors.New("the process knows another number of partitions")
	}
	for _, m := range load.Missing {
		fmt.Fprintln(a.errs, "warning: the process at", m, "does not tell its load")
	}
	out := struct {
		Partitions []hotPartition `json:"partitions"`
		NodeGroups []groupLoad    `json:"node_groups"`
		Scattered  float64        `json:"statements_per_second_on_all"`
		Missing    []string       `json:"missing"`
	}{[]hotPartition{}, []groupLoad{}, load.Scattered, append([]string{}, load.Missing...)}
	names, total := groupNames(r), 0.0
	sums, counts := map[uint32]float64{}, map[uint32]int{}
	for p, g := range r.Owners {
		out.Partitions = append(out.Partitions, hotPartition{partition{p, g, names[g]}, load.Rates[p]})
		total += load.Rates[p]
		sums[g] += load.Rates[p]
		counts[g]++
	}
	slices.SortStableFunc(out.Partitions, func(x, y hotPartition) int { return cmp.Compare(y.StatementsPerSecond, x.StatementsPerSecond) })
	out.Partitions = out.Partitions[:min(top, len(out.Partitions))]
	for _, g := range r.NodeGroups {
		share := 0.0
		if total > 0 {
			share = sums[g.Id] / total
		}
		out.NodeGroups = append(out.NodeGroups, groupLoad{g.Id, g.Name, counts[g.Id], sums[g.Id], share})
	}
	return a.print(out, func(w io.Writer) {
		row(w, "PARTITION", "NODE GROUP", "STATEMENTS/S", "SHARE")
		for _, p := range out.Partitions {
			if p.StatementsPerSecond > 0 {
				row(w, p.Partition, p.NodeGroupName, fmt.Sprintf("%.1f", p.StatementsPerSecond), fmt.Sprintf("%.2f %%", 100*p.StatementsPerSecond/total))
			}
		}
		fmt.Fprintln(w)
		row(w, "NODE GROUP", "PARTITIONS", "STATEMENTS/S", "SHARE")
		for _, g := range out.NodeGroups {
			row(w, g.Name, g.Partitions, fmt.Sprintf("%.1f", g.StatementsPerSecond), fmt.Sprintf("%.1f %%", 100*g.Share))
		}
		fmt.Fprintf(w, "\nand %.1f statements/s on all partitions. To even it out: skarvctl rebalance --by-load\n", out.Scattered)
	})
}

type table struct {
	Database      string   `json:"database"`
	Name          string   `json:"name"`
	Kind          string   `json:"kind"`
	Distribution  []string `json:"distribution,omitempty"`
	NodeGroup     uint32   `json:"node_group,omitempty"`
	AutoIncrement string   `json:"auto_increment,omitempty"`
	HiddenKey     bool     `json:"hidden_key,omitempty"`
	Columns       []string `json:"columns"`
}

func (a *app) tablesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "tables [DATABASE]",
		Short: "List tables and where their rows live",
		Args:  args(cobra.MaximumNArgs(1)),
	}
	c.RunE = func(c *cobra.Command, in []string) error {
		req := &adminv1.TablesRequest{}
		if len(in) > 0 {
			req.Database = in[0]
		}
		return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
			r, err := api.Tables(ctx, req)
			if err != nil {
				return err
			}
			list := make([]table, len(r.Tables))
			for i, t := range r.Tables {
				list[i] = table{t.Database, t.Name, t.Kind, t.Distribution, t.NodeGroup, t.AutoIncrement, t.HiddenKey, t.Columns}
			}
			return a.print(list, func(w io.Writer) {
				row(w, "DATABASE", "TABLE", "KIND", "ROWS LIVE BY", "AUTO_INCREMENT", "COLUMNS")
				for _, t := range list {
					place := strings.Join(t.Distribution, ", ")
					switch {
					case t.Kind == "single":
						place = fmt.Sprintf("node group %d", t.NodeGroup)
					case t.Kind == "reference":
						place = "every node group"
					}
					row(w, t.Database, t.Name, t.Kind, place, t.AutoIncrement, len(t.Columns))
				}
			})
		})
	}
	return c
}

type route struct {
	Table         string   `json:"table"`
	Key           []string `json:"key"`
	Exact         bool     `json:"exact"`
	Partition     *uint32  `json:"partition,omitempty"`
	NodeGroup     uint32   `json:"node_group,omitempty"`
	NodeGroupName string   `json:"node_group_name,omitempty"`
	Addr          string   `json:"addr,omitempty"`
	Why           []string `json:"why"`
}

func (a *app) routeCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "route DATABASE.TABLE KEY...",
		ValidArgsFunction: a.complete(tableNames, 1),
		Short:             "Show where the row with a key lives, and why",
		Long:              "Show where the row with the given values of the distribution key lives, and why. Several columns: one argument each, in the key's order.",
		Example:           "  skarvctl route shop.orders 42\n  skarvctl route -- shop.orders -1",
		Args:              args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.Route(ctx, &adminv1.RouteRequest{Table: in[0], Key: in[1:]})
				if err != nil {
					return err
				}
				out := route{in[0], in[1:], r.Exact, nil, r.NodeGroup, r.NodeGroupName, r.Addr, r.Why}
				if r.Exact && len(in) > 1 {
					out.Partition = &r.Partition
				}
				return a.print(out, func(w io.Writer) {
					if r.Exact {
						if out.Partition != nil {
							row(w, "partition", r.Partition)
						}
						row(w, "node group", fmt.Sprintf("%d (%s)", r.NodeGroup, r.NodeGroupName))
						row(w, "server", r.Addr)
					}
					for i, y := range r.Why {
						label := "why"
						if i > 0 {
							label = " "
						}
						row(w, label, y)
					}
				})
			})
		},
	}
}
