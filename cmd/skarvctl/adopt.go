package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	adminv1 "skarv/proto/admin/v1"
)

type finding struct {
	Level string `json:"level"`
	What  string `json:"what"`
	Fix   string `json:"fix,omitempty"`
}

type importedTable struct {
	Database      string    `json:"database"`
	Name          string    `json:"name"`
	Kind          string    `json:"kind"`
	Key           []string  `json:"key,omitempty"`
	Why           string    `json:"why,omitempty"`
	Rows          uint64    `json:"rows"`
	Bytes         uint64    `json:"bytes"`
	GlobalIndexes []string  `json:"global_indexes,omitempty"`
	Findings      []finding `json:"findings,omitempty"`
}

type importedAccount struct {
	Name     string            `json:"name"`
	Imported bool              `json:"imported"`
	Grants   map[string]string `json:"grants,omitempty"`
	Problem  string            `json:"problem,omitempty"`
}

type importReport struct {
	ClusterID string            `json:"cluster_id,omitempty"`
	Flavor    string            `json:"flavor"`
	Version   string            `json:"version"`
	Tables    []importedTable   `json:"tables"`
	Accounts  []importedAccount `json:"accounts,omitempty"`
	Findings  []finding         `json:"findings"`
	Clients   []string          `json:"clients,omitempty"`
	Refusals  []string          `json:"refusals"`
}

func toFindings(in []*adminv1.Finding) []finding {
	out := []finding{}
	for _, f := range in {
		out = append(out, finding{f.Level, f.What, f.Fix})
	}
	return out
}

func toImportReport(r *adminv1.ImportReport) *importReport {
	out := &importReport{ClusterID: r.ClusterId, Flavor: r.Flavor, Version: r.Version, Tables: []importedTable{}, Findings: toFindings(r.Findings),
		Clients: r.Clients, Refusals: append([]string{}, r.Refusals...)}
	for _, t := range r.Tables {
		out.Tables = append(out.Tables, importedTable{t.Database, t.Name, t.Kind, t.Key, t.Why, t.Rows, t.Bytes, t.GlobalIndexes, toFindings(t.Findings)})
	}
	for _, x := range r.Accounts {
		out.Accounts = append(out.Accounts, importedAccount{x.Name, x.Imported, x.Grants, x.Problem})
	}
	return out
}

func (r *importReport) table(w io.Writer) {
	row(w, "TABLE", "KIND", "KEY", "WHY", "ROWS", "SIZE")
	for _, t := range r.Tables {
		kind := t.Kind
		if kind == "" {
			kind = "left alone"
		}
		row(w, t.Database+"."+t.Name, kind, strings.Join(t.Key, ", "), t.Why, count(int64(t.Rows)), size(int64(t.Bytes)))
	}
	said := func(level string) (out [][2]string) {
		add := func(where string, list []finding) {
			for _, f := range list {
				if f.Level == level {
					text := f.What
					if f.Fix != "" {
						text += "\n    " + f.Fix
					}
					out = append(out, [2]string{where, text})
				}
			}
		}
		add("server", r.Findings)
		for _, t := range r.Tables {
			add(t.Database+"."+t.Name, t.Findings)
		}
		return out
	}
	for _, level := range []struct{ name, title string }{
		{"note", "Good to know:"}, {"warning", "Works, but see what it means:"}, {"refused", "Must be changed first:"},
	} {
		if list := said(level.name); len(list) > 0 {
			fmt.Fprintln(w, "\n"+level.title)
			for _, f := range list {
				fmt.Fprintf(w, "  %s: %s\n", f[0], f[1])
			}
		}
	}
	if len(r.Accounts) > 0 {
		fmt.Fprintln(w)
		row(w, "ACCOUNT", "IMPORTED", "GRANTS", "REMARK")
		for _, x := range r.Accounts {
			var grants []string
			for db, p := range x.Grants {
				grants = append(grants, db+":"+p)
			}
			sort.Strings(grants)
			row(w, x.Name, map[bool]string{true: "yes", false: "no"}[x.Imported], strings.Join(grants, " "), x.Problem)
		}
	}
}

// step shows what is being done, on standard error.
func (a *app) step(text string) {
	if text != "" {
		fmt.Fprintln(a.errs, text)
	}
}

// hasAdmin reports whether an account that was imported may do everything.
func (r *importReport) hasAdmin() bool {
	return slices.ContainsFunc(r.Accounts, func(x importedAccount) bool { return x.Imported && x.Grants["*"] == "admin" })
}

