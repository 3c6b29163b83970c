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
		Use:   "transactions",
		Short: "List transactions over several node groups that are in doubt, and how others ended",
		Args:  args(cobra.NoArgs),
		RunE:  func(c *cobra.Command, _ []string) error { return a.transactions(c.Context(), "") },
	}
}

func (a *app) transactionCommand() *cobra.Command {
	return group("transaction", "One transaction over several node groups", &cobra.Command{
		Use:   "show ID",
		Short: "Tell how a transaction stands or ended whose outcome a client was told is unknown",
		Args:  args(cobra.ExactArgs(1)),
		RunE:  func(c *cobra.Command, in []string) error { return a.transactions(c.Context(), in[0]) },
	})
}

// transactions shows one transaction, or all that are known if id is empty.
func (a *app) transactions(ctx context.Context, id string) error {
	return a.call(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
		r, err := api.Transactions(ctx, &adminv1.TransactionsRequest{Id: id})
		if err != nil {
			return err
		}
		list := []transaction{}
		for _, t := range r.Transactions {
			list = append(list, transaction{t.Id, t.State, t.NodeGroup, t.Seconds, t.Reason})
		}
		if id != "" && len(list) == 0 {
			return fmt.Errorf("nothing is known of transaction %s: it was never decided, so that nothing of it stands; or every node group has confirmed its commit to its own process; or it ended more than a day ago", id)
		}
		return a.print(list, func(w io.Writer) {
			row(w, "ID", "STATE", "NODE GROUP", "SECONDS", "REASON")
			for _, t := range list {
				row(w, t.ID, t.State, t.NodeGroup, t.Seconds, t.Reason)
			}
		})
	})
}
