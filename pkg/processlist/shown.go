package processlist

import (
	"time"

	"skarv/pkg/rowset"
	"skarv/pkg/sqltypes"
)

// Seconds is how long the process has done what it does.
func (p *Process) Seconds() int { return max(0, int(time.Since(p.Since).Seconds())) }

// shortText is how much SHOW PROCESSLIST shows of a statement.
const shortText = 100

// Show is SHOW [FULL] PROCESSLIST as a server of the kind answers it.
func Show(list []Process, full, mariadb bool) *rowset.Table {
	t := rowset.New("#Id", "User", "Host", "db", "Command", "#Time", "State", "Info")
	const numbers = sqltypes.FlagNotNull | sqltypes.FlagBinary
	id, user, host, seconds, info := uint32(22), uint32(32), uint32(255), uint32(8), uint32(64<<20)
	if mariadb {
		id, user, host, seconds, info = 11, 128, 64, 7, 16<<20
		t.Columns = append(t.Columns, sqltypes.Column{Name: "Progress", Charset: 63, Type: sqltypes.TypeDouble, Length: 7, Decimals: 3, Flags: numbers})
	}
	for i, c := range []sqltypes.Column{
		{Type: sqltypes.TypeLongLong, Length: id, Flags: numbers}, {Length: user * 4, Flags: sqltypes.FlagNotNull}, {Length: host * 4, Flags: sqltypes.FlagNotNull},
		{Length: 64 * 4}, {Length: 16 * 4, Flags: sqltypes.FlagNotNull}, {Type: sqltypes.TypeLong, Length: seconds, Flags: numbers}, {Length: 30 * 4}, {Length: 100 * 4},
	} {
		to := &t.Columns[i]
		to.Length, to.Flags = c.Length, c.Flags
		if c.Type != 0 {
			to.Type = c.Type
		}
	}
	if full {
		text := &t.Columns[7]
		text.Type, text.Length = sqltypes.TypeLongBlob, info*12
	}
	for i := range list {
		p := list[i]
		if !full && len(p.SQL) > shortText {
			p.SQL = p.SQL[:shortText]
		}
		row := p.row()
		if mariadb {
			row = append(row, "0.000")
		}
		t.Add(row...)
	}
	return t
}

// Table is information_schema.processlist, and performance_schema's.
func Table(list []Process, mariadb bool) *rowset.Table {
	names := []string{"#ID", "USER", "HOST", "DB", "COMMAND", "#TIME", "STATE", "INFO"}
	if mariadb {
		names = append(names, "#TIME_MS", "#STAGE", "#MAX_STAGE", "#PROGRESS", "#MEMORY_USED", "#MAX_MEMORY_USED", "#EXAMINED_ROWS", "#QUERY_ID",
			"INFO_BINARY", "#TID")
	}
	t := rowset.New(names...)
	for i := range list {
		p := &list[i]
		row := p.row()
		if mariadb {
			row = append(row, int(time.Since(p.Since).Milliseconds()), 0, 0, 0, 0, 0, 0, 0, rowset.OrNull(p.SQL), 0)
		}
		t.Add(row...)
	}
	return t
}

// row is what all process lists begin with.
func (p *Process) row() []any {
	return []any{p.ID, p.User, p.Host, rowset.OrNull(p.DB), p.Command, p.Seconds(), "", rowset.OrNull(p.SQL)}
}
