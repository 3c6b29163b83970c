package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	adminv1 "skarv/proto/admin/v1"
)

func (a *app) replicaCommand() *cobra.Command {
	return group("replica", "Name the replicas of a node group, and take them away", a.addReplicaCommand(), a.removeReplicaCommand())
}

func (a *app) addReplicaCommand() *cobra.Command {
	var l login
	var dryRun bool
	c := &cobra.Command{
		Use:               "add GROUP HOST:PORT...",
		ValidArgsFunction: a.complete(nodeGroupNames, 1),
		Short:             "Name servers that replicate from a node group's primary as its replicas",
		Long: `Name servers as replicas of a node group: they can be made the primary then (skarvctl nodegroup switchover), take its place by themselves where that
is turned on (skarvctl nodegroup failover), are compared by skarvctl checksum, and moves of partitions wait for them.

You set up replication, from the group's primary, by global transaction ids; where something is missing the command says what to run. It logs in to the servers
as to the primary unless --user is given. Of several servers all are named, or none.`,
		Example: "  skarvctl nodegroup replica add ng1 10.0.0.6:3306 --dry-run\n  skarvctl nodegroup replica add ng1 10.0.0.6:3306",
		Args:    args(cobra.MinimumNArgs(2)),
		RunE: func(c *cobra.Command, in []string) error {
			req := &adminv1.AddReplicasRequest{NodeGroup: in[0]}
			pw := ""
			switch {
			case l.user != "":
				var err error
				if pw, err = l.password.read(a, "Password of "+l.user+" on the servers: ", false); err != nil {
					return err
				}
			case l.tls != "" || l.password.file != "":
				return usage("--tls and --password-file are those of --user; without it the servers are logged in to as the primary is")
			}
			for i, addr := range in[1:] {
				if err := address(addr); err != nil {
					return err
				}
				if slices.Contains(in[1:i+1], addr) {
					return usage("%s is named twice", addr)
				}
				req.Replicas = append(req.Replicas, l.node(addr, pw))
			}
			are, can := " is a replica of node group ", " can be a replica of node group "
			if len(in) > 2 {
				are, can = " are replicas of node group ", " can be replicas of node group "
			}
			servers := strings.Join(in[1:], ", ")
			n := noted{dryRun: dryRun, can: servers + can + in[0] + ".", done: servers + are + in[0] + "."}
			var added []string
			return n.run(c.Context(), a, func(ctx context.Context, api adminv1.AdminClient, dry bool) (notes, error) {
				req.DryRun = dry
				r, err := api.AddReplicas(ctx, req)
				added = append([]string{}, r.GetAdded()...)
				return r, err
			}, func(notes []string, done bool) any {
				return struct {
					NodeGroup string   `json:"node_group"`
					Replicas  []string `json:"replicas"` // those that were named
					Added     []string `json:"added"`    // those that were none before, or would be added
					Changed   bool     `json:"changed"`
					Notes     []string `json:"notes"`
				}{in[0], in[1:], added, done && len(added) > 0, notes}
			})
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say whether they can be replicas")
	c.Flags().StringVar(&l.user, "user", "", "account that Skarv logs in with to the servers (default: as to the primary)")
	l.rest(c)
	return c
}

func (a *app) removeReplicaCommand() *cobra.Command {
	var force, dryRun bool
	c := &cobra.Command{
		Use: "remove GROUP HOST:PORT",
		ValidArgsFunction: func(c *cobra.Command, in []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(in) == 0 {
				return a.complete(nodeGroupNames, 1)(c, in, text)
			}
			return a.complete(replicasOf(in[0]), 2)(c, in, text)
		},
		Short: "Take a replica away from its node group",
		Long: `Take a replica away from its node group: it is not made the primary, nor compared, and nobody waits for it. The server stays as it is.

Where the primary waits for its replicas (semi-synchronous replication), a replica may be the only server beside it that has what was acknowledged. So it must not acknowledge
any more (STOP REPLICA, on MariaDB STOP SLAVE, there first), and the others must have received what the primary has. One that is lost is not asked: the primary's
count of replicas that acknowledge tells whether it is connected. --force takes one away that cannot be reached though it may be.

The address may also be that of a primary that was lost and replaced: then it is forgotten.`,
		Example: "  skarvctl nodegroup replica remove ng1 10.0.0.5:3306 --dry-run\n  skarvctl nodegroup replica remove ng1 10.0.0.5:3306",
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, in []string) error {
			if err := address(in[1]); err != nil {
				return err
			}
			n := noted{dryRun: dryRun, can: in[1] + " can be taken away from node group " + in[0] + ".", done: in[1] + " is no replica of node group " + in[0] + "."}
			if force {
				n.confirm = "Is the server at " + in[1] + " stopped for good, or cut off?"
			}
			removed := false
			return n.run(c.Context(), a, func(ctx context.Context, api adminv1.AdminClient, dry bool) (notes, error) {
				r, err := api.RemoveReplica(ctx, &adminv1.RemoveReplicaRequest{NodeGroup: in[0], Addr: in[1], Force: force, DryRun: dry})
				removed = r.GetRemoved()
				return r, err
			}, func(notes []string, done bool) any {
				return struct {
					NodeGroup string   `json:"node_group"`
					Replica   string   `json:"replica"`
					Changed   bool     `json:"changed"`
					Notes     []string `json:"notes"`
				}{in[0], in[1], done && removed, notes}
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "although it cannot be reached and the primary may be connected to it")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say whether it can be taken away now")
	return c
}

// replicasOf are the addresses of a node group's replicas.
func replicasOf(group string) names {
	return func(ctx context.Context, api adminv1.AdminClient) (out []string, err error) {
		r, err := api.Status(ctx, &adminv1.StatusRequest{})
		for _, g := range r.GetNodeGroups() {
			if g.Name == group {
				out = toGroup(g).Replicas
			}
		}
		return out, err
	}
}
