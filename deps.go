//go:build deps

// Package skarv pins the modules of the first release until every package that imports them stands.
package skarv

import (
	_ "github.com/cockroachdb/datadriven"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/spf13/cobra"
	_ "github.com/stretchr/testify/require"
	_ "go.etcd.io/etcd/client/v3"
	_ "go.etcd.io/etcd/client/v3/concurrency"
	_ "go.etcd.io/etcd/server/v3/embed"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "google.golang.org/grpc"
	_ "google.golang.org/protobuf/proto"
	_ "gopkg.in/yaml.v3"
	_ "vitess.io/vitess/go/mysql/collations/colldata"
	_ "vitess.io/vitess/go/vt/sqlparser"
)
