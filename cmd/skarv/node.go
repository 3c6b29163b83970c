package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"skarv/pkg/certfile"
	"skarv/pkg/datanode"
	datanodev1 "skarv/proto/datanode/v1"
)

// nodeConfig is the command line of `skarv node`.
type nodeConfig struct {
	listen                  string
	engine, binary          string
	tlsCert, tlsKey, tlsCA  string
	logLevel, logFormat     string
	node                    datanode.Config
	initialise, keepStopped bool
}

func nodeCommand() *cobra.Command {
	var cfg nodeConfig
	cmd := &cobra.Command{
		Use:   "node",
		Short: "run a data node: one database server on this machine and its life",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runNode(cmd.Context(), cfg, newLog(cmd.ErrOrStderr(), cfg.logLevel, cfg.logFormat))
		},
	}
	f := cmd.Flags()
	f.StringVar(&cfg.listen, "listen", "127.0.0.1:9307", "HOST:PORT of the gRPC service")
	f.StringVar(&cfg.node.Dir, "data-dir", "", "the node's directory (required)")
	f.StringVar(&cfg.node.Addr, "mysql-addr", "127.0.0.1:3307", "HOST:PORT the database server listens on; port 0: a free one")
	f.Uint32Var(&cfg.node.ID, "server-id", 0, "server id, unique among all servers of the cluster (required)")
	f.Uint32Var(&cfg.node.Domain, "gtid-domain", 0, "GTID domain of a MariaDB server, the same in one node group (default: the server id)")
	f.StringVar(&cfg.engine, "engine", "auto", "database server: auto, mariadb or mysql")
	f.StringVar(&cfg.binary, "server-binary", "", "the mariadbd or mysqld to run (default: look for one)")
	f.StringToStringVar(&cfg.node.Variables, "set", nil, "settings of the database server, NAME=VALUE")
	f.BoolVar(&cfg.initialise, "initialise", false, "initialise an empty data directory without being asked over gRPC")
	f.BoolVar(&cfg.keepStopped, "keep-stopped", false, "do not start an initialised server before being asked over gRPC")
	f.StringVar(&cfg.tlsCert, "tls-cert", "", "PEM certificate of the gRPC service")
	f.StringVar(&cfg.tlsKey, "tls-key", "", "PEM key of --tls-cert")
	f.StringVar(&cfg.tlsCA, "tls-ca", "", "PEM authority that callers' certificates must come from")
	f.StringVar(&cfg.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&cfg.logFormat, "log-format", "text", "text or json")
	for _, name := range []string{"data-dir", "server-id"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // a name that is not above
		}
	}
	return cmd
}

func runNode(ctx context.Context, cfg nodeConfig, log *slog.Logger) error {
	engine, err := datanode.ParseEngine(cfg.engine)
	if err != nil {
		return usageError{err}
	}
	creds, err := nodeCredentials(cfg, log)
	if err != nil {
		return err
	}
	cfg.node.Log = log
	if cfg.node.Binary, err = datanode.Find(ctx, engine, cfg.binary); err != nil {
		return err
	}
	l, err := net.Listen("tcp", cfg.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", cfg.listen, err)
	}
	defer l.Close()
	node, err := datanode.Open(cfg.node)
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.Creds(creds))
	datanodev1.RegisterDataNodeServer(server, datanode.NewService(node))

	// The node outlives the service, so that a request under way is carried to its end.
	g, ctx := errgroup.WithContext(ctx)
	base, stopNode := context.WithCancel(context.WithoutCancel(ctx))
	g.Go(func() error { return node.Run(base) })
	g.Go(func() error {
		defer stopNode()
		defer context.AfterFunc(ctx, server.GracefulStop)()
		return server.Serve(l)
	})
	g.Go(func() error {
		if cfg.initialise {
			if err := node.Initialise(ctx); err != nil {
				return err
			}
		}
		if node.Status().State == datanode.Uninitialised || cfg.keepStopped {
			return nil
		}
		return node.Start(ctx)
	})
	log.Info("data node listens", "addr", l.Addr().String(), "dir", node.Status().Dir, "state", node.Status().State)
	err = g.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// nodeCredentials: whoever can call a data node can stop a database, so beyond this machine callers must prove
// who they are.
func nodeCredentials(cfg nodeConfig, log *slog.Logger) (credentials.TransportCredentials, error) {
	host, _, err := net.SplitHostPort(cfg.listen)
	if err != nil {
		return nil, usageError{fmt.Errorf("--listen: %w", err)}
	}
	if cfg.tlsCert == "" && cfg.tlsKey == "" && cfg.tlsCA == "" {
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, usageError{fmt.Errorf("--listen %s is open to other machines: give --tls-cert, --tls-key and --tls-ca", cfg.listen)}
		}
		return insecure.NewCredentials(), nil
	}
	if cfg.tlsCert == "" || cfg.tlsKey == "" || cfg.tlsCA == "" {
		return nil, usageError{errors.New("--tls-cert, --tls-key and --tls-ca go together")}
	}
	pair, err := certfile.Load(cfg.tlsCert, cfg.tlsKey, log)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	callers, err := certfile.Authorities(cfg.tlsCA)
	if err != nil {
		return nil, fmt.Errorf("--tls-ca: %w", err)
	}
	t := &tls.Config{ClientCAs: callers, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	pair.Serve(t)
	return credentials.NewTLS(t), nil
}
