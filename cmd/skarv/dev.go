package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"skarv/pkg/buildinfo"
	"skarv/pkg/datanode"
	"skarv/pkg/dev"
)

func devCommand() *cobra.Command {
	var cfg dev.Config
	var engine string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "run a whole cluster on this machine",
		Long: `Runs a whole cluster on this machine: etcd, one database server per node group, proxy and controller.
Clients log in as root without a password, from this machine only. Ctrl-C stops everything.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cfg.Engine, err = datanode.ParseEngine(engine); err != nil {
				return usageError{err}
			}
			if cmd.Flags().Changed("node-groups") && cfg.NodeGroups < 1 {
				return usageError{fmt.Errorf("--node-groups is at least 1, not %d", cfg.NodeGroups)}
			}
			cfg.Version = buildinfo.Version()
			return runDev(cmd, cfg, asJSON)
		},
	}
	f := cmd.Flags()
	f.IntVar(&cfg.NodeGroups, "node-groups", 0, "how many node groups (default 4, or as many as --data-dir has)")
	f.StringVar(&engine, "engine", "auto", "database server: auto, mariadb or mysql")
	f.IntVar(&cfg.Replicas, "replicas", 0, "replicas of each node group, up to 3 (default none, or as many as --data-dir has)")
	f.StringVar(&cfg.DataDir, "data-dir", "", "keep everything here and find it again (default: a temporary directory)")
	f.StringVar(&cfg.MySQLAddr, "mysql-addr", "127.0.0.1:3306", "where MySQL clients connect; port 0: a free one")
	f.StringVar(&cfg.HTTPAddr, "http-addr", "127.0.0.1:8306", "console, health and metrics; port 0: a free one")
	f.StringVar(&cfg.AdminAddr, "admin-addr", "127.0.0.1:9306", "where skarvctl connects; port 0: a free one")
	f.StringVar(&cfg.ServerBinary, "server-binary", "", "the mariadbd or mysqld to run (default: look for one)")
	f.BoolVar(&cfg.TCPBackends, "tcp-backends", false, "reach the database servers by TCP instead of Unix sockets")
	f.BoolVar(&asJSON, "json", false, "print one line of JSON when ready, and nothing else")
	return cmd
}

func runDev(cmd *cobra.Command, cfg dev.Config, asJSON bool) error {
	out := cmd.OutOrStdout()
	began := time.Now()
	if !asJSON {
		cfg.Progress = func(step string) {
			fmt.Fprintf(out, "%6.2f s  %s\n", time.Since(began).Seconds(), step)
		}
	}
	c, err := dev.New(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- c.Run(cmd.Context()) }()
	select {
	case err := <-done:
		return err
	case <-c.Ready():
	}
	if asJSON {
		err = json.NewEncoder(out).Encode(c.Info())
	} else {
		cfg.Progress("ready")
		err = welcome(out, c.Info())
	}
	if rerr := <-done; rerr != nil {
		return rerr
	}
	return err
}

func welcome(w io.Writer, info dev.Info) error {
	host, port, err := net.SplitHostPort(info.MySQLAddr)
	if err != nil {
		return err
	}
	client := "mariadb"
	if info.Engine == "mysql" {
		client = "mysql"
	}
	_, err = fmt.Fprintf(w, `
  connect   %s --host=%s --port=%s --user=root
  admin     skarvctl --addr=%s status
  console   http://%s/
  metrics   http://%s/metrics
  log       %s

Ctrl-C stops it.
`, client, host, port, info.AdminAddr, info.HTTPAddr, info.HTTPAddr, info.LogFile)
	return err
}
