package session

import (
	"context"
	"slices"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// processes lists the sessions of the whole cluster that the account may see, in order of their ids.
func (s *Session) processes() []Process {
	list := s.allProcesses()
	if s.account.Privilege("*") < catalog.Admin {
		list = slices.DeleteFunc(list, func(p Process) bool { return p.User != s.user })
	}
	slices.SortFunc(list, func(a, b Process) int { return int(int64(a.ID) - int64(b.ID)) })
	return list
}

// allProcesses lists the sessions of the whole cluster. Processes that do not answer leave a warning.
func (s *Session) allProcesses() []Process {
	list := s.cfg.Registry.Processes()
	if s.cfg.Peers != nil {
		ctx, cancel := context.WithTimeout(context.Background(), peerTimeout)
		defer cancel()
		others, missing, err := s.cfg.Peers.Processes(ctx)
		s.warnings = s.warnings[:0]
		if err != nil {
			missing = append(missing, "others: "+err.Error())
		}
		for _, m := range missing {
			s.warnings = append(s.warnings, Warning{"Warning", 1105, "the clients of process " + m + " are missing: it does not answer", ""})
		}
		list = append(list, others...)
		boundTexts(list)
	}
	return list
}

// seconds is how long a process has done what it does.
func (p *Process) seconds() int { return max(0, int(time.Since(p.Since).Seconds())) }

// nullable is s, or NULL for "".
func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s *Session) showProcesslist(full bool) error {
	t := newTable("#Id", "User", "Host", "db", "Command", "#Time", "State", "Info")
	if s.cfg.Dialect.MariaDB() {
		t.columns = append(t.columns, sqltypes.Column{Name: "Progress", Charset: 63, Type: sqltypes.TypeNewDecimal, Length: 9, Decimals: 3})
	}
	for _, p := range s.processes() {
		if !full && len(p.SQL) > 100 {
			p.SQL = p.SQL[:100]
		}
		row := []any{p.ID, p.User, p.Host, nullable(p.DB), p.Command, p.seconds(), "", nullable(p.SQL)}
		if s.cfg.Dialect.MariaDB() {
			row = append(row, "0.000")
		}
		t.add(row...)
	}
	return s.send(t)
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
		row := []any{p.ID, p.User, p.Host, nullable(p.DB), p.Command, p.seconds(), "", nullable(p.SQL)}
		if mariadb {
			row = append(row, int(time.Since(p.Since).Milliseconds()), 0, 0, 0, 0, 0, 0, 0, nullable(p.SQL), 0)
		}
		t.add(row...)
	}
	return t
}
