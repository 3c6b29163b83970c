// Package schema is what one database server has of a schema, as the control plane sees it: a connection for changing it, the
// definitions of tables, views, triggers, programs and events read from it, and their copies on another server. It knows of no cluster:
// where rows live, and what the catalog says, is for packages above it.
package schema

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// fenceLock is the name of the user lock that whoever changes a server's schema holds there. A controller that was
// paused and lost its leadership holds it through a connection; its successor kills that connection, after which
// nothing the predecessor still wants to send can reach the server.
const fenceLock = "skarv_ddl"

// dialTimeout bounds connecting to a database server.
const dialTimeout = 5 * time.Second

// Server is one connection to one database server, for one job. It belongs to one goroutine at a time, which closes it. Errors are
// *sqlerr.Error if the server said them, with its own words; after any other one the connection cannot be used any more.
type Server struct {
	Group string // for messages
	node  catalog.Node
	db    *sql.DB
	conn  *sql.Conn
}

// Dial connects to a node; group is what messages call its node group.
func Dial(ctx context.Context, group string, node catalog.Node) (*Server, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd = node.User, node.Password
	cfg.Net, cfg.Addr = "tcp", node.Addr
	if path, ok := strings.CutPrefix(node.Addr, "unix:"); ok {
		cfg.Net, cfg.Addr = "unix", path
	}
	cfg.Timeout = dialTimeout
	cfg.Logger = mysql.Logger(&mysql.NopLogger{})
	cfg.AllowNativePasswords = true
	switch node.TLS {
	case "":
	case "preferred":
		cfg.TLSConfig = "preferred"
	case "required":
		cfg.TLS = &tls.Config{InsecureSkipVerify: true} // encrypted, not authenticated: what the name says
	case "verify":
		host, _, _ := net.SplitHostPort(node.Addr)
		cfg.TLS = &tls.Config{ServerName: host}
	default:
		return nil, fmt.Errorf("node %s: unknown TLS mode %q", node.Addr, node.TLS)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", node.Addr, err)
	}
	db := sql.OpenDB(connector)
	conn, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("connect to %s of node group %s: %w", node.Addr, group, err)
	}
	return &Server{Group: group, node: node, db: db, conn: conn}, nil
}

// Close ends the connection.
func (s *Server) Close() {
	_ = s.conn.Close() // the connection is done with; nothing depends on how it ends
	_ = s.db.Close()
}

// Exec runs a statement and returns how many rows it affected.
func (s *Server) Exec(ctx context.Context, query string) (affected uint64, err error) {
	r, err := s.conn.ExecContext(ctx, query)
	if err != nil {
		return 0, s.serverError(err)
	}
	n, err := r.RowsAffected()
	return uint64(max(n, 0)), err
}

// Rows runs a query and calls scan for each row.
func (s *Server) Rows(ctx context.Context, scan func(*sql.Rows) error, query string) error {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return s.serverError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("read answer of node group %s: %w", s.Group, err)
		}
	}
	return s.serverError(rows.Err())
}

// Values runs a query and returns its rows of so many columns: the bytes of each value, nil for NULL.
func (s *Server) Values(ctx context.Context, columns int, query string) (out [][][]byte, err error) {
	err = s.Rows(ctx, func(r *sql.Rows) error {
		row := make([][]byte, columns)
		to := make([]any, columns)
		for i := range row {
			to[i] = &row[i]
		}
		if err := r.Scan(to...); err != nil {
			return err
		}
		out = append(out, row)
		return nil
	}, query)
	return out, err
}

// One reads a query's single value, "" for NULL or no row.
func (s *Server) One(ctx context.Context, query string) (string, error) {
	var out sql.NullString
	err := s.Rows(ctx, func(r *sql.Rows) error { return r.Scan(&out) }, query)
	return out.String, err
}

func (s *Server) serverError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		state := string(e.SQLState[:])
		if e.SQLState[0] == 0 {
			state = "HY000"
		}
		return &sqlerr.Error{Code: sqlerr.Code(e.Number), State: state, Message: e.Message}
	}
	return fmt.Errorf("node group %s at %s: %w", s.Group, s.node.Addr, err)
}

// TakeFence makes this connection the only one that changes the server's schema for Skarv, ending whoever is.
func (s *Server) TakeFence(ctx context.Context) error {
	for range 5 {
		got, err := s.One(ctx, "SELECT GET_LOCK('"+fenceLock+"', 2)")
		if err != nil {
			return err
		}
		if got == "1" {
			return nil
		}
		holder, err := s.One(ctx, "SELECT IS_USED_LOCK('"+fenceLock+"')")
		if err != nil {
			return err
		}
		if holder != "" {
			if _, err := s.Exec(ctx, "KILL "+holder); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
				return fmt.Errorf("end the schema change of connection %s that holds lock %s: %w", holder, fenceLock, err)
			}
		}
	}
	return fmt.Errorf("node group %s: lock %s is held by another connection that cannot be ended", s.Group, fenceLock)
}
