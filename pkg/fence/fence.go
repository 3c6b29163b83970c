// Package fence keeps a proxy that does not answer away from the database servers. Every proxy logs in with an account of
// its own, named after its slot in the cluster, and every new connection reads the slot's row in _skarv.slot before it is
// used. Who wants to be sure that a proxy can write no more, however long it was paused and whatever it still believes,
// shuts the slot out on each server:
//
//	1 the row says that the slot is fenced      a connection that is admitted later is not used
//	2 the account is locked                     no more logins, but for those under way
//	3 every connection of the account is killed those admitted earlier
//	4 until none is left
//
// The order matters: a connection that was admitted before 1 is seen by 3. No clock is involved, and a statement costs
// nothing. All of it stays out of the binary log: what waits for a replica must not hold up logins.
package fence

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/sqlerr"
)

// Slot is a proxy's slot, as servers know it.
type Slot struct {
	N           int
	Incarnation int64
	// Secret is the cluster's; the account's password is made of it.
	Secret []byte
}

// FailoverRole is the role on servers of MariaDB by which Skarv's own account may say whether a server is read-only. It has that privilege only where it takes the
// role: otherwise read_only binds it.
const FailoverRole = "skarv_failover"

// GrantFailover are the statements that give an account, as SQL, the role.
func GrantFailover(account string) []string {
	return []string{"CREATE ROLE IF NOT EXISTS " + FailoverRole + " WITH ADMIN " + account, "GRANT READ ONLY ADMIN ON *.* TO " + FailoverRole}
}

// User is the name of a slot's account.
func User(n int) string { return "skarv_w" + strconv.Itoa(n) }

// Password is the account's password: another one for each incarnation, so that a holder of long ago cannot log in.
func (s Slot) Password() string {
	m := hmac.New(sha256.New, s.Secret)
	fmt.Fprintf(m, "slot %d incarnation %d", s.N, s.Incarnation)
	return hex.EncodeToString(m.Sum(nil))
}

func account(n int) string { return "'" + User(n) + "'@'%'" }

const (
	unlogged = "SET SESSION sql_log_bin = 0"
	table    = "CREATE TABLE IF NOT EXISTS `_skarv`.`slot` (n INT NOT NULL PRIMARY KEY, incarnation BIGINT NOT NULL, fenced TINYINT NOT NULL) ENGINE=InnoDB"
)

// ErrFenced: the slot is another one's now, or nobody's.
var ErrFenced = errors.New("this process was shut out of the database server; it takes another slot")

// ErrForgotten: the server does not know the slot, or knows it of an earlier holder only: `_skarv`.`slot` was emptied, or restored from a
// backup. Whoever still holds the slot makes his account ready again.
var ErrForgotten = errors.New("the server does not know this process's slot in `_skarv`.`slot`")

// NoPrivilegeError says that Skarv's account on a server may not make accounts. The cluster works without them as long as
// no partitions are moved.
type NoPrivilegeError struct{ Err error }

func (e *NoPrivilegeError) Error() string {
	return "the account Skarv logs in with may not make accounts there (GRANT ALL PRIVILEGES ON *.* ... WITH GRANT OPTION): " + e.Err.Error()
}

// Unwrap is the server's refusal.
func (e *NoPrivilegeError) Unwrap() error { return e.Err }

// IsNoPrivilege reports whether err is, or wraps, a NoPrivilegeError.
func IsNoPrivilege(err error) bool {
	_, ok := errors.AsType[*NoPrivilegeError](err)
	return ok
}

// privilege reports whether a server refused a statement for want of a privilege.
func privilege(err error) bool {
	for _, code := range []sqlerr.Code{1227, 1044, 1045, 1142, 1370, 1410, 1698, 4031} {
		if sqlerr.HasCode(err, code) {
			return true
		}
	}
	return false
}

// unprivileged is err, or a NoPrivilegeError that wraps it.
func unprivileged(err error) error {
	if privilege(err) {
		return &NoPrivilegeError{err}
	}
	return err
}

