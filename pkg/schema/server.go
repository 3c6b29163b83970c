// Package schema is what one database server has of a schema, as the control plane sees it: a connection for changing it, the
// definitions of tables, views, triggers, programs and events read from it, and their copies on another server. It knows of no cluster:
// where rows live, and what the catalog says, is for packages above it.
package schema

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"skarv/pkg/catalog"
	"skarv/pkg/reason"
	"skarv/pkg/sqlerr"
)

// fenceLock is the name of the user lock that whoever changes a server's schema holds there, one for each lane. A controller that was
// paused and lost its leadership holds it through a connection; its successor kills that connection, after which
// nothing the predecessor still wants to send can reach the server.
func fenceLock(lane int) string {
	if lane == 0 {
		return "skarv_ddl"
	}
	return "skarv_ddl_" + strconv.Itoa(lane)
}

// dialTimeout bounds connecting to a database server.
const dialTimeout = 5 * time.Second

// patience is how long a server may say nothing.
type patience struct {
	login  time.Duration // from connecting until it takes statements
	attend time.Duration // between looks whether it is alive while it works on a statement
}

func usualPatience() patience { return patience{login: 10 * time.Second, attend: 5 * time.Second} }

// ErrSilent: a server that has begun a statement does not answer any more, not even new connections. What became of the statement is
// not known, and it may still go on.
var ErrSilent = errors.New("the server does not answer")

// ErrLost: there is no connection to the server, or not any more. What became of a statement that was sent is not known.
var ErrLost = errors.New("the server cannot be reached")

// lost is an error that is ErrLost, in words of its own.
type lost struct{ error }

func (lost) Is(target error) bool { return target == ErrLost }

func (l lost) Unwrap() error { return l.error }

// Server is one connection to one database server, for one job. It belongs to one goroutine at a time, which closes it. Errors are
// *sqlerr.Error if the server said them, with its own words; after any other one the connection cannot be used any more.
type Server struct {
	Group string // for messages
	node  catalog.Node
	db    *sql.DB
	conn  *sql.Conn

	dialer Dialer
}

// Dialer connects to servers. The zero value will do where all their certificates are of the system's authorities.
type Dialer struct {
	TLS *tls.Config // see catalog.Node.ClientTLS

	patience patience // the zero value: usualPatience
}

// Dial connects to a node; group is what messages call its node group.
func (d Dialer) Dial(ctx context.Context, group string, node catalog.Node) (*Server, error) {
	p := d.patience
	if p == (patience{}) {
		p = usualPatience()
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd = node.User, node.Password
	cfg.Net, cfg.Addr = "tcp", node.Addr
	if path, ok := strings.CutPrefix(node.Addr, "unix:"); ok {
		cfg.Net, cfg.Addr = "unix", path
	}
	cfg.Timeout = dialTimeout
	cfg.Logger = mysql.Logger(&mysql.NopLogger{})
	cfg.AllowNativePasswords = true
	cfg.TLS, cfg.AllowFallbackToPlaintext = node.ClientTLS(d.TLS)
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", node.Addr, err)
	}
	db := sql.OpenDB(connector)
	login, cancel := context.WithTimeout(ctx, p.login)
	defer cancel()
	conn, err := db.Conn(login)
	if err != nil {
		db.Close()
		of := ""
		if group != "" { // else it is to be one, and has no name yet
			of = " of node group " + group
		}
		if login.Err() != nil && ctx.Err() == nil {
			return nil, lost{fmt.Errorf("connect to %s%s: no answer within %v", node.Addr, of, p.login)}
		}
		return nil, lost{fmt.Errorf("connect to %s%s: %w", node.Addr, of, reason.Plain(err))}
	}
	return &Server{Group: group, node: node, db: db, conn: conn, dialer: Dialer{TLS: d.TLS, patience: p}}, nil
}

// Answers reports whether the server of a node group is there. A server that has nothing of a cluster is not the group's; one that lets nobody
// in, or says what it should not, may be: that is the error.
func (d Dialer) Answers(ctx context.Context, group string, node catalog.Node) (bool, error) {
	s, err := d.Dial(ctx, group, node)
	if _, said := errors.AsType[*mysql.MySQLError](err); err != nil && !said && ctx.Err() == nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer s.Close()
	_, err = s.Values(ctx, 1, "SELECT 1 FROM `_skarv`.`dt` LIMIT 0")
	switch {
	case sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase), errors.Is(err, ErrLost), errors.Is(err, ErrSilent):
		return false, ctx.Err()
	case err != nil:
		return false, err
	}
	return true, nil
}

