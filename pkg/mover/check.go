package mover

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
)

// Check looks for everything that would make the move wrong or stop it half way, on all servers.
// It changes nothing. No problems: the move may start.
func (m *Mover) Check(ctx context.Context) ([]Problem, error) {
	ch := &checker{m: m, definitions: map[string]string{}}
	servers := []Server{m.move.Source}
	for _, g := range m.groups {
		servers = append(servers, m.move.Targets[g])
	}
	for i, s := range servers {
		ch.source = i == 0
		err := m.retry(ctx, s, func(c *conn) error {
			before := len(ch.problems)
			err := ch.server(ctx, s, c)
			if err != nil {
				ch.problems = ch.problems[:before] // it will be asked again
			}
			return err
		})
		if err != nil {
			return ch.problems, err
		}
	}
	return ch.problems, nil
}

// checker collects problems.
type checker struct {
	m           *Mover
	source      bool // the source is being looked at
	logs        bool // the server that is being looked at has a binary log
	packet      int  // the source's max_allowed_packet
	definitions map[string]string
	problems    []Problem
}

func (ch *checker) add(s Server, table, what, fix string) {
	ch.problems = append(ch.problems, Problem{Table: table, Group: s.Name, What: what, Fix: fix})
}

func (ch *checker) server(ctx context.Context, s Server, c *conn) error {
	if s.Flavor != ch.m.move.Source.Flavor {
		ch.add(s, "", fmt.Sprintf("the server is of %s, the source's of %s", s.Flavor, ch.m.move.Source.Flavor), "use servers of one kind")
		return nil
	}
	if err := ch.variables(s, c); err != nil {
		return err
	}
	if ch.logs {
		if err := ch.log(ctx, s, c); err != nil {
			return err
		}
	}
	for _, t := range ch.m.tables {
		if err := ch.table(s, c, t); err != nil {
			return err
		}
	}
	return nil
}

// variables are settings that the binary log must have on every server: the targets' is what a move is undone by.
func (ch *checker) variables(s Server, c *conn) error {
	want := map[string]string{"log_bin": "ON", "binlog_format": "ROW", "binlog_row_image": "FULL", "binlog_row_metadata": "FULL"}
	if s.Flavor == catalog.MySQL {
		want["gtid_mode"], want["enforce_gtid_consistency"], want["binlog_order_commits"], want["binlog_row_value_options"] = "ON", "ON", "ON", ""
	} else {
		want["gtid_strict_mode"] = "ON"
	}
	_, rows, err := c.QueryAll("SHOW GLOBAL VARIABLES WHERE variable_name LIKE 'binlog%' OR variable_name LIKE '%gtid%' OR "+
		"variable_name IN ('log_bin','max_allowed_packet')", 1000)
	if err != nil {
		return err
	}
	have := map[string]string{}
	for _, r := range rows {
		have[strings.ToLower(string(r[0]))] = string(r[1])
	}
	ch.logs = !strings.EqualFold(have["log_bin"], "OFF")
	for _, name := range []string{"log_bin", "binlog_format", "binlog_row_image", "binlog_row_metadata", "gtid_mode",
		"enforce_gtid_consistency", "gtid_strict_mode", "binlog_order_commits", "binlog_row_value_options"} {
		value, asked := want[name]
		is, known := have[name]
		if !asked || strings.EqualFold(is, value) || !known && name == "binlog_format" { // on its way out in MySQL, where it is ROW
			continue
		}
		ch.add(s, "", fmt.Sprintf("%s is '%s'", name, is), fmt.Sprintf("set %s to '%s'", name, value))
	}
	packet, _ := strconv.Atoi(have["max_allowed_packet"])
	if ch.source {
		ch.packet = packet
	} else if packet < ch.packet {
		ch.add(s, "", fmt.Sprintf("max_allowed_packet is %d, on the source %d", packet, ch.packet),
			fmt.Sprintf("set max_allowed_packet to %d", ch.packet))
	}
	return nil
}

// log makes sure that the binary log can be read, and is that of everything.
func (ch *checker) log(ctx context.Context, s Server, c *conn) error {
	status := "SHOW MASTER STATUS"
	if s.Flavor == catalog.MySQL {
		status = "SHOW BINARY LOG STATUS"
	}
	_, rows, err := c.QueryAll(status, 1)
	if code(err) == sqlerr.ParseError {
		_, rows, err = c.QueryAll("SHOW MASTER STATUS", 1) // MySQL before 8.2
	}
	if err != nil && isServer(err) {
		ch.add(s, "", fmt.Sprintf("the server does not tell where its binary log stands: %v", err),
			"grant REPLICATION CLIENT (on MariaDB BINLOG MONITOR) to the account")
		return nil
	}
	if err != nil {
		return err
	}
	if len(rows) == 1 && len(rows[0]) > 3 && len(rows[0][2])+len(rows[0][3]) > 0 {
		ch.add(s, "", "databases are left out of the binary log", "remove binlog_do_db and binlog_ignore_db")
	}
	at, err := binlog.Current(c.Conn, s.Flavor)
	if err != nil {
		ch.add(s, "", err.Error(), "do not use tags in GTIDs")
		return nil
	}
	err = binlog.Probe(ctx, binlog.Config{Conn: s.Conn, Flavor: s.Flavor, Start: binlog.Start{Applied: at}})
	if err != nil && isServer(err) {
		ch.add(s, "", fmt.Sprintf("the binary log cannot be read: %v", err), "grant REPLICATION SLAVE to the account")
		return nil
	}
	return err
}

