package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	adminv1 "skarv/proto/admin/v1"
)

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
			return n.run(a, func(dry bool) (notes []string, err error) {
				err = a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
					r, err := api.Switchover(ctx, &adminv1.SwitchoverRequest{NodeGroup: in[0], To: to, Lost: lost, DryRun: dry, Drain: durationpb.New(drain)})
					notes = r.GetNotes()
					return err
				})
				return notes, err
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