// Close ends the connection.
func (s *Server) Close() {
	_ = s.conn.Close() // the connection is done with; nothing depends on how it ends
	_ = s.db.Close()
}

// Exec runs a statement and returns how many rows it affected.
func (s *Server) Exec(ctx context.Context, query string) (affected uint64, err error) {
	ctx, done := s.attended(ctx)
	defer done()
	r, err := s.conn.ExecContext(ctx, query)
	if err != nil {
		return 0, s.serverError(ctx, err)
	}
	n, err := r.RowsAffected()
	return uint64(max(n, 0)), err
}

// Rows runs a query and calls scan for each row.
func (s *Server) Rows(ctx context.Context, scan func(*sql.Rows) error, query string) error {
	ctx, done := s.attended(ctx)
	defer done()
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return s.serverError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("read answer of node group %s: %w", s.Group, err)
		}
	}
	return s.serverError(ctx, rows.Err())
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

// attended is ctx until the server answers no more. A statement may take hours, so only another connection can tell.
func (s *Server) attended(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		t := time.NewTicker(s.dialer.patience.attend)
		defer t.Stop()
		for silent := 0; silent < 2; {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			other, err := s.dialer.Dial(ctx, s.Group, s.node)
			_, refused := errors.AsType[*mysql.MySQLError](err)
			switch {
			case err == nil:
				other.Close()
				silent = 0
			case refused:
				silent = 0
			default:
				silent++
			}
		}
		cancel(ErrSilent)
	}()
	return ctx, func() { cancel(nil) }
}

// serverError is err of a statement that ran with ctx.
func (s *Server) serverError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if context.Cause(ctx) == ErrSilent {
		return fmt.Errorf("node group %s at %s: %w", s.Group, s.node.Addr, ErrSilent)
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		state := string(e.SQLState[:])
		if e.SQLState[0] == 0 {
			state = "HY000"
		}
		return &sqlerr.Error{Code: sqlerr.Code(e.Number), State: state, Message: e.Message}
	}
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn) {
		err = reason.Say("the connection was lost before it had answered", err)
	}
	return lost{fmt.Errorf("node group %s at %s: %w", s.Group, s.node.Addr, reason.Plain(err))}
}

// TakeFence makes this connection the only one of its lane that changes the server's schema for Skarv, ending whoever is.
func (s *Server) TakeFence(ctx context.Context, lane int) error {
	lock := fenceLock(lane)
	for range 5 {
		got, err := s.One(ctx, "SELECT GET_LOCK('"+lock+"', 2)")
		if err != nil {
			return err
		}
		if got == "1" {
			return nil
		}
		if err := s.breakFence(ctx, lane); err != nil {
			return err
		}
	}
	return fmt.Errorf("node group %s: lock %s is held by another connection that cannot be ended", s.Group, lock)
}

// FenceWaits reports whether the connection that holds the fence of a lane, another one than this, waits for those who use the tables of its
// statement.
func (s *Server) FenceWaits(ctx context.Context, lane int) (bool, error) {
	n, err := s.One(ctx, "SELECT COUNT(*) FROM information_schema.processlist WHERE id = IS_USED_LOCK('"+fenceLock(lane)+"') AND state LIKE 'Waiting for % metadata lock'")
	return n == "1", err
}

// GiveFence gives up a fence that this connection holds.
func (s *Server) GiveFence(ctx context.Context, lane int) error {
	_, err := s.One(ctx, "SELECT RELEASE_LOCK('"+fenceLock(lane)+"')")
	return err
}

// breakFence tells the connection that holds the fence of a lane to end, if there is one.
func (s *Server) breakFence(ctx context.Context, lane int) error {
	lock := fenceLock(lane)
	holder, err := s.One(ctx, "SELECT IS_USED_LOCK('"+lock+"')")
	if err != nil || holder == "" {
		return err
	}
	if _, err := s.Exec(ctx, "KILL "+holder); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
		return fmt.Errorf("end the schema change of connection %s that holds lock %s: %w", holder, lock, err)
	}
	return nil
}
