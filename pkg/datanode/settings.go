package datanode

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
)

// setting is one line of my.cnf. A "loose-" name is ignored by servers that do not know it.
type setting struct{ name, value string }

// settings are what a server is started with: what replication, failover, two-phase commit and change streams
// rely on, then sizes, then what the operator adds.
func (n *Node) settings(host string, port int) []setting {
	cfg, d := &n.cfg, n.dir
	s := []setting{
		{"datadir", d.dataDir()},
		{"socket", d.socket()},
		{"pid-file", d.pidFile()},
		// A MariaDB server that starts deletes the temporary tables of every server it shares a tmpdir with.
		{"tmpdir", d.tmpDir()},
		{"log-error", d.logFile()},
		{"bind-address", host},
		{"port", strconv.Itoa(port)},
		{"server-id", strconv.FormatUint(uint64(cfg.ID), 10)},
		// Accounts are for addresses, and a resolver that hangs must not hang logins.
		{"skip-name-resolve", "ON"},
		// The binary log is what replicas, moves of partitions and change streams read.
		{"log-bin", "binlog"},
		{"binlog-row-image", "FULL"},
		{"binlog-row-metadata", "FULL"},
		{"relay-log", "relaylog"},
		{"relay-log-recovery", "ON"},
		{"sync-relay-log", "1"},
		{"local-infile", "ON"},
		{"max-allowed-packet", "64M"},
		{"max-connections", "2000"},
	}
	if os.Geteuid() == 0 {
		s = append(s, setting{"user", "root"})
	}
	flush, sync := "1", "1"
	if cfg.Relaxed {
		flush, sync = "2", "0"
	}
	s = append(s, setting{"innodb-flush-log-at-trx-commit", flush}, setting{"sync-binlog", sync})
	if cfg.Binary.Flavor == catalog.MariaDB {
		s = append(s,
			setting{"binlog-format", "ROW"},
			setting{"gtid-domain-id", strconv.FormatUint(uint64(cfg.Domain), 10)},
			setting{"gtid-strict-mode", "ON"},
			setting{"log-slave-updates", "ON"},
			setting{"slave-parallel-mode", "conservative"},
			// Distributions' own defaults; without them the server would speak latin1.
			setting{"character-set-server", "utf8mb4"},
			setting{"collation-server", "utf8mb4_general_ci"},
		)
	} else {
		if compareVersions(numbers(cfg.Binary.Version), [3]int{8, 0, 34}) < 0 {
			s = append(s, setting{"binlog-format", "ROW"}) // the default, and its name is on the way out
		}
		s = append(s,
			setting{"mysqlx", "OFF"},
			setting{"secure-file-priv", "NULL"},
			setting{"gtid-mode", "ON"},
			setting{"enforce-gtid-consistency", "ON"},
			setting{"log-replica-updates", "ON"},
			setting{"binlog-order-commits", "ON"},
			setting{"replica-preserve-commit-order", "ON"},
			// A branch prepared by a proxy that died must be open to any other session.
			setting{"loose-xa-detach-on-prepare", "ON"},
		)
	}
	s = append(s, cfg.Binary.locations()...)
	if cfg.Small {
		s = append(s,
			setting{"innodb-buffer-pool-size", "128M"},
			setting{"key-buffer-size", "8M"},
			setting{"loose-aria-pagecache-buffer-size", "16M"},
		)
	}
	switch {
	case cfg.Binary.Flavor == catalog.MySQL:
		s = append(s, setting{"performance-schema", "ON"}) // who waits for whose locks is told there
		if cfg.Small {
			s = append(s, setting{"performance-schema-instrument", "%=OFF"})
		}
	case cfg.Small:
		s = append(s, setting{"performance-schema", "OFF"})
	}
	extra := maps.Clone(cfg.Variables)
	if extra == nil {
		extra = map[string]string{}
	}
	d.mu.Lock()
	maps.Copy(extra, d.marker.Variables)
	d.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		s = append(s, setting{name, extra[name]})
	}
	return s
}

// optionFile is the text of my.cnf.
func optionFile(s []setting) string {
	var b strings.Builder
	b.WriteString("# Written by skarv at every start of the server. Changes belong in its configuration.\n[mysqld]\n")
	for _, line := range s {
		// Quoted, because a # or a blank in a path would end the value.
		fmt.Fprintf(&b, "%s = \"%s\"\n", line.name, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line.value))
	}
	return b.String()
}

// checkVariable keeps a setting from becoming more than one line, or a line of another kind.
func checkVariable(name, value string) error {
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`).MatchString(name) {
		return fmt.Errorf("%q is no name of a server variable", name)
	}
	if len(value) > 4096 || strings.ContainsAny(value, "\n\r\x00") {
		return fmt.Errorf("value of server variable %s must be one line of at most 4096 bytes", name)
	}
	switch strings.ReplaceAll(strings.ToLower(name), "_", "-") {
	case "datadir", "socket", "tmpdir", "port", "bind-address", "pid-file", "log-error", "server-id", "user", "init-file", "log-bin":
		return fmt.Errorf("server variable %s belongs to the data node", name)
	}
	return nil
}

// choosePort returns host and port to listen on. A port the caller named must be free; one that was chosen
// before is used again if it is.
func (n *Node) choosePort() (host string, port int, err error) {
	host, text, err := net.SplitHostPort(n.cfg.Addr)
	if err != nil {
		return "", 0, err
	}
	wanted, err := strconv.Atoi(text)
	if err != nil {
		return "", 0, fmt.Errorf("port of %s: %w", n.cfg.Addr, err)
	}
	if wanted != 0 {
		if _, err := listenable(host, wanted); err != nil {
			return "", 0, fmt.Errorf("database server cannot listen on %s: %w", n.cfg.Addr, err)
		}
		return host, wanted, nil
	}
	if last := n.dir.marker.Port; last != 0 {
		if _, err := listenable(host, last); err == nil {
			return host, last, nil
		}
	}
	port, err = FreePort(host)
	return host, port, err
}

// FreePort returns a port of host on which nobody listens. The kernel gives the ports from 32768 on to connections, so
// one that is free may be somebody's a moment later; those below are tried first, in no order, since others look too.
func FreePort(host string) (int, error) {
	const low, high = 10000, 32768
	for range 50 {
		if port, err := listenable(host, low+rand.IntN(high-low)); err == nil {
			return port, nil
		}
	}
	return listenable(host, 0)
}

// listenable tells whether one can listen on a port; of port 0, on which.
func listenable(host string, port int) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
