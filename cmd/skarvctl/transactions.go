package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	adminv1 "skarv/proto/admin/v1"
)

type transaction struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	NodeGroup uint32 `json:"node_group"`
	Seconds   uint64 `json:"seconds"`
	Reason    string `json:"reason,omitempty"`
}

func (a *app) transactionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "transactions [ID]",
		Short: "List transactions over several node groups that are in doubt, and how others ended",
		Args:  args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.Transactions(ctx, &adminv1.TransactionsRequest{})
				if err != nil {
					return err
				}
				list := []transaction{}
				for _, t := range r.Transactions {
					if len(in) == 0 || t.Id == in[0] {
						list = append(list, transaction{t.Id, t.State, t.NodeGroup, t.Seconds, t.Reason})
					}
				}
				if len(in) > 0 && len(list) == 0 {
					return fmt.Errorf("nothing is known of transaction %s: every node group has confirmed it, or it ended more than a day ago, or its node groups have not been asked since", in[0])
				}
				return a.print(list, func(w io.Writer) {
					row(w, "ID", "STATE", "NODE GROUP", "SECONDS", "REASON")
					for _, t := range list {
						row(w, t.ID, t.State, t.NodeGroup, t.Seconds, t.Reason)
					}
				})
			})
		},
	}
}
