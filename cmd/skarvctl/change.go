package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/status"

	adminv1 "skarv/proto/admin/v1"
)

// login is how Skarv is to log in to database servers.
type login struct {
	user, tls string
	password  password
}

func (l *login) flags(c *cobra.Command) {
	c.Flags().StringVar(&l.user, "user", "skarv", "account that Skarv logs in with to the servers")
	l.rest(c)
}

// rest are the flags beside the account's name.
func (l *login) rest(c *cobra.Command) {
	c.Flags().StringVar(&l.tls, "tls", "", "TLS to the servers: preferred, required or verify (default none)")
	l.password.flags(c, "of that account")
}

func (l *login) node(addr, password string) *adminv1.Node {
	return &adminv1.Node{Addr: addr, User: l.user, Password: password, Tls: l.tls}
}

// nodeGroupSpec reads [NAME=]PRIMARY[,REPLICA...].
func (l *login) nodeGroupSpec(s, password string) (*adminv1.NodeGroup, error) {
	name, addrs, ok := strings.Cut(s, "=")
	if !ok {
		name, addrs = "", s
	}
	g := &adminv1.NodeGroup{Name: name}
	for i, addr := range strings.Split(addrs, ",") {
		if err := address(addr); err != nil {
			return nil, err
		}
		if i == 0 {
			g.Primary = l.node(addr, password)
		} else {
			g.Replicas = append(g.Replicas, l.node(addr, password))
		}
	}
	return g, nil
}

// address returns an error unless s says where a server is.
func address(s string) error {
	if !strings.Contains(s, ":") {
		return usage("%q is not HOST:PORT or unix:/PATH", s)
	}
	return nil
}

func (a *app) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(a.errs, "warning:", w)
	}
}

func (a *app) clusterCommand() *cobra.Command {
	var l login
	var groups []string
	initialise := &cobra.Command{
		Use:   "init",
		Short: "Make a cluster of servers that hold no tables yet",
		Long: `Make a cluster: its identity, its node groups and the map that spreads 3840 partitions over them.
The servers must hold no tables. Each --node-group is [NAME=]PRIMARY[,REPLICA...], an address HOST:PORT or unix:/PATH.`,
		Example: "  skarvctl cluster init --user skarv --password-file pw --node-group a=10.0.0.1:3306 --node-group b=10.0.0.2:3306",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if len(groups) == 0 {
				return usage("name at least one --node-group")
			}
			pw, err := l.password.read(a, "Password of "+l.user+" on the servers: ", false)
			if err != nil {
				return err
			}
			req := &adminv1.InitClusterRequest{}
			for _, s := range groups {
				g, err := l.nodeGroupSpec(s, pw)
				if err != nil {
					return err
				}
				req.NodeGroups = append(req.NodeGroups, g)
			}
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.InitCluster(ctx, req)
				if err != nil {
					return err
				}
				a.warn(r.Warnings)
				out := struct {
					ClusterID  string      `json:"cluster_id"`
					NodeGroups []nodeGroup `json:"node_groups"`
					Warnings   []string    `json:"warnings,omitempty"`
				}{r.ClusterId, toGroups(r.NodeGroups), r.Warnings}
				return a.print(out, func(w io.Writer) {
					fmt.Fprintf(w, "Cluster %s has %s.\nNext: skarvctl user add NAME --grant '*:admin'\n", r.ClusterId, counted(len(r.NodeGroups), "node group"))
				})
			})
		},
	}
	initialise.Flags().StringArrayVar(&groups, "node-group", nil, "[NAME=]PRIMARY[,REPLICA...]; repeat for each node group")
	l.flags(initialise)
	return group("cluster", "Make a cluster", initialise)
}

