// Package failover changes the roles of the servers of a node group: what a server says of its replication, waiting until a replica has
// everything its primary has, and making the one the other. It knows servers and nothing of clusters: that nobody else uses them meanwhile,
// and what the catalog says, is its caller's business.
package failover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/fence"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Server is a connection to one server, with all privileges. It belongs to one goroutine, which closes it.
type Server struct {
	*mysqlconn.Conn
	Addr   string
	Flavor catalog.Flavor
	stop   func() bool
}

// Dial connects to a server. The connection ends with ctx.
func Dial(ctx context.Context, login mysqlconn.Config, addr string, flavor catalog.Flavor) (*Server, error) {
	c, err := mysqlconn.Dial(ctx, login)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	s := &Server{Conn: c, Addr: addr, Flavor: flavor, stop: context.AfterFunc(ctx, c.Interrupt)}
	err = s.run("SET SESSION sql_mode = ''") // by which literal writes
	if err == nil && flavor == catalog.MariaDB {
		if _, e := c.Exec("SET ROLE " + fence.FailoverRole); !c.Usable() { // who has not the role may need none: see MaySwitch
			err = e
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// MaySwitch returns an error that says what is to be done unless the account may change whether the server is read-only.
func (s *Server) MaySwitch() error {
	_, err := s.Exec("SET GLOBAL read_only = @@global.read_only")
	if sqlerr.HasCode(err, sqlerr.SpecificAccessDenied) {
		if s.Flavor == catalog.MySQL {
			return fmt.Errorf("server %s: Skarv's account may not set read_only: GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO it", s.Addr)
		}
		return fmt.Errorf("server %s: Skarv's account may not set read_only: %s", s.Addr, strings.Join(fence.GrantFailover("it"), "; "))
	}
	return err
}

// Until has the connection end with ctx, too, unless release is called before.
func (s *Server) Until(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, s.Interrupt)
}

// Close ends the connection, and with it what Freeze has locked.
func (s *Server) Close() {
	s.stop()
	_ = s.Conn.Close()
}

// run runs statements to the first error, which it returns with the server's address.
func (s *Server) run(statements ...string) error {
	for _, sql := range statements {
		if _, err := s.Exec(sql); err != nil {
			return fmt.Errorf("server %s: %w", s.Addr, err)
		}
	}
	return nil
}

// value is the only value of the only row of a query.
func (s *Server) value(sql string) (string, error) {
	_, rows, err := s.QueryAll(sql, 1)
	switch {
	case err != nil:
		return "", fmt.Errorf("server %s: %w", s.Addr, err)
	case len(rows) == 0:
		return "", nil
	}
	return string(rows[0][0]), nil
}

// ID is how servers of its flavor tell each other apart: server_uuid, on MariaDB server_id.
func (s *Server) ID() (string, error) {
	if s.Flavor == catalog.MariaDB {
		return s.value("SELECT @@global.server_id")
	}
	return s.value("SELECT @@global.server_uuid")
}

// Replication is what a server says of the changes it gets from another one.
type Replication struct {
	// Source is the address it gets them from, and SourceID the ID of that server, "" or "0" if it has never been connected.
	Source, SourceID string
	// Receives and Applies: its two threads run; the first one is connected.
	Receives, Applies bool
	// Received is the position it has received, or on MySQL what it has received since it was started.
	Received string
	// Filters are set: it leaves out databases or tables.
	Filters bool
	// GTID: it asks its source for what is missing by global transaction ids.
	GTID bool
	// Error is why a thread has stopped, "" if none has.
	Error string
}

// Replication returns nil for a server that is no replica. One that gets changes from several servers is an error.
func (s *Server) Replication() (*Replication, error) {
	sql := "SHOW REPLICA STATUS"
	if s.Flavor == catalog.MariaDB {
		sql = "SHOW SLAVE STATUS"
	}
	cols, rows, err := s.QueryAll(sql, 2)
	switch {
	case err != nil && len(rows) > 1, err == nil && len(rows) > 1:
		return nil, fmt.Errorf("server %s has several sources of replication", s.Addr)
	case err != nil:
		return nil, fmt.Errorf("server %s: %w", s.Addr, err)
	case len(rows) == 0:
		return nil, nil
	}
	return replication(cols, rows[0]), nil
}

// replication reads a row of SHOW REPLICA STATUS, whose columns have two sets of names.
func replication(cols []sqltypes.Column, row [][]byte) *Replication {
	of := map[string]string{}
	for i := range cols {
		name := strings.NewReplacer("Master_", "Source_", "Slave_", "Replica_").Replace(cols[i].Name)
		of[name] = string(row[i])
	}
	r := &Replication{
		Source: net.JoinHostPort(of["Source_Host"], of["Source_Port"]), SourceID: of["Source_UUID"],
		Receives: of["Replica_IO_Running"] == "Yes", Applies: of["Replica_SQL_Running"] != "No",
		Received: of["Retrieved_Gtid_Set"],
		GTID:     of["Auto_Position"] == "1",
		Error:    strings.TrimSpace(of["Last_IO_Error"] + " " + of["Last_SQL_Error"]),
	}
	if using, mariadb := of["Using_Gtid"]; mariadb {
		r.SourceID, r.Received, r.GTID = of["Source_Server_Id"], of["Gtid_IO_Pos"], using != "No"
	}
	for name, value := range of {
		if strings.HasPrefix(name, "Replicate_") && name != "Replicate_Ignore_Server_Ids" && value != "" {
			r.Filters = true
		}
	}
	return r
}

// Freeze locks a server for all writing and all commits, of prepared transactions too, until the connection is closed. What runs has patience
// for its end. A lock whose holder says nothing any more goes after keep.
func (s *Server) Freeze(patience, keep time.Duration) error {
	return s.run(
		fmt.Sprintf("SET SESSION wait_timeout = %d", int(keep.Seconds())),
		fmt.Sprintf("SET SESSION lock_wait_timeout = %d", max(1, int(patience.Seconds()))),
		"FLUSH TABLES WITH READ LOCK",
	)
}

// ErrBehind: a replica has not come to where it was to be in time.
var ErrBehind = errors.New("has not applied what its primary has")

// Position is where the server's binary log ends.
func (s *Server) Position() (binlog.Position, error) {
	p, err := binlog.Current(s.Conn, s.Flavor)
	if err != nil {
		err = fmt.Errorf("server %s: %w", s.Addr, err)
	}
	return p, err
}

// Has is what the server has of all transactions: its own, what it has applied of others', and what it has received of them.
func (s *Server) Has() (binlog.Position, error) {
	applied, received, err := s.replicated()
	if err != nil {
		return binlog.Position{}, err
	}
	own, err := s.Position()
	return own.Union(applied).Union(received), err
}

// Got is what a replica has of others' transactions. What it has logged by itself is not in it: on MariaDB that is numbered on from what was received last
// (a FLUSH TABLES is enough), as if it were what its primary did then.
func (s *Server) Got() (binlog.Position, error) {
	applied, received, err := s.replicated()
	return applied.Union(received), err
}

// replicated is what the server has applied and received of other servers' transactions; on MySQL its own are among the first.
func (s *Server) replicated() (applied, received binlog.Position, err error) {
	text, err := s.value(map[catalog.Flavor]string{catalog.MariaDB: "SELECT @@global.gtid_slave_pos", catalog.MySQL: "SELECT @@global.gtid_executed"}[s.Flavor])
	if err == nil {
		applied, err = binlog.ParsePosition(s.Flavor, text)
	}
	if err != nil {
		return applied, received, err
	}
	r, err := s.Replication()
	if err != nil || r == nil {
		received, _ = binlog.ParsePosition(s.Flavor, "")
		return applied, received, err
	}
	if received, err = binlog.ParsePosition(s.Flavor, r.Received); err != nil {
		err = fmt.Errorf("server %s: %w", s.Addr, err)
	}
	return applied, received, err
}

// Reach waits until the server has everything up to a position of another one, for as long as patience; then it returns ErrBehind.
func (s *Server) Reach(goal binlog.Position, patience time.Duration) error {
	got, err := s.value(goal.Wait(max(patience.Seconds(), 0.1)))
	if err == nil && got != "0" {
		err = fmt.Errorf("server %s %w", s.Addr, ErrBehind)
	}
	return err
}

// Applied reports whether all that was received is applied.
func (s *Server) Applied() (bool, error) {
	done, received, err := s.replicated()
	return done.Covers(received), err
}

// Receive lets a replica go on, or stop, receiving. What it has received it applies in any case.
func (s *Server) Receive(on bool) error {
	return s.run(map[bool]string{true: "START ", false: "STOP "}[on] + role(s.Flavor) + " IO_THREAD")
}

// role is what statements for servers of a flavor call a replica.
func role(flavor catalog.Flavor) string {
	if flavor == catalog.MariaDB {
		return "SLAVE"
	}
	return "REPLICA"
}

// applied is how often Apply looks.
const applied = 20 * time.Millisecond

// Apply stops receiving from a source that is gone, and waits until all that was received is applied.
func (s *Server) Apply(ctx context.Context) error {
	if err := s.Receive(false); err != nil {
		return err
	}
	for {
		r, err := s.Replication()
		switch {
		case err != nil:
			return err
		case r == nil:
			return fmt.Errorf("server %s is no replica", s.Addr)
		}
		// A transaction of which the source has sent a part is in no position.
		done, received, err := s.replicated()
		switch {
		case err != nil:
			return err
		case done.Covers(received):
			return nil
		case !r.Applies:
			return fmt.Errorf("server %s does not apply what it has received: %s", s.Addr, r.Error)
		}
		if err := pause.For(ctx, applied); err != nil {
			return fmt.Errorf("server %s %w", s.Addr, ErrBehind)
		}
	}
}

// EndOthers ends the other connections of the account that the server is connected to with, but those of its replicas.
func (s *Server) EndOthers() error {
	rows, err := mysqlconn.Processes(s.Conn, "id", "user = LEFT(USER(), CHAR_LENGTH(USER()) - CHAR_LENGTH(SUBSTRING_INDEX(USER(), '@', -1)) - 1) AND id <> CONNECTION_ID() AND command NOT LIKE 'Binlog Dump%'", 1<<16)
	if err != nil {
		return fmt.Errorf("server %s: %w", s.Addr, err)
	}
	for _, r := range rows {
		if _, err := s.Exec("KILL " + string(r[0])); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
			return fmt.Errorf("server %s: %w", s.Addr, err)
		}
	}
	return nil
}

// Thaw ends what Freeze has begun.
func (s *Server) Thaw() error { return s.run("UNLOCK TABLES") }

// Replicate lets a replica go on, or stop, getting changes.
func (s *Server) Replicate(on bool) error {
	return s.run(map[bool]string{true: "START ", false: "STOP "}[on] + role(s.Flavor))
}

// Leave makes a replica that has stopped forget its source.
func (s *Server) Leave() error {
	return s.run("RESET " + role(s.Flavor) + " ALL")
}

// ReadOnly says whether anybody may write to the server; on MySQL that binds administrators, too.
func (s *Server) ReadOnly(on bool) error {
	switch {
	case s.Flavor == catalog.MariaDB && on:
		return s.run("SET GLOBAL read_only = ON")
	case s.Flavor == catalog.MariaDB:
		return s.run("SET GLOBAL read_only = OFF")
	case on:
		return s.run("SET GLOBAL super_read_only = ON")
	}
	return s.run("SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")
}

// ReadOnlySoon is ReadOnly(true) of a server that others may be committing at: it waits for moments only.
func (s *Server) ReadOnlySoon() error {
	if err := s.run("SET SESSION lock_wait_timeout = 2"); err != nil {
		return err
	}
	return s.ReadOnly(true)
}

// Follow makes the server a replica of primary, from a position that it has reached; the zero Position: from where its own replication has
// come to. It logs in there as primary says.
func (s *Server) Follow(primary catalog.Node, from binlog.Position) error {
	host, port, ok := tcp(primary.Addr)
	if !ok {
		return fmt.Errorf("server %s cannot follow %s, which has no address that other machines can use", s.Addr, primary.Addr)
	}
	statements := []string{"STOP " + role(s.Flavor)}
	if s.Flavor == catalog.MariaDB && !from.Empty() {
		statements = append(statements, "SET GLOBAL gtid_slave_pos = "+literal(from.String()))
	}
	return s.run(append(statements, changeSource(s.Flavor, primary, host, port), "START "+role(s.Flavor))...)
}

// tcp is where other machines reach a server, if they do.
func tcp(addr string) (host, port string, ok bool) {
	host, port, err := net.SplitHostPort(addr)
	return host, port, err == nil && !strings.HasPrefix(addr, "unix:")
}

// changeSource is the statement that has a server of a flavor replicate from primary, at host and port, by global transaction ids.
func changeSource(flavor catalog.Flavor, primary catalog.Node, host, port string) string {
	kind, change, gtid := "SOURCE", "CHANGE REPLICATION SOURCE TO ", ", SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"
	if flavor == catalog.MariaDB {
		kind, change, gtid = "MASTER", "CHANGE MASTER TO ", ", MASTER_USE_GTID = slave_pos"
	}
	change += kind + "_HOST = " + literal(host) + ", " + kind + "_PORT = " + port + ", " + kind + "_USER = " + literal(primary.User) +
		", " + kind + "_PASSWORD = " + literal(primary.Password) + ", " + kind + "_CONNECT_RETRY = 2"
	if primary.TLS != "" {
		change += ", " + kind + "_SSL = 1"
	}
	return change + gtid
}

// HowToFollow is what has a server of a flavor that has begun with a backup of primary replicate from it, for people: without the password.
func HowToFollow(flavor catalog.Flavor, primary catalog.Node) string {
	host, port, ok := tcp(primary.Addr)
	if !ok {
		host, port = "HOST", "3306"
	}
	primary.Password = "..."
	return fmt.Sprintf("STOP %s; %s; START %[1]s", role(flavor), changeSource(flavor, primary, host, port))
}

// HowToGTID is what has a replica of a flavor ask by global transaction ids.
func HowToGTID(flavor catalog.Flavor) string {
	change := "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1"
	if flavor == catalog.MariaDB {
		change = "CHANGE MASTER TO MASTER_USE_GTID = slave_pos"
	}
	return fmt.Sprintf("STOP %s; %s; START %[1]s", role(flavor), change)
}

// Forget makes a server that holds nothing yet forget what it has logged: a primary that it is to follow has not got it.
func (s *Server) Forget() error {
	if s.Flavor == catalog.MariaDB {
		return s.run("RESET MASTER")
	}
	return s.run("RESET BINARY LOGS AND GTIDS")
}

// literal is a text as a string of SQL, as sessions of Dial read it.
func literal(text string) string {
	return sqltypes.Quoted(text, false)
}
