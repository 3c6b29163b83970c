package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	adminv1 "skarv/proto/admin/v1"
)

func (a *app) failoverCommand() *cobra.Command {
	var automatic string
	var dryRun bool
	c := &cobra.Command{
		Use:               "failover GROUP --automatic on|off",
		ValidArgsFunction: a.complete(nodeGroupNames, 1),
		Short:             "Let a replica take the primary's place by itself when that is lost, or not",
		Long: `Let a replica take the place of a node group's primary without being told to, when the primary answers neither the controller nor any other process
for failover.after (10 s). It happens only if nothing is lost by it that was acknowledged: the primary waits for replicas (semi-synchronous replication, AFTER_SYNC)
and never goes on without. Whether that is so the controller looks every second; skarvctl status and nodegroup list tell. While it is on, the controller has the
primary wait for its replicas as soon as everything else is set.`,
		Example: "  skarvctl nodegroup failover ng1 --automatic on --dry-run\n  skarvctl nodegroup failover ng1 --automatic on",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			if automatic != "on" && automatic != "off" {
				return usage("say --automatic on or --automatic off")
			}
			n := noted{dryRun: dryRun, can: "Automatic failover of node group " + in[0] + " can be turned " + automatic + ".", done: "Automatic failover of node group " + in[0] + " is " + automatic + "."}
			return n.run(c.Context(), a, func(ctx context.Context, api adminv1.AdminClient, dry bool) (notes, error) {
				return api.AutomaticFailover(ctx, &adminv1.AutomaticFailoverRequest{NodeGroup: in[0], On: automatic == "on", DryRun: dry})
			}, func(notes []string, done bool) any {
				return struct {
					NodeGroup string   `json:"node_group"`
					Automatic bool     `json:"automatic"`
					Changed   bool     `json:"changed"`
					Notes     []string `json:"notes"`
				}{in[0], automatic == "on", done, notes}
			})
		},
	}
	c.Flags().StringVar(&automatic, "automatic", "", "on or off")
	_ = c.RegisterFlagCompletionFunc("automatic", cobra.FixedCompletions([]string{"on", "off"}, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that is not there
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only look whether a replica could take the primary's place")
	return c
}

func (a *app) switchoverCommand() *cobra.Command {
	var to string
	var lost, dryRun bool
	var drain time.Duration
	c := &cobra.Command{
		Use:               "switchover GROUP --to HOST:PORT",
		ValidArgsFunction: a.complete(nodeGroupNames, 1),
		Short:             "Make a replica the primary of its node group, while clients work",
		Long: `Make a replica the primary of its node group. It must replicate from the primary by global transaction ids. Statements that need the group wait,
mostly for less than a second; transactions that last longer than --drain are rolled back. Nothing that was acknowledged is lost. The old primary becomes
read-only, and a replica, as do the group's other replicas.

With --lost the primary is not asked: it does not answer, and never will again. The replica applies what it has received; what the primary
acknowledged and had not sent is lost.`,
		Example: "  skarvctl nodegroup switchover ng1 --to 10.0.0.5:3306 --dry-run\n  skarvctl nodegroup switchover ng1 --to 10.0.0.5:3306",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			if to == "" {
				return usage("name the server that is to be the primary: --to HOST:PORT")
			}
			n := noted{dryRun: dryRun, can: to + " can become the primary of node group " + in[0] + ".", done: to + " is the primary of node group " + in[0] + "."}
			if lost {
				n.confirm = "Is the primary of node group " + in[0] + " lost for good, and stopped?"
			}
			return n.run(c.Context(), a, func(ctx context.Context, api adminv1.AdminClient, dry bool) (notes, error) {
				return api.Switchover(ctx, &adminv1.SwitchoverRequest{NodeGroup: in[0], To: to, Lost: lost, DryRun: dry, Drain: durationpb.New(drain)})
			}, func(notes []string, done bool) any {
				return struct {
					NodeGroup string   `json:"node_group"`
					Primary   string   `json:"primary"`
					Changed   bool     `json:"changed"`
					Notes     []string `json:"notes"`
				}{in[0], to, done, notes}
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "address of the replica")
	c.Flags().BoolVar(&lost, "lost", false, "the primary is lost for good: do not ask it")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say whether it can be done now")
	c.Flags().DurationVar(&drain, "drain", 5*time.Second, "how long transactions that have begun may go on, at most 10s")
	return c
}