// table looks at a table on one server.
func (ch *checker) table(s Server, c *conn, t *table) error {
	definition, err := showCreate(c, t)
	if code(err) == sqlerr.NoSuchTable || code(err) == sqlerr.UnknownDatabase {
		ch.add(s, t.label, "it does not exist", "create it there as it is on the others")
		return nil
	}
	if err != nil {
		return err
	}
	if ch.source {
		ch.definitions[t.label] = definition
	} else if definition != ch.definitions[t.label] {
		ch.add(s, t.label, "it is not the same as on the source", "make the definitions equal (SHOW CREATE TABLE)")
	}
	is := "table_schema=" + quote(t.Database) + " AND table_name=" + quote(t.Name)
	_, rows, err := c.QueryAll("SELECT IFNULL(engine,''), table_type FROM information_schema.tables WHERE "+is, 1)
	if err != nil {
		return err
	}
	if len(rows) == 1 {
		if engine := string(rows[0][0]); !strings.EqualFold(engine, "InnoDB") {
			ch.add(s, t.label, fmt.Sprintf("it uses the engine %s", engine), "ALTER TABLE ... ENGINE=InnoDB")
		}
		if kind := string(rows[0][1]); kind != "BASE TABLE" {
			ch.add(s, t.label, "it is a "+strings.ToLower(kind)+" table", "move it without online reorganisation")
		}
	}
	_, rows, err = c.QueryAll("SELECT trigger_name FROM information_schema.triggers WHERE event_object_schema="+quote(t.Database)+
		" AND event_object_table="+quote(t.Name)+" AND action_statement NOT LIKE '"+routine.InertPattern+"'", 100)
	if err != nil {
		return err
	}
	for _, r := range rows {
		ch.add(s, t.label, fmt.Sprintf("its trigger %s would fire for rows that are moved", r[0]),
			"drop the trigger for the time of the move")
	}
	return ch.foreignKeys(s, c, t)
}

// foreignKeys refuses those that change rows without a trace in the log.
func (ch *checker) foreignKeys(s Server, c *conn, t *table) error {
	if s.Flavor == catalog.MySQL {
		// From 9.6 on, the server carries them out as statements of its own, which are logged.
		native, err := c.value("SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME='innodb_native_foreign_keys'")
		if err == nil && native == "OFF" {
			return nil
		}
		if err != nil && !isServer(err) {
			return err
		}
	}
	_, rows, err := c.QueryAll("SELECT constraint_name, delete_rule, update_rule FROM information_schema.referential_constraints "+
		"WHERE constraint_schema="+quote(t.Database)+" AND table_name="+quote(t.Name), 1000)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if ch.m.ownKey(t, string(r[0])) {
			continue
		}
		for i, rule := range []string{string(r[1]), string(r[2])} {
			if rule == "CASCADE" || strings.HasPrefix(rule, "SET ") {
				ch.add(s, t.label, fmt.Sprintf("what its foreign key %s does ON %s (%s) is not in the binary log", r[0],
					[]string{"DELETE", "UPDATE"}[i], rule), "use RESTRICT, or drop the foreign key for the time of the move")
				break
			}
		}
	}
	return nil
}

// ownKey reports whether statements of Skarv's carry out what a foreign key says, so that it is in the log: servers cannot
// where rows that refer to each other lie on different groups.
func (m *Mover) ownKey(t *table, name string) bool {
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		if fk.Name != name {
			continue
		}
		for _, parent := range m.tables {
			if parent.Database == fk.RefDB && parent.Name == fk.RefTable {
				return !catalog.Together(t.Table, fk, parent.Table)
			}
		}
	}
	return false
}

// showCreate is a table's definition without what differs between servers with equal tables.
func showCreate(c *conn, t *table) (string, error) {
	_, rows, err := c.QueryAll("SHOW CREATE TABLE "+t.name, 1)
	if err != nil {
		return "", err
	}
	if len(rows) != 1 || len(rows[0]) < 2 {
		return "", fmt.Errorf("SHOW CREATE TABLE %s gave no definition", t.label)
	}
	text := regexp.MustCompile(` AUTO_INCREMENT=\d+`).ReplaceAllString(string(rows[0][1]), "")
	// MySQL names the character set of a column whose collation was named when it was made. The collation says all.
	return regexp.MustCompile(` CHARACTER SET \w+( COLLATE \w+)`).ReplaceAllString(text, "$1"), nil
}
