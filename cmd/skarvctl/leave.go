package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	adminv1 "skarv/proto/admin/v1"
)

type leaveReport struct {
	Addr       string   `json:"addr"`
	Refusals   []string `json:"refusals"`
	Statements []string `json:"statements"`
	Done       bool     `json:"done"`
}

func (a *app) leaveCommand() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use:   "leave",
		Short: "Give the cluster up: its only server is a plain one again",
		Long: `Give the cluster up. One node group must have everything: drain the others and take them out first. Clients can use Skarv no
more from the moment it begins; afterwards they connect to the server, with the server's own accounts.

On the server the counters of AUTO_INCREMENT are set, hidden keys become AUTO_INCREMENT columns, and Skarv's own accounts
and database are dropped. All tables stay as they are. When it is interrupted, run it again.`,
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.leave(c.Context(), dryRun) },
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would be done")
	return c
}

func (a *app) leave(ctx context.Context, dryRun bool) error {
	ask := func(dry bool) (report *leaveReport, err error) {
		err = a.stream(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
			s, err := api.LeaveCluster(ctx, &adminv1.LeaveClusterRequest{DryRun: dry})
			if err != nil {
				return err
			}
			report, err = receive(s, func(r *adminv1.LeaveClusterResponse) *leaveReport {
				a.step(r.Step)
				if x := r.Report; x != nil {
					return &leaveReport{x.Addr, append([]string{}, x.Refusals...), append([]string{}, x.Statements...), x.Done}
				}
				return nil
			})
			return err
		})
		return report, err
	}
	show := func(r *leaveReport) error {
		return a.print(r, func(w io.Writer) {
			for _, x := range r.Refusals {
				fmt.Fprintln(w, "REFUSED:", x)
			}
			if len(r.Refusals) == 0 {
				fmt.Fprintf(w, "On %s:\n", r.Addr)
				for _, q := range r.Statements {
					fmt.Fprintf(w, "  %s;\n", q)
				}
				fmt.Fprintln(w, "  and the proxies' accounts (skarv_w1, skarv_w2, ...) are dropped. Tables, rows and accounts of your own stay.")
			}
		})
	}
	r, err := ask(true)
	if err != nil {
		return err
	}
	if len(r.Refusals) > 0 {
		return errors.Join(show(r), &exitError{exitFailed, errors.New("the cluster cannot be left as it is")})
	}
	if dryRun {
		return show(r)
	}
	if !a.yes {
		if err := show(r); err != nil {
			return err
		}
		if !a.confirm("Give the cluster up?") {
			return errors.New("nothing was done; --yes does not ask")
		}
	}
	if r, err = ask(false); err != nil {
		return err
	}
	if !r.Done {
		return errors.Join(show(r), &exitError{exitFailed, errors.New("the cluster cannot be left as it is")})
	}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "There is no cluster any more. %s is a plain server with all rows; the skarv processes can be stopped.\n", r.Addr)
	})
}