func (a *app) nodeGroupCommand() *cobra.Command {
	var l login
	var n uint32
	add := &cobra.Command{
		Use:   "add [NAME=]PRIMARY[,REPLICA...]...",
		Short: "Add node groups; they own no partitions until skarvctl rebalance",
		Long: `Add node groups. Each is [NAME=]PRIMARY[,REPLICA...], an address HOST:PORT or unix:/PATH of a server without tables. With
--count, a cluster of skarv dev starts that many servers itself.`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, in []string) error {
			if (n > 0) == (len(in) > 0) {
				return usage("name servers, or give --count")
			}
			var reqs []*adminv1.AddNodeGroupRequest
			if n > 0 {
				reqs = append(reqs, &adminv1.AddNodeGroupRequest{Count: n})
			} else {
				pw, err := l.password.read(a, "Password of "+l.user+" on the servers: ", false)
				if err != nil {
					return err
				}
				for _, text := range in {
					g, err := l.nodeGroupSpec(text, pw)
					if err != nil {
						return err
					}
					reqs = append(reqs, &adminv1.AddNodeGroupRequest{NodeGroup: g})
				}
			}
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				out := struct {
					ID       uint32   `json:"id"` // of the last one
					IDs      []uint32 `json:"ids"`
					Warnings []string `json:"warnings,omitempty"`
					// Failed is the server that was not added, and Error why; those behind it were not tried.
					Failed string `json:"failed,omitempty"`
					Error  string `json:"error,omitempty"`
				}{}
				var failed error
				for i, req := range reqs {
					r, err := api.AddNodeGroup(ctx, req)
					if err != nil {
						if len(out.IDs) == 0 {
							return err
						}
						out.Failed, out.Error, failed = in[i], status.Convert(err).Message(), err
						break
					}
					a.warn(r.Warnings)
					out.ID, out.IDs, out.Warnings = r.Id, append(out.IDs, r.Ids...), append(out.Warnings, r.Warnings...)
				}
				err := a.print(out, func(w io.Writer) {
					for _, id := range out.IDs {
						fmt.Fprintf(w, "Node group %d is added. It owns no partitions yet.\n", id)
					}
					if failed != nil {
						fmt.Fprintf(w, "%s is not added, nor what is named after it.\n", out.Failed)
					}
					fmt.Fprintln(w, "Next: skarvctl rebalance")
				})
				return cmp.Or(failed, err)
			})
		},
	}
	add.Flags().Uint32Var(&n, "count", 0, "start that many servers (skarv dev only)")
	l.flags(add)
	list := &cobra.Command{
		Use:   "list",
		Short: "List node groups",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.Status(ctx, &adminv1.StatusRequest{})
				if err != nil {
					return err
				}
				groups := toGroups(r.NodeGroups)
				return a.print(groups, func(w io.Writer) { printGroups(w, groups) })
			})
		},
	}
	return group("nodegroup", "Add, list, drain and remove node groups, and change their primaries and replicas", add, list, a.passwordCommand(), a.drainCommand(), a.removeGroupCommand(), a.switchoverCommand(), a.failoverCommand(), a.replicaCommand())
}

// passwordResult is what became of the servers of one node group.
type passwordResult struct {
	NodeGroup string           `json:"node_group"`
	Servers   []serverPassword `json:"servers"`
	Error     string           `json:"error,omitempty"`
}

type serverPassword struct {
	Addr    string `json:"addr"`
	Changed bool   `json:"changed"` // on the server, now
	Kept    bool   `json:"kept"`    // the cluster uses it
	Error   string `json:"error,omitempty"`
}

func (a *app) passwordCommand() *cobra.Command {
	var p password
	var change, all bool
	c := &cobra.Command{
		Use:               "password GROUP... | --all",
		ValidArgsFunction: a.complete(nodeGroupNames, 0),
		Short:             "Tell the cluster the password of Skarv's own account on servers, or change it there",
		Long: `Have the cluster log in to the servers of node groups, primaries and the replicas it knows, by another password of Skarv's own account.

The servers must have the password already; with --change they are given it, those that have it already excepted, on each server itself, not by way of
the binary log. If it is interrupted, or fails on some servers, give it again with the same password. Clients' statements go on meanwhile.`,
		Example: "  skarvctl nodegroup password ng1 --password-file pw\n  skarvctl nodegroup password --all --change --password-file pw",
		Args:    args(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, in []string) error {
			if all == (len(in) > 0) {
				return usage("name node groups, or give --all")
			}
			pw, err := p.read(a, "New password of Skarv's account on the servers: ", change)
			if err != nil {
				return err
			}
			return a.setPasswords(c.Context(), in, pw, change)
		},
	}
	c.Flags().BoolVar(&change, "change", false, "change it on the servers, too")
	c.Flags().BoolVar(&all, "all", false, "of all node groups")
	p.flags(c, "of Skarv's account")
	return c
}

// setPasswords does what passwordCommand says, to all node groups if none is named.
func (a *app) setPasswords(ctx context.Context, groups []string, pw string, change bool) error {
	return a.call(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
		if len(groups) == 0 {
			r, err := api.Status(ctx, &adminv1.StatusRequest{})
			if err != nil {
				return err
			}
			for _, g := range r.NodeGroups {
				groups = append(groups, cmp.Or(g.Name, fmt.Sprint(g.Id)))
			}
		}
		var out []passwordResult
		failed := false
		for _, name := range groups {
			r, err := api.SetPassword(ctx, &adminv1.SetPasswordRequest{NodeGroup: name, Password: pw, Change: change})
			result := passwordResult{NodeGroup: name, Servers: []serverPassword{}}
			if err != nil {
				result.Error, failed = status.Convert(err).Message(), true
			}
			for _, s := range r.GetServers() {
				result.Servers = append(result.Servers, serverPassword{s.Addr, s.Changed, s.Kept, s.Error})
				failed = failed || s.Error != ""
			}
			out = append(out, result)
		}
		err := a.print(out, func(w io.Writer) { printPasswords(w, out) })
		if failed {
			return cmp.Or(err, errors.New("not all servers use the password: give it again when what is named above is mended"))
		}
		return err
	})
}

func printPasswords(w io.Writer, out []passwordResult) {
	for _, g := range out {
		if g.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", g.NodeGroup, g.Error)
		}
		for _, s := range g.Servers {
			what := "the cluster uses the password"
			switch {
			case s.Error != "":
				what = s.Error
			case s.Changed:
				what = "the password is changed, and the cluster uses it"
			}
			fmt.Fprintf(w, "%s, server %s: %s\n", g.NodeGroup, s.Addr, what)
		}
	}
}
