package txn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
)

// Schema makes the table of decisions on a node group. A row says how a transaction ended whose first branch was here:
// 'C', written by its own commit, or the tombstone 'A', written by whoever had to know and found nothing. The primary
// key lets only one of the two be true. participants are the node groups of the prepared branches; of a tombstone, those
// on which a branch was found prepared behind it: then it tells how the transaction ended, and was not merely written
// after all had forgotten it.
func Schema() []string {
	return []string{
		"CREATE DATABASE IF NOT EXISTS `_skarv` CHARACTER SET utf8mb4",
		"CREATE TABLE IF NOT EXISTS `_skarv`.`dt` (id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY," +
			" state CHAR(1) CHARACTER SET ascii COLLATE ascii_bin NOT NULL," +
			" participants MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL," +
			" at DATETIME(6) NOT NULL, KEY (at)) ENGINE=InnoDB",
	}
}

// What a row of _skarv.dt says.
const (
	committed = 'C'
	aborted   = 'A'
)

// decide is the last agent's statement: the decision and the first branch's own work in one commit. When the INSERT
// fails, the server does not go on to the COMMIT.
func decide(id ID, participants string) string {
	return "INSERT INTO `_skarv`.`dt` VALUES ('" + string(id) + "','C','" + participants + "','" + now() + "'); COMMIT"
}

// now is the time as a row has it: our own clock, because a client may have set that of its session.
func now() string { return time.Now().UTC().Format("2006-01-02 15:04:05.000000") }

// resolve returns how the transaction ended: c is connected to its first group's primary, which is not to be read-only, and in no transaction. If
// nothing was decided it is from now on decided that it is rolled back; the INSERT waits for a decision that is being
// committed at this moment, so the answer is final.
func resolve(c *mysqlconn.Conn, id ID) (commit bool, err error) {
	if !plain(string(id)) {
		return false, fmt.Errorf("%q is no transaction of ours", id)
	}
	if err := writable(c); err != nil {
		return false, err
	}
	// By the server's clock, by which it is forgotten: ours may be wrong by days.
	_, err = c.Exec("INSERT IGNORE INTO `_skarv`.`dt` VALUES ('" + string(id) + "','A','',UTC_TIMESTAMP(6))")
	if err != nil {
		return false, err
	}
	state, err := look(c, id)
	if err == nil && state == 0 {
		err = fmt.Errorf("the decision on transaction %s disappeared", id)
	}
	return state == committed, err
}

// look reads a decision, 0 if there is none.
func look(c *mysqlconn.Conn, id ID) (byte, error) {
	_, rows, err := c.QueryAll("SELECT state FROM `_skarv`.`dt` WHERE id = '"+string(id)+"' LIMIT 1", 1)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	if s := string(rows[0][0]); s == "C" || s == "A" {
		return s[0], nil
	}
	return 0, fmt.Errorf("the decision on transaction %s reads %q", id, rows[0][0])
}

// prepared lists our prepared branches on the server c is connected to.
func prepared(c *mysqlconn.Conn) ([]xid, error) {
	_, rows, err := c.QueryAll("XA RECOVER", maxPrepared)
	if err != nil {
		return nil, err
	}
	var list []xid
	for _, r := range rows {
		if x, ok := parseXID(r); ok {
			list = append(list, x)
		}
	}
	return list, nil
}

// confirm notes in a tombstone that a branch on g is prepared behind it: nobody had committed the transaction, for a
// decision is forgotten only after every branch has ended.
func confirm(c *mysqlconn.Conn, id ID, g placement.NodeGroupID) error {
	_, err := c.Exec(fmt.Sprintf("UPDATE `_skarv`.`dt` SET participants = '%d' WHERE id = '%s' AND state = 'A'", g, id))
	return err
}

// maxPrepared bounds how many prepared branches of one server are read.
const maxPrepared = 100_000

func isMariaDB(c *mysqlconn.Conn) bool { return strings.Contains(c.ServerVersion(), "MariaDB") }

// Dialer connects to a node group's primary, outside of the pools' limits: ending a transaction frees locks and must
// never wait behind statements that wait for those locks.
type Dialer func(ctx context.Context, g placement.NodeGroupID) (*mysqlconn.Conn, error)

// reserved connects for work on transactions that are in doubt.
func reserved(ctx context.Context, dial Dialer, g placement.NodeGroupID) (*mysqlconn.Conn, error) {
	c, err := dial(ctx, g)
	if err != nil {
		return nil, err
	}
	if err := within(c, reservedTimeout); err == nil {
		_, err = c.Exec("SET SESSION innodb_lock_wait_timeout = 3, SESSION lock_wait_timeout = 3, SESSION autocommit = 1")
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// errReadOnly: another server may be the primary by now, and have other decisions and other prepared branches.
var errReadOnly = errors.New("its server is read-only: nothing is ended there before it is not, or the node group's address leads to another one")

// writable returns errReadOnly if read_only is set on the server c is connected to, whether it binds our account or not.
func writable(c *mysqlconn.Conn) error {
	set, err := number(c, asksReadOnly)
	if err == nil && set != 0 {
		err = errReadOnly
	}
	return err
}

// reservedTimeout bounds one step over a reserved connection.
const reservedTimeout = 10 * time.Second

func within(c *mysqlconn.Conn, d time.Duration) error { return c.SetDeadline(time.Now().Add(d)) }