func (a *app) importCommand() *cobra.Command {
	var l login
	var keys, references, singles []string
	var dryRun, accounts, connected bool
	c := &cobra.Command{
		Use:   "import [NAME=]PRIMARY[,REPLICA...]",
		Short: "Make a cluster of a server that has tables: none is changed, no row moves",
		Long: `Make a cluster of one node group out of a MariaDB or MySQL server that is in use. It owns all partitions. No table is altered
and no row moves; nodegroup add and rebalance spread the rows afterwards, while clients work.

It reports for every table where its rows are to live and why, and what does not fit. By itself a table is distributed by the
columns of PARTITION BY KEY, or what its comment says (skarv:key=a,b skarv:reference skarv:single), or its primary key; tables that
cannot be distributed stay whole on the server's node group. Nothing is written with --dry-run.

No client may be connected to the server when it is done; afterwards clients connect to Skarv.`,
		Example: "  skarvctl import 10.0.0.1:3306 --password-file pw --dry-run\n" +
			"  skarvctl import 10.0.0.1:3306 --password-file pw --key shop.items=order_id --reference shop.country --accounts",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			req := &adminv1.ImportClusterRequest{Keys: map[string]string{}, References: references, Singles: singles, Accounts: accounts, Connected: connected}
			for _, k := range keys {
				table, columns, ok := strings.Cut(k, "=")
				if !ok || columns == "" || !strings.Contains(table, ".") {
					return usage("--key is DB.TABLE=COLUMN[,COLUMN], not %q", k)
				}
				if _, twice := req.Keys[table]; twice {
					return usage("--key is given twice for %s", table)
				}
				req.Keys[table] = columns
			}
			pw, err := l.password.read(a, "Password of "+l.user+" on the server: ", false)
			if err != nil {
				return err
			}
			if req.NodeGroup, err = l.nodeGroupSpec(in[0], pw); err != nil {
				return err
			}
			return a.importServer(c.Context(), req, dryRun)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&keys, "key", nil, "DB.TABLE=COLUMN[,COLUMN]: distribute the table by these; repeat for more")
	f.StringArrayVar(&references, "reference", nil, "DB.TABLE: a copy of it on every node group to come; repeat for more")
	f.StringArrayVar(&singles, "single", nil, "DB.TABLE or DB.*: it stays whole; repeat for more")
	f.BoolVar(&dryRun, "dry-run", false, "only report")
	f.BoolVar(&accounts, "accounts", false, "make the server's accounts accounts of the cluster, where that can be")
	f.BoolVar(&connected, "connected", false, "import although clients are connected to the server")
	l.flags(c)
	return c
}

// importServer asks for the report, shows it, and imports.
func (a *app) importServer(ctx context.Context, req *adminv1.ImportClusterRequest, dryRun bool) error {
	ask := func(dry bool) (report *importReport, err error) {
		req.DryRun = dry
		err = a.stream(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
			s, err := api.ImportCluster(ctx, req)
			if err != nil {
				return err
			}
			report, err = receive(s, func(r *adminv1.ImportClusterResponse) *importReport {
				a.step(r.Step)
				if r.Report == nil {
					return nil
				}
				return toImportReport(r.Report)
			})
			return err
		})
		return report, err
	}
	refused := func(r *importReport) error {
		if len(r.Refusals) == 0 {
			return nil
		}
		return &exitError{exitFailed, errors.New("the server cannot be imported as it is; change what is refused above")}
	}
	r, err := ask(true)
	if err != nil {
		return err
	}
	if dryRun || len(r.Refusals) > 0 {
		return errors.Join(a.print(r, r.table), refused(r))
	}
	if !a.yes {
		if err := a.print(r, r.table); err != nil {
			return err
		}
		if !a.confirm("Import?") {
			return errors.New("not imported; --yes imports without asking")
		}
	}
	if r, err = ask(false); err != nil {
		return err
	}
	if r.ClusterID == "" {
		return errors.Join(a.print(r, r.table), refused(r))
	}
	return a.print(r, func(w io.Writer) {
		if a.yes {
			r.table(w)
		}
		fmt.Fprintf(w, "\nCluster %s has one node group with all of it. Clients now connect to Skarv, not to the server.\n", r.ClusterID)
		if !r.hasAdmin() {
			fmt.Fprintln(w, "No account may do everything (*:admin) yet.")
			fmt.Fprintln(w, "Next: skarvctl user add NAME --grant '*:admin'")
		}
		fmt.Fprintln(w, "To spread the rows: skarvctl nodegroup add ADDR, skarvctl rebalance")
	})
}
