package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"skarv/pkg/digest"
	adminv1 "skarv/proto/admin/v1"
)

type statementDigest struct {
	Database   string     `json:"database,omitempty"`
	Statement  string     `json:"statement"`
	Strategies []string   `json:"strategies"`
	Count      uint64     `json:"count"`
	Errors     uint64     `json:"errors"`
	Total      took       `json:"total_seconds"`
	Average    took       `json:"average_seconds"`
	Max        took       `json:"max_seconds"`
	Share      float64    `json:"share"` // of the time of all
	Rows       uint64     `json:"rows_sent"`
	Bytes      uint64     `json:"bytes_sent"`
	FirstSeen  *time.Time `json:"first_seen"`
	LastSeen   *time.Time `json:"last_seen"`
}

// took is a time that JSON has as a number of them.
type took float64

func inSeconds(d *durationpb.Duration) took { return took(d.AsDuration().Seconds()) }

// String has three digits or more.
func (s took) String() string {
	d := time.Duration(float64(s) * float64(time.Second))
	switch {
	case d < 10*time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func (a *app) statementsCommand() *cobra.Command {
	var by string
	var limit uint32
	var reset, full bool
	orders := make([]string, 0, len(digest.Orders()))
	for _, o := range digest.Orders() {
		orders = append(orders, string(o))
	}
	c := &cobra.Command{
		Use:   "statements",
		Short: "Show which statements the cluster is busy with",
		Long: `Show which statements the cluster is busy with: those of all processes since each began, added up by their shape, with ? in the places of values.
STRATEGY is how they were run: relay and packed by one node group, local by Skarv, scatter and split by several; workspace and broadcast copied rows
first, and are what to look at with EXPLAIN. The table is also SELECT * FROM skarv.statements.`,
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if !slices.Contains(orders, by) {
				return usage("--by %q is none of %s", by, strings.Join(orders, ", "))
			}
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.Statements(ctx, &adminv1.StatementsRequest{Cluster: true, Order: by, Limit: limit, Reset_: reset})
				if err != nil {
					return err
				}
				return a.printStatements(r, full)
			})
		},
	}
	c.Flags().StringVar(&by, "by", string(digest.ByTotal), "the most first: "+strings.Join(orders, ", "))
	c.Flags().Uint32Var(&limit, "limit", 20, "no more than so many; 0: all")
	c.Flags().BoolVar(&full, "full", false, "whole statements, not the beginning of each")
	c.Flags().BoolVar(&reset, "reset", false, "then begin to count anew, on all processes")
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(orders, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) printStatements(r *adminv1.StatementsResponse, full bool) error {
	for _, m := range r.Missing {
		fmt.Fprintf(a.errs, "warning: the process at %s does not answer; its statements are missing\n", m)
	}
	all := r.Total.AsDuration().Seconds()
	list := []statementDigest{}
	for _, d := range r.Statements {
		s := statementDigest{
			d.Database, d.Text, d.Strategies, d.Count, d.Errors, inSeconds(d.Total), inSeconds(d.Average), inSeconds(d.Max), 0, d.Rows, d.Bytes,
			when(d.FirstSeen), when(d.LastSeen),
		}
		if all > 0 {
			s.Share = float64(s.Total) / all
		}
		list = append(list, s)
	}
	return a.print(list, func(w io.Writer) {
		row(w, "SHARE", "TOTAL", "COUNT", "ERRORS", "AVERAGE", "MAX", "ROWS", "STRATEGY", "DATABASE", "STATEMENT")
		for _, s := range list {
			text := cell(s.Statement)
			if full {
				text = strings.ReplaceAll(s.Statement, "\n", " ")
			}
			row(w, fmt.Sprintf("%.1f%%", 100*s.Share), s.Total, s.Count, s.Errors, s.Average, s.Max, s.Rows, strings.Join(s.Strategies, ","), s.Database, text)
		}
		if rest := int(r.All) - len(list); rest > 0 {
			fmt.Fprintf(w, "and %d more: --limit 0 shows all\n", rest)
		}
	})
}
