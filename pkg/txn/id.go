package txn

import (
	"fmt"
	"strconv"
	"strings"

	"skarv/pkg/placement"
)

// ID names a transaction over several node groups: "GROUP-PROCESS-NUMBER", where GROUP is the node group of its first
// branch, which keeps the decision. It never repeats. It is the gtrid of the branches' xids and the key of the
// decision's row, and clients are told it when an outcome is unknown.
type ID string

// Group returns the node group that keeps the decision.
func (id ID) Group() (placement.NodeGroupID, bool) {
	text, rest, ok := strings.Cut(string(id), "-")
	n, err := strconv.ParseUint(text, 10, 16)
	return placement.NodeGroupID(n), ok && err == nil && n > 0 && plain(rest)
}

// plain reports whether s can stand in a quoted string as it is.
func plain(s string) bool {
	for _, c := range []byte(s) {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return len(s) > 0
}

// formatID marks our branches among those of other programs: "SP".
const formatID = 0x5350

// xid names one branch: the transaction, and in the bqual "GROUP-THREAD-STARTED" the branch's node group, the connection
// it was started on and when that connection's server was started. By those MariaDB's holder of a prepared branch can be
// ended; a server that was started again gives its threads the same numbers.
type xid struct {
	id    ID
	bqual string
}

func newXID(id ID, g placement.NodeGroupID, thread uint32, started int64) xid {
	return xid{id, fmt.Sprintf("%d-%d-%d", g, thread, started)}
}

// String is the xid as XA statements take it: in hex, for the bytes of a string are those of the client's character set, which may be UTF-16.
func (x xid) String() string { return fmt.Sprintf("x'%x',x'%x',%d", string(x.id), x.bqual, formatID) }

// holder is the connection that started the branch, and when its server was started; zero if they are not known.
func (x xid) holder() (thread uint64, started int64) {
	_, text, _ := strings.Cut(x.bqual, "-")
	first, second, _ := strings.Cut(text, "-")
	thread, err1 := strconv.ParseUint(first, 10, 64)
	started, err2 := strconv.ParseInt(second, 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0
	}
	return thread, started
}

// Transaction returns the transaction a branch belongs to, by what XA RECOVER says of the branch; ok is false for branches of
// others.
func Transaction(format, gtridLength int, data string) (id ID, ok bool) {
	if format != formatID || gtridLength < 0 || gtridLength > len(data) {
		return "", false
	}
	id = ID(data[:gtridLength])
	_, ok = id.Group()
	return id, ok
}

// parseXID reads a row of XA RECOVER: formatID, gtrid_length, bqual_length, data. ok is false for branches of others.
func parseXID(row [][]byte) (x xid, ok bool) {
	if len(row) != 4 || string(row[0]) != strconv.Itoa(formatID) {
		return xid{}, false
	}
	g, err1 := strconv.Atoi(string(row[1]))
	b, err2 := strconv.Atoi(string(row[2]))
	data := string(row[3])
	if err1 != nil || err2 != nil || g < 0 || b < 0 || g+b != len(data) {
		return xid{}, false
	}
	x = xid{ID(data[:g]), data[g:]}
	_, ok = x.id.Group()
	return x, ok && plain(x.bqual)
}
