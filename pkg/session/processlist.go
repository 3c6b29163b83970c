package session

import (
	"context"
	"slices"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/processlist"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// processes lists the sessions of the whole cluster that the account may see, in order of their ids.
func (s *Session) processes() []processlist.Process {
	list := s.allProcesses()
	if s.account.Global()&catalog.MayProcess == 0 {
		list = slices.DeleteFunc(list, func(p processlist.Process) bool { return p.User != s.account.Name })
	}
	slices.SortFunc(list, func(a, b processlist.Process) int { return int(int64(a.ID) - int64(b.ID)) })
	return list
}

// allProcesses lists the sessions of the whole cluster. Processes that do not answer leave a warning.
func (s *Session) allProcesses() []processlist.Process {
	list := s.cfg.Clients.Processes()
	if s.cfg.Peers != nil {
		ctx, cancel := context.WithTimeout(context.Background(), peerTimeout)
		defer cancel()
		others, missing, err := s.cfg.Peers.Processes(ctx)
		if err != nil {
			missing = append(missing, "others: "+err.Error())
		}
		if len(missing) > 0 {
			s.diagnostics.Clear()
		}
		for _, m := range missing {
			s.diagnostics.Add(diagnostics.Of(diagnostics.Warning, sqlerr.UnknownError.New("the clients of process "+m+" are missing: it does not answer")))
		}
		list = append(list, others...)
		processlist.Bound(list)
	}
	return list
}

// secondsOf is how long a process has done what it does.
func secondsOf(p *processlist.Process) int { return max(0, int(time.Since(p.Since).Seconds())) }

// nullable is s, or NULL for "".
func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s *Session) showProcesslist(full bool) error {
	t := newTable("#Id", "User", "Host", "db", "Command", "#Time", "State", "Info")
	s.asProcesslist(t, full)
	for _, p := range s.processes() {
		if !full && len(p.SQL) > 100 {
			p.SQL = p.SQL[:100]
		}
		row := []any{p.ID, p.User, p.Host, nullable(p.DB), p.Command, secondsOf(&p), "", nullable(p.SQL)}
		if s.cfg.Dialect.MariaDB() {
			row = append(row, "0.000")
		}
		t.add(row...)
	}
	return s.send(t)
}

// asProcesslist gives the columns of a SHOW PROCESSLIST the types that they have on a server.
func (s *Session) asProcesslist(t *table, full bool) {
	const numbers = sqltypes.FlagNotNull | sqltypes.FlagBinary
	mariadb := s.cfg.Dialect.MariaDB()
	id, user, host, seconds, info := uint32(22), uint32(32), uint32(255), uint32(8), uint32(64<<20)
	if mariadb {
		id, user, host, seconds, info = 11, 128, 64, 7, 16<<20
		t.columns = append(t.columns, sqltypes.Column{Name: "Progress", Charset: 63, Type: sqltypes.TypeDouble, Length: 7, Decimals: 3, Flags: numbers})
	}
	for i, c := range []sqltypes.Column{
		{Type: sqltypes.TypeLongLong, Length: id, Flags: numbers}, {Length: user * 4, Flags: sqltypes.FlagNotNull}, {Length: host * 4, Flags: sqltypes.FlagNotNull},
		{Length: 64 * 4}, {Length: 16 * 4, Flags: sqltypes.FlagNotNull}, {Type: sqltypes.TypeLong, Length: seconds, Flags: numbers}, {Length: 30 * 4}, {Length: 100 * 4},
	} {
		to := &t.columns[i]
		to.Length, to.Flags = c.Length, c.Flags
		if c.Type != 0 {
			to.Type = c.Type
		}
	}
	if full {
		text := &t.columns[7]
		text.Type, text.Length = sqltypes.TypeLongBlob, info*12
	}
}

// processlistTable is information_schema.processlist, and performance_schema's.
func (s *Session) processlistTable() *table {
	t := newTable("#ID", "USER", "HOST", "DB", "COMMAND", "#TIME", "STATE", "INFO")
	mariadb := s.cfg.Dialect.MariaDB()
	if mariadb {
		more := newTable("#TIME_MS", "#STAGE", "#MAX_STAGE", "#PROGRESS", "#MEMORY_USED", "#MAX_MEMORY_USED", "#EXAMINED_ROWS", "#QUERY_ID",
			"INFO_BINARY", "#TID")
		t.columns = append(t.columns, more.columns...)
	}
	for _, p := range s.processes() {
		row := []any{p.ID, p.User, p.Host, nullable(p.DB), p.Command, secondsOf(&p), "", nullable(p.SQL)}
		if mariadb {
			row = append(row, int(time.Since(p.Since).Milliseconds()), 0, 0, 0, 0, 0, 0, 0, nullable(p.SQL), 0)
		}
		t.add(row...)
	}
	return t
}