// Marking are the statements that give a server, before it is a node group's, a mark unless it has one; MarkOf asks for it. The group
// keeps it in the catalog.
func Marking(mark string) []string {
	return []string{
		"CREATE TABLE IF NOT EXISTS `_skarv`.`node_group` (id TINYINT NOT NULL PRIMARY KEY, mark VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL) ENGINE=InnoDB",
		"INSERT IGNORE INTO `_skarv`.`node_group` VALUES (1, '" + mark + "')",
	}
}

// MarkOf is the query for a server's mark.
const MarkOf = "SELECT mark FROM `_skarv`.`node_group`"

// Later is the mark of a node group that had mark before, once its partitions are those of a map's epoch; Remarking is the statement that gives it
// to a server that has the one from before, or one since. A server that was restored from a backup of before has an earlier one: it has rows that have moved away, and lacks others.
func Later(mark string, epoch uint64) string {
	origin, _, _ := strings.Cut(mark, "/")
	return fmt.Sprintf("%s/%012d", origin, epoch)
}

// Remarking: see Later.
func Remarking(before, mark string) string {
	return "UPDATE `_skarv`.`node_group` SET mark = '" + mark + "' WHERE mark >= '" + before + "' AND mark < '" + mark + "'"
}

// Marked returns an error unless a server that has mark is one of g, and of no earlier time than g's.
func Marked(mark string, g *catalog.NodeGroup) error {
	switch origin, _, _ := strings.Cut(mark, "/"); {
	case origin != g.Origin():
		return stranger(g)
	case mark < g.Mark:
		return fmt.Errorf("the server there is as it was before partitions have moved to it or from it: its mark in `_skarv`.`node_group` is %s, and that of its "+
			"node group %s; restore a newer backup, or see in the operations manual what to do with rows that have moved", mark, g.Mark)
	}
	return nil
}

// Known returns an error unless the server c is connected to is one of g: one that was emptied, or is another group's, would answer for g
// with other rows or with none. What it looks for is made before a server is a node group's, and by nobody later.
func Known(c *mysqlconn.Conn, g *catalog.NodeGroup) error {
	query := MarkOf
	if g.Mark == "" {
		query = "SELECT COUNT(*) FROM `_skarv`.`dt` WHERE 1 = 0"
	}
	_, rows, err := c.QueryAll(query, 1)
	switch {
	case sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase) || err == nil && len(rows) == 0:
		return stranger(g)
	case err != nil || g.Mark == "":
		return err
	}
	return Marked(string(rows[0][0]), g)
}

// stranger is the error for a server in the place of g's.
func stranger(g *catalog.NodeGroup) error {
	what := "table `_skarv`.`dt`"
	if g.Mark != "" {
		what = "mark " + g.Mark + " in `_skarv`.`node_group`"
	}
	return errors.New("the server there has not " + what + ": it is another one than the node group's, or was emptied; " +
		"bring back the server that was there, or restore the node group's backup on it")
}

// grant gives a slot's account on the server c is connected to its privileges: all there are, but those by which it could write where read_only is
// set, which it has from an earlier version if anything. (ALL PRIVILEGES and a REVOKE behind it would let connections in between that have them.)
func grant(c *mysqlconn.Conn, n int) error {
	privileges := "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, SHUTDOWN, PROCESS, FILE, REFERENCES, INDEX, ALTER, SHOW DATABASES, " +
		"CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE, REPLICATION SLAVE, REPLICATION CLIENT, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, " +
		"CREATE USER, EVENT, TRIGGER, CREATE TABLESPACE, "
	unbound := "SUPER|CONNECTION_ADMIN"
	if strings.Contains(c.ServerVersion(), "MariaDB") {
		privileges += "SUPER, DELETE HISTORY, SET USER, FEDERATED ADMIN, CONNECTION ADMIN, BINLOG ADMIN, BINLOG REPLAY, SLAVE MONITOR, REPLICATION MASTER ADMIN, " +
			"REPLICATION SLAVE ADMIN"
		unbound = "READ ONLY ADMIN"
	} else {
		privileges += "CREATE ROLE, DROP ROLE, XA_RECOVER_ADMIN, SESSION_VARIABLES_ADMIN, SYSTEM_VARIABLES_ADMIN, BINLOG_ADMIN, SHOW_ROUTINE, ROLE_ADMIN, " +
			"SYSTEM_USER, RESOURCE_GROUP_USER, REPLICATION_APPLIER"
	}
	_, rows, err := c.QueryAll("SHOW GRANTS FOR "+account(n), maxGrants)
	if err != nil {
		return err
	}
	has := regexp.MustCompile(`\b(ALL PRIVILEGES|` + unbound + `)\b`)
	if slices.ContainsFunc(rows, func(r [][]byte) bool { return has.Match(r[0]) }) { // a single one could be revoked only by who has it
		if _, err := c.Exec("REVOKE ALL PRIVILEGES, GRANT OPTION FROM " + account(n)); err != nil {
			return err
		}
	}
	_, err = c.Exec("GRANT " + privileges + " ON *.* TO " + account(n))
	return err
}

