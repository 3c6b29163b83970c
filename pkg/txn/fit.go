package txn

import (
	"errors"
	"fmt"
	"strconv"

	"skarv/pkg/backend"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
)

// fit makes sure, once for each connection, that the server lets others end what is prepared on it, and finds out when
// the server was started.
func fit(c *backend.Conn) error {
	if c.Started != 0 {
		return nil
	}
	started, err := Fit(c.Conn)
	if err != nil {
		if why, ok := errors.AsType[*Unfit](err); ok {
			return sqlerr.Unsupported(fmt.Sprintf("node group %d in a transaction over several node groups: %s", c.Group, why.What),
				why.How+", or SET skarv_commit = best_effort")
		}
		return Lost(c, err)
	}
	c.Started = started
	return nil
}

// Unfit says why a server cannot take part in atomic transactions.
type Unfit struct{ What, How string }

// Error implements error.
func (u *Unfit) Error() string { return u.What + ": " + u.How }

// Fit asks a server, through a connection as transactions use it, whether it can take part in atomic transactions: whether
// a prepared branch can be listed and ended by another connection. It returns when the server was started, in its own
// seconds, never 0. An error that is *Unfit says what to change.
func Fit(c *mysqlconn.Conn) (started int64, err error) {
	if _, _, err := c.QueryAll("XA RECOVER", maxPrepared); err != nil {
		if mysqlconn.IsLost(err) {
			return 0, err
		}
		return 0, &Unfit{"its account may not list prepared transactions (XA RECOVER: " + sqlerr.From(err).Message + ")",
			"GRANT XA_RECOVER_ADMIN ON *.* to it"}
	}
	if isMariaDB(c) {
		return startedAt(c)
	}
	detaches, err := number(c, "SELECT @@session.xa_detach_on_prepare")
	switch {
	case sqlerr.HasCode(err, sqlerr.UnknownSystemVariable):
		return 0, &Unfit{"its server is older than MySQL 8.0.29", "upgrade it"}
	case err != nil:
		return 0, err
	case detaches == 0:
		return 0, &Unfit{"xa_detach_on_prepare is OFF", "set xa_detach_on_prepare=ON on its server"}
	}
	return 1, nil // MySQL's prepared branches have no holder
}

// startedAt is when a MariaDB server was started, in its own seconds, never 0.
func startedAt(c *mysqlconn.Conn) (int64, error) {
	// Both are as of the beginning of the statement: the difference is the same whenever it is asked, and whatever the
	// client has made of its session's clock.
	started, err := number(c, "SELECT CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED)"+
		" FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME'")
	if err == nil && started == 0 {
		err = fmt.Errorf("the server does not say when it was started")
	}
	return started, err
}

// number asks for one number.
func number(c *mysqlconn.Conn, sql string) (int64, error) {
	_, rows, err := c.QueryAll(sql, 1)
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		return 0, fmt.Errorf("no answer to %s", sql)
	}
	return strconv.ParseInt(string(rows[0][0]), 10, 64)
}
