package txn

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"skarv/pkg/mysqlconn"
)

// What servers tell of transactions is a copy that they make anew when the last one is older than a tenth of a second and was not read since:
// who reads too often, whoever that is, reads the same again and again, for as long as he goes on.

// errOldCopy: a server shows transactions as they were at a moment that nobody knows.
var errOldCopy = errors.New("somebody reads information_schema.INNODB_TRX, or what belongs to it, more than ten times a second there")

// freshTries is how often a copy is looked at before it is given up; the server pauses before the second time.
const freshTries = 3

// transactions runs sql, a query of information_schema.INNODB_TRX and what belongs to it, whose columns have names. Its rows are as things are now, or the
// error is errOldCopy: it runs in a transaction, and a copy that was made for it shows that with the text of the query.
func transactions(c *mysqlconn.Conn, sql string, most int) (rows [][][]byte, err error) {
	if _, err := c.Exec("START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
		return nil, err
	}
	for try := range freshTries {
		mark := fmt.Sprintf("/* %s */", strconv.FormatInt(time.Now().UnixNano(), 36))
		if try > 0 {
			if _, err := number(c, "SELECT SLEEP(0.11)"); err != nil {
				return nil, err
			}
		}
		_, rows, err = c.QueryAll(mark+" SELECT own.fresh, q.* FROM (SELECT COUNT(*) AS fresh FROM information_schema.INNODB_TRX"+
			" WHERE trx_mysql_thread_id = CONNECTION_ID() AND trx_query LIKE '"+mark+"%') own LEFT JOIN ("+sql+") q ON 1 = 1", most)
		if err != nil {
			return nil, err
		}
		if string(rows[0][0]) == "1" {
			break
		}
		err = errOldCopy
	}
	if _, lost := c.Exec("COMMIT"); lost != nil {
		return nil, lost
	}
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i] = rows[i][1:]
	}
	if len(rows) == 1 && rows[0][0] == nil {
		return nil, nil // there is none
	}
	return rows, nil
}