// maxGrants bounds the lines of SHOW GRANTS for one of our accounts.
const maxGrants = 1000

// Activate makes a slot's account ready on the server c is connected to as administrator. ErrFenced: the slot was fenced
// there, or taken by a later incarnation. c, a connection to one of g's servers, is to be closed by the caller: what it writes is not logged.
func Activate(c *mysqlconn.Conn, g *catalog.NodeGroup, s Slot) error {
	run := func(sql string) error {
		_, err := c.Exec(sql)
		return unprivileged(err)
	}
	for _, sql := range []string{
		unlogged,
		"CREATE DATABASE IF NOT EXISTS `_skarv`",
		table,
		// A row of this incarnation or a later one is left as it is: who was fenced stays so.
		fmt.Sprintf("INSERT INTO `_skarv`.`slot` (n, incarnation, fenced) VALUES (%d, %d, 0) ON DUPLICATE KEY UPDATE "+
			"fenced = IF(incarnation < VALUES(incarnation), 0, fenced), incarnation = GREATEST(incarnation, VALUES(incarnation))", s.N, s.Incarnation),
	} {
		if err := run(sql); err != nil {
			return err
		}
	}
	if err := Admit(c, g, s); err != nil {
		return err
	}
	if err := run(fmt.Sprintf("CREATE USER IF NOT EXISTS %s IDENTIFIED BY '%s'", account(s.N), s.Password())); err != nil {
		return err
	}
	if err := grant(c, s.N); err != nil {
		return unprivileged(err)
	}
	return run(fmt.Sprintf("ALTER USER %s IDENTIFIED BY '%s' ACCOUNT UNLOCK", account(s.N), s.Password()))
}

// Admit returns nil if a connection of s's holder may be used for g, ErrFenced if s was shut out, ErrForgotten if the server does not know, and another
// error, as Known, if the server is not one of g.
func Admit(c *mysqlconn.Conn, g *catalog.NodeGroup, s Slot) error {
	mark := "''"
	if g.Mark != "" {
		mark = "(" + MarkOf + ")"
	}
	_, rows, err := c.QueryAll(fmt.Sprintf("SELECT incarnation, fenced, %s FROM `_skarv`.`slot` WHERE n = %d", mark, s.N), 1)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return ErrForgotten
	}
	if err := Marked(string(rows[0][2]), g); err != nil {
		return err
	}
	incarnation, err := strconv.ParseInt(string(rows[0][0]), 10, 64)
	switch {
	case err != nil:
		return err
	case incarnation < s.Incarnation:
		return ErrForgotten
	case incarnation > s.Incarnation || string(rows[0][1]) != "0":
		return ErrFenced
	}
	return nil
}

