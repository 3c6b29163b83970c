package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"skarv/pkg/buildinfo"
	"skarv/pkg/hugetext"
	"skarv/pkg/server"
)

func serveCommand() *cobra.Command {
	var path, advertise string
	var check, show bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run the server: proxy and controller",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg := server.DefaultConfig()
			if path != "" {
				if cfg, err = server.ReadConfig(path); err != nil {
					return err
				}
			}
			if advertise != "" {
				cfg.Admin.Advertise = advertise
			}
			switch {
			case check:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "configuration is good")
				return err
			case show:
				enc := yaml.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent(2)
				return enc.Encode(cfg)
			}
			log := newLog(cmd.ErrOrStderr(), cfg.Log.Level, cfg.Log.Format)
			if cfg.HugePages {
				if moved, err := hugetext.Use(); err != nil {
					log.Debug("code stays on small pages", "reason", err)
				} else {
					log.Debug("code moved to memory for huge pages", "bytes", moved)
				}
			}
			s, err := server.New(cfg, server.Options{Version: buildinfo.Version(), Log: log})
			if err != nil {
				return err
			}
			log.Info("serving", "version", buildinfo.Version(), "mysql_addr", s.MySQLAddr(), "http_addr", s.HTTPAddr(), "admin_addr", s.AdminAddr())
			err = s.Run(cmd.Context())
			log.Info("stopped")
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&path, "config", "c", "", "configuration file (YAML); without one everything has its default")
	f.StringVar(&advertise, "admin-advertise", "", "admin.advertise, whatever the configuration says: of processes that share one file each needs its own")
	f.BoolVar(&check, "check-config", false, "report every fault of the configuration and exit")
	f.BoolVar(&show, "print-config", false, "print the configuration with all defaults and exit")
	cmd.MarkFlagsMutuallyExclusive("check-config", "print-config")
	return cmd
}

// newLog returns the process's log; level and format were checked with the configuration.
func newLog(w io.Writer, level, format string) *slog.Logger {
	o := &slog.HandlerOptions{}
	var l slog.Level
	if l.UnmarshalText([]byte(level)) == nil {
		o.Level = l
	}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
