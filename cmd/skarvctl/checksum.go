package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	adminv1 "skarv/proto/admin/v1"
)

type checksumDifference struct {
	Key       string `json:"key"`
	What      string `json:"what"`
	Partition *int32 `json:"partition,omitempty"`
}

type checksumTable struct {
	Table       string               `json:"table"`
	Comparison  string               `json:"comparison"`
	Between     string               `json:"between,omitempty"`
	Rows        uint64               `json:"rows"`
	Differs     uint64               `json:"differs"`
	Unverified  uint64               `json:"unverified"`
	Differences []checksumDifference `json:"differences,omitempty"`
}

type checksumReport struct {
	Tables  []checksumTable `json:"tables"`
	Skipped []string        `json:"skipped"`
}

func (a *app) checksumCommand() *cobra.Command {
	var rate uint32
	var quiet bool
	c := &cobra.Command{
		Use:               "checksum [DATABASE[.TABLE]]",
		ValidArgsFunction: a.complete(tableNames, 1),
		Short:             "Compare rows with their copies, and with where they should be, while clients work",
		Long: `Compare, while clients work, what should be equal:

  placement  every row with the node group it lies on: none may be where its partition is not
  copies     the copies of a reference table on all node groups
  moving     rows of partitions that move with their copies, once all are copied
  replica    rows of a primary with those of its replicas
  index      global indexes with their tables

Rows are read in small stretches; what differs is read again until it is certain.

Exit code 1 when something differs, or could not be made certain.`,
		Example: "  skarvctl checksum\n  skarvctl checksum shop.orders --rows-per-second 5000 -o json",
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			req := &adminv1.ChecksumRequest{RowsPerSecond: rate}
			if len(in) == 1 {
				req.Database, req.Table, _ = strings.Cut(in[0], ".")
			}
			errs, ok := a.errs.(*os.File)
			return a.checksum(c.Context(), req, quiet || !ok || !isTerminal(errs))
		},
	}
	c.Flags().Uint32Var(&rate, "rows-per-second", 20000, "read no more than that of each server; 0: no limit")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "do not show how far it is, as where standard error is no terminal")
	return c
}

func (a *app) checksum(ctx context.Context, req *adminv1.ChecksumRequest, quiet bool) error {
	var report *adminv1.ChecksumReport
	err := a.stream(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
		s, err := api.Checksum(ctx, req)
		if err != nil {
			return err
		}
		shown := false
		defer func() {
			if shown {
				fmt.Fprintln(a.errs)
			}
		}()
		report, err = receive(s, func(r *adminv1.ChecksumResponse) *adminv1.ChecksumReport {
			if p := r.Progress; p != nil && !quiet && a.output != "json" {
				part := 0.0
				if p.RowsEstimated > 0 {
					part = float64(p.Rows) / float64(p.RowsEstimated)
				}
				fmt.Fprintf(a.errs, "\r%s %s rows, %-60.60s", bar(part), count(int64(p.Rows)), p.What)
				shown = true
			}
			return r.Report
		})
		return err
	})
	if err != nil {
		return err
	}
	out := checksumReport{[]checksumTable{}, append([]string{}, report.Skipped...)}
	var differs, unverified uint64
	for _, t := range report.Tables {
		x := checksumTable{Table: t.Table, Comparison: t.Comparison, Between: t.Between, Rows: t.Rows, Differs: t.Differs, Unverified: t.Unverified}
		for _, d := range t.Differences {
			y := checksumDifference{Key: d.Key, What: d.What}
			if d.Partition >= 0 {
				y.Partition = &d.Partition
			}
			x.Differences = append(x.Differences, y)
		}
		out.Tables = append(out.Tables, x)
		differs, unverified = differs+t.Differs, unverified+t.Unverified
	}
	err = a.print(out, func(w io.Writer) {
		row(w, "TABLE", "COMPARED", "BETWEEN", "RIGHT", "DIFFER", "UNCERTAIN")
		for _, t := range out.Tables {
			row(w, t.Table, t.Comparison, t.Between, t.Rows, t.Differs, t.Unverified)
		}
		for _, t := range out.Tables {
			for _, d := range t.Differences {
				at := ""
				if d.Partition != nil {
					at = fmt.Sprintf(" (partition %d)", *d.Partition)
				}
				fmt.Fprintf(w, "%s: %s%s: %s\n", t.Table, d.Key, at, d.What)
			}
		}
		for _, s := range out.Skipped {
			fmt.Fprintln(w, "not compared:", s)
		}
	})
	switch {
	case err != nil:
		return err
	case differs > 0:
		return &exitError{exitFailed, fmt.Errorf("%d differences", differs)}
	case unverified > 0:
		return &exitError{exitFailed, errors.New("rows changed all the time: run it again")}
	}
	return nil
}