// Evict shuts a slot out of a server, and returns when nothing its holder has sent or still sends can take effect there
// but what is prepared (XA). It may fail with a NoPrivilegeError. dial connects as administrator; it is called once. verify is called after it, and Evict goes
// on only if it returns nil: whether the caller is still entitled.
func Evict(ctx context.Context, dial func(context.Context) (*mysqlconn.Conn, error), verify func(context.Context) error, flavor catalog.Flavor, n int, incarnation int64) error {
	c, err := dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, c.Interrupt)
	defer stop()
	if err := verify(ctx); err != nil {
		return err
	}
	for _, sql := range []string{
		unlogged,
		"SET SESSION lock_wait_timeout = 2",
		"SET SESSION innodb_lock_wait_timeout = 2",
		"CREATE DATABASE IF NOT EXISTS `_skarv`",
		table,
		fencing(n, incarnation),
	} {
		if _, err := c.Exec(sql); err != nil {
			return unprivileged(err)
		}
	}
	// The account of a later incarnation is not ours to lock. There is none while the caller's record of the slot stands.
	if _, err := c.Exec("ALTER USER " + account(n) + " ACCOUNT LOCK"); err != nil && !sqlerr.HasCode(err, 1396) { // no such account
		return unprivileged(err)
	}
	return kill(ctx, c, flavor, n)
}

// Carry tells a server, before it becomes a node group's primary, who is fenced: what is written of that is not replicated. c is to be closed by
// the caller: what it writes is not logged.
func Carry(c *mysqlconn.Conn, fenced []Slot) error {
	for _, sql := range []string{unlogged, "CREATE DATABASE IF NOT EXISTS `_skarv`", table} {
		if _, err := c.Exec(sql); err != nil {
			return unprivileged(err)
		}
	}
	for _, s := range fenced {
		if _, err := c.Exec(fencing(s.N, s.Incarnation)); err != nil {
			return unprivileged(err)
		}
	}
	return nil
}

// fencing is the statement that notes that an incarnation, and those before it, are fenced.
func fencing(n int, incarnation int64) string {
	return fmt.Sprintf("INSERT INTO `_skarv`.`slot` (n, incarnation, fenced) VALUES (%d, %d, 1) ON DUPLICATE KEY UPDATE "+
		"fenced = IF(incarnation <= VALUES(incarnation), 1, fenced), incarnation = GREATEST(incarnation, VALUES(incarnation))", n, incarnation)
}

// killAgain is how long connections of a fenced account may take to end before they are killed once more.
const killAgain = 10 * time.Millisecond

// kill ends every connection of the slot's account, and on MySQL those that have not said yet whose they are.
func kill(ctx context.Context, c *mysqlconn.Conn, flavor catalog.Flavor, n int) error {
	users := "'" + User(n) + "'"
	if flavor == catalog.MySQL {
		users += ", 'unauthenticated user'"
	}
	patience := time.Now().Add(time.Second) // of a commit that waits for a replica's word
	for {
		rows, err := mysqlconn.Processes(c, "id, COALESCE(state, '')", "user IN ("+users+")", 1<<16)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			if waitsForReplica(string(r[1])) && time.Now().Before(patience) {
				continue
			}
			if _, err := c.Exec("KILL " + string(r[0])); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
				return err
			}
		}
		if err := pause.For(ctx, killAgain); err != nil {
			return err
		}
	}
}

// waitsForReplica tells the state of a commit that waits for the semi-synchronous acknowledgement. MariaDB would end the
// wait of a killed session and show rows that no replica has.
func waitsForReplica(state string) bool {
	const semisync = "Waiting for semi-sync ACK"
	return strings.HasPrefix(state, semisync)
}

// Probe finds out whether accounts can be made on the server c is connected to as administrator. c is to be closed by the
// caller: what it writes is not logged.
func Probe(c *mysqlconn.Conn) error {
	for _, sql := range []string{unlogged, "CREATE USER IF NOT EXISTS " + account(0) + " ACCOUNT LOCK"} {
		if _, err := c.Exec(sql); err != nil {
			return unprivileged(err)
		}
	}
	if err := grant(c, 0); err != nil {
		return unprivileged(err)
	}
	_, err := c.Exec("DROP USER IF EXISTS " + account(0))
	return unprivileged(err)
}
