package session

import (
	"context"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/processlist"
	"skarv/pkg/sqlerr"
)

// processes lists the sessions of the whole cluster that the account may see, in order of their ids.
func (s *Session) processes() []processlist.Process {
	list := s.allProcesses()
	if s.account.Global()&catalog.MayProcess == 0 {
		list = slices.DeleteFunc(list, func(p processlist.Process) bool { return p.User != s.account.Name.User() })
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

// showProcesslist is SHOW [FULL] PROCESSLIST.
func (s *Session) showProcesslist(full bool) error {
	return s.send(processlist.Show(s.processes(), full, s.cfg.Dialect.MariaDB()))
}
