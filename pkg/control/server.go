package control

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
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

// server is one connection to one database server, for one job. It belongs to one goroutine at a time.
type server struct {
	group string // for messages
	node  catalog.Node
	db    *sql.DB
	conn  *sql.Conn
}

// dial connects to a node.
func dial(ctx context.Context, group string, node catalog.Node) (*server, error) {
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
		host, _, _ := strings.Cut(node.Addr, ":")
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
	return &server{group: group, node: node, db: db, conn: conn}, nil
}

func (s *server) close() {
	_ = s.conn.Close() // the connection is done with; nothing depends on how it ends
	_ = s.db.Close()
}

// exec runs a statement. A server's refusal is an *sqlerr.Error with that server's words.
func (s *server) exec(ctx context.Context, query string) (affected uint64, err error) {
	r, err := s.conn.ExecContext(ctx, query)
	if err != nil {
		return 0, s.serverError(err)
	}
	n, err := r.RowsAffected()
	return uint64(max(n, 0)), err
}

// rows runs a query and calls scan for each row.
func (s *server) rows(ctx context.Context, scan func(*sql.Rows) error, query string) error {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return s.serverError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("read answer of node group %s: %w", s.group, err)
		}
	}
	return s.serverError(rows.Err())
}

// one reads a query's single value, "" for NULL or no row.
func (s *server) one(ctx context.Context, query string) (string, error) {
	var out sql.NullString
	err := s.rows(ctx, func(r *sql.Rows) error { return r.Scan(&out) }, query)
	return out.String, err
}

func (s *server) serverError(err error) error {
	if err == nil {
		return nil
	}
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		state := string(e.SQLState[:])
		if e.SQLState[0] == 0 {
			state = "HY000"
		}
		return &sqlerr.Error{Code: sqlerr.Code(e.Number), State: state, Message: e.Message}
	}
	return fmt.Errorf("node group %s at %s: %w", s.group, s.node.Addr, err)
}

// warnings returns what SHOW WARNINGS says of the last statement.
func (s *server) warnings(ctx context.Context) ([]Warning, error) {
	var out []Warning
	err := s.rows(ctx, func(r *sql.Rows) error {
		var w Warning
		if err := r.Scan(&w.Level, &w.Code, &w.Message); err != nil {
			return err
		}
		if len(out) < maxWarnings {
			out = append(out, w)
		}
		return nil
	}, "SHOW WARNINGS")
	return out, err
}

// takeFence makes this connection the only one that changes the server's schema for Skarv, ending whoever is.
func (s *server) takeFence(ctx context.Context) error {
	for range 5 {
		got, err := s.one(ctx, "SELECT GET_LOCK('"+fenceLock+"', 2)")
		if err != nil {
			return err
		}
		if got == "1" {
			return nil
		}
		holder, err := s.one(ctx, "SELECT IS_USED_LOCK('"+fenceLock+"')")
		if err != nil {
			return err
		}
		if holder != "" {
			if _, err := s.exec(ctx, "KILL "+holder); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
				return fmt.Errorf("end the schema change of connection %s that holds lock %s: %w", holder, fenceLock, err)
			}
		}
	}
	return fmt.Errorf("node group %s: lock %s is held by another connection that cannot be ended", s.group, fenceLock)
}

// settings brings the connection into the state a client's statement is to be run in.
func (s *server) settings(ctx context.Context, req DDLRequest) error {
	charset, collation := req.Charset, req.Collation
	if charset == "" {
		charset = "utf8mb4"
	}
	set := []string{"SET NAMES " + quoteText(charset), "SET SESSION sql_mode = " + quoteText(req.SQLMode)}
	if collation != "" { // it need not be one of the client's character set
		set = append(set, "SET SESSION collation_connection = "+quoteText(collation))
	}
	set = append(set, "SET SESSION foreign_key_checks = 1") // trials switch it off
	set = append(set, req.Session...)
	set = append(set, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", lockWaitSeconds))
	if s.node.Flavor == catalog.MySQL {
		set = append(set, "SET SESSION information_schema_stats_expiry = 0")
		_, err := s.exec(ctx, "SET SESSION sql_generate_invisible_primary_key = OFF")
		if err != nil && !sqlerr.HasCode(err, sqlerr.UnknownSystemVariable) { // new in 8.0.30
			return err
		}
	}
	for _, q := range set {
		if _, err := s.exec(ctx, q); err != nil {
			return err
		}
	}
	if req.DB == "" {
		return nil
	}
	_, err := s.exec(ctx, "USE "+quoteName(req.DB))
	if sqlerr.HasCode(err, sqlerr.UnknownDatabase) {
		return nil // it matters only to statements that name no database, and those are checked against the catalog
	}
	return err
}

// sweep drops what jobs of leaders that died left in our database: trial tables, and tables of global indexes that are not
// in keep.
func (s *server) sweep(ctx context.Context, job string, keep map[string]bool) error {
	var names []string
	err := s.rows(ctx, func(r *sql.Rows) error {
		var name string
		if err := r.Scan(&name); err != nil {
			return err
		}
		if strings.HasPrefix(name, trialPrefix) && !strings.HasPrefix(name, trialPrefix+job) ||
			strings.HasPrefix(name, catalog.EntriesPrefix) && !keep[name] {
			names = append(names, quoteName(ownDB)+"."+quoteName(name))
		}
		return nil
	}, "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+ownDB+"'")
	if err != nil || len(names) == 0 {
		return err
	}
	_, err = s.exec(ctx, "DROP TABLE IF EXISTS "+strings.Join(names, ", "))
	return err
}
