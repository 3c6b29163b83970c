package datanode

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"skarv/pkg/catalog"
	"skarv/pkg/fence"
	"skarv/pkg/sqltypes"
)

// start writes the settings, starts the process and returns when the server answers. Only Run's goroutine calls
// it.
func (n *Node) start(ctx context.Context) (err error) {
	d := n.dir
	ctx, cancel := context.WithTimeoutCause(ctx, n.cfg.StartTimeout, fmt.Errorf("no answer within %s", n.cfg.StartTimeout))
	defer cancel()
	n.update(func(s *Status) { s.State = Starting })
	host, port, err := n.choosePort()
	if err != nil {
		return err
	}
	settings := n.settings(host, port)
	if !d.marker.Account {
		if err := n.writeInitFile(); err != nil {
			return err
		}
		settings = append(settings, setting{"init-file", d.initFile()})
	}
	if err := writeFile(d.optionFile(), []byte(optionFile(settings))); err != nil {
		return err
	}
	// Left by a server that was killed: the socket would refuse us, and MySQL believes the process id in its lock
	// file. That no server runs here is known from the directory's own lock.
	for _, old := range []string{d.socket(), d.socket() + ".lock", d.pidFile()} {
		_ = os.Remove(old)
	}
	var begin int64
	if st, err := os.Stat(d.logFile()); err == nil {
		begin = st.Size()
	}
	b := &n.cfg.Binary
	p, err := startProcess(b.command("--defaults-file="+d.optionFile()), b.environ(), d.path, d.logFile())
	if err != nil {
		return fmt.Errorf("start %s: %w", b.Path, err)
	}
	n.update(func(s *Status) { s.Pid = p.pid })
	defer func() {
		if err != nil {
			p.kill()
			<-p.done
			n.update(func(s *Status) { s.Pid = 0 })
		}
	}()
	version, err := n.waitReady(ctx, p)
	if err != nil {
		if reason := complaint(d.logFile(), begin); reason != "" {
			return fmt.Errorf("database server did not come up: %s (%w); see %s", reason, err, d.logFile())
		}
		return fmt.Errorf("database server did not come up: %w; see %s", err, d.logFile())
	}
	err = d.change(func(m *marker) { m.Account, m.Port, m.Version = true, port, b.Version })
	if err != nil {
		return err
	}
	_ = os.Remove(d.initFile())
	n.proc = p
	n.update(func(s *Status) {
		s.State, s.Version, s.Addr = Running, version, net.JoinHostPort(host, strconv.Itoa(port))
	})
	n.cfg.Log.Info("database server is up", "dir", d.path, "pid", p.pid, "version", version, "duration", time.Since(p.started))
	return nil
}

// writeInitFile makes the account on the first start, before the server lets anybody in. Not in the binary log:
// every server has its own account, and a log that begins empty can be followed from its beginning. On MariaDB it is to be bound by read_only, as on
// MySQL by super_read_only, but to set it.
func (n *Node) writeInitFile() error {
	user, password := n.Account()
	account := quote(user) + "@'%'"
	text := "SET SESSION sql_log_bin=0;\nSET SESSION sql_mode='';\n" +
		"CREATE USER IF NOT EXISTS " + account + " IDENTIFIED BY " + quote(password) + ";\n" +
		"ALTER USER " + account + " IDENTIFIED BY " + quote(password) + ";\n" +
		"GRANT ALL PRIVILEGES ON *.* TO " + account + " WITH GRANT OPTION;\n"
	if n.cfg.Binary.Flavor == catalog.MariaDB {
		text += "REVOKE READ ONLY ADMIN ON *.* FROM " + account + ";\n" + strings.Join(fence.GrantFailover(account), ";\n") + ";\n"
	}
	return writeFile(n.dir.initFile(), []byte(text))
}

func quote(s string) string { return sqltypes.Quoted(s, false) }

// waitReady tries to log in until the server lets us, dies, or ctx ends. It returns the server's version.
func (n *Node) waitReady(ctx context.Context, p *process) (version string, err error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		// A socket that is there may belong to a server still recovering; then login waits, with ctx.
		version, err = n.ask(ctx, "SELECT VERSION()")
		if err == nil {
			return version, nil
		}
		if refused, ok := errors.AsType[*mysql.MySQLError](err); ok && refused.Number != 1053 && refused.Number != 1040 {
			return "", fmt.Errorf("login as the account of skarv.json: %w", err)
		}
		select {
		case <-p.done:
			return "", errors.New(p.cause())
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// connect logs in with the node's account through the socket.
func (n *Node) connect(ctx context.Context) (driver.Conn, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd = n.Account()
	cfg.Net, cfg.Addr = "unix", n.dir.socket()
	cfg.Logger = silent{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return connector.Connect(ctx)
}

// ask returns the one value of a query.
func (n *Node) ask(ctx context.Context, query string) (string, error) {
	c, err := n.connect(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	rows, err := c.(driver.QueryerContext).QueryContext(ctx, query, nil)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); err != nil {
		return "", err
	}
	if text, ok := values[0].([]byte); ok {
		return string(text), nil
	}
	return fmt.Sprint(values[0]), nil
}

// silent drops what the driver says about connections that do not come about while a server starts.
type silent struct{}

func (silent) Print(...any) {}

// complaint returns the first error a server wrote to its log after position begin: later ones follow from it.
func complaint(logFile string, begin int64) string {
	f, err := os.Open(logFile)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.NewSectionReader(f, begin, 1<<20))
	last := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if _, message, found := strings.Cut(line, "[ERROR]"); found {
			for strings.HasPrefix(strings.TrimSpace(message), "[") { // [MY-010123] [Server]
				_, message, _ = strings.Cut(message, "]")
			}
			return strings.TrimSpace(message)
		}
		if line != "" {
			last = line
		}
	}
	if strings.Contains(last, "[") { // an ordinary line of the log
		return ""
	}
	return last
}
