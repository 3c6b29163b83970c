package mysqlconn

import (
	"errors"

	"skarv/pkg/sqlerr"
)

// Processes reads columns of the server's list of connections where a condition holds, at most most rows. A MySQL server does not give
// that as long as somebody's statement has bytes that are no text; then its performance_schema is asked, which reads only what is
// asked for, if it lists the asker: it may be switched off, or have lost count.
func Processes(c *Conn, columns, where string, most int) ([][][]byte, error) {
	_, rows, err := c.QueryAll("SELECT "+columns+" FROM information_schema.processlist WHERE "+where, most)
	const noText = 3854
	if !sqlerr.HasCode(err, noText) || IsLost(err) {
		return rows, err
	}
	_, own, e := c.QueryAll("SELECT 1 FROM performance_schema.processlist WHERE id = CONNECTION_ID()", 1)
	if e != nil || len(own) == 0 {
		return nil, errors.Join(err, e)
	}
	_, rows, err = c.QueryAll("SELECT "+columns+" FROM performance_schema.processlist WHERE "+where, most)
	return rows, err
}
