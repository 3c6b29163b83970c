package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	adminv1 "skarv/proto/admin/v1"
)

var errIndexesWrong = errors.New("not every index agrees with its table; see skarvctl index check --help")

type indexCheck struct {
	Table      string `json:"table"`
	Index      string `json:"index"`
	Rows       uint64 `json:"rows"`
	Entries    uint64 `json:"entries"`
	Missing    uint64 `json:"missing"`
	Wrong      uint64 `json:"wrong"`
	Stale      uint64 `json:"stale"`
	Duplicates uint64 `json:"duplicates"`
}

func (a *app) indexCommand() *cobra.Command {
	repair := false
	check := &cobra.Command{
		Use:               "check [DB.TABLE]",
		ValidArgsFunction: a.complete(tableNames, 1),
		Short:             "Compare global indexes with their tables",
		Long: `Compare the global indexes of a table, or of all, with the rows: rows without an entry, entries that lead
elsewhere, entries without a row, and rows whose value another row has. It may run while the tables are used; of large
tables it takes its time: give --timeout.

Exit code 1 when something is wrong and was not repaired.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			table := ""
			if len(in) == 1 {
				table = in[0]
			}
			return a.checkIndexes(c.Context(), table, repair)
		},
	}
	check.Flags().BoolVar(&repair, "repair", false, "write missing entries, correct wrong ones, delete those without a row")
	return group("index", "Global indexes: UNIQUE keys that do not contain the distribution key", check)
}

func (a *app) checkIndexes(ctx context.Context, table string, repair bool) error {
	return a.call(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
		r, err := api.CheckIndexes(ctx, &adminv1.CheckIndexesRequest{Table: table, Repair: repair})
		if err != nil {
			return err
		}
		list, bad := []indexCheck{}, false
		for _, x := range r.Indexes {
			list = append(list, indexCheck{x.Table, x.Name, x.Rows, x.Entries, x.Missing, x.Wrong, x.Stale, x.Duplicates})
			bad = bad || x.Duplicates > 0 || !repair && x.Missing+x.Wrong+x.Stale > 0
		}
		err = a.print(list, func(w io.Writer) {
			row(w, "TABLE", "INDEX", "ROWS", "ENTRIES", "MISSING", "WRONG", "STALE", "DUPLICATES")
			for _, x := range list {
				row(w, x.Table, x.Index, x.Rows, x.Entries, x.Missing, x.Wrong, x.Stale, x.Duplicates)
			}
		})
		if err == nil && bad {
			err = &exitError{exitFailed, errIndexesWrong}
		}
		return err
	})
}
