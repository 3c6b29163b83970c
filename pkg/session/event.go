package session

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// RunEvent runs the body of an event once, as a procedure of the account that has logged in, which must be that of its definer. What it
// selects is not for anybody. The session is to be closed then.
func (s *Session) RunEvent(e *catalog.Event) error {
	s.busy.Lock()
	defer s.busy.Unlock()
	s.snap = s.snapshot()
	s.origin = e.Definer.Origin()
	if own := s.snap.Accounts[s.identity]; own != nil {
		s.roles = s.snap.DefinerRoles(own)
	}
	if !s.followAccount() {
		return sqlerr.NoSuchUser.New(s.identity.User(), s.identity.Host())
	}
	if err := s.check(e.Database, "", catalog.MayEvent); err != nil {
		return err
	}
	err := s.adopt(s.state.With(s.state.DB,
		backend.Variable{Name: "@@session.`collation_connection`", Value: sqltypes.Literal(e.Collation)},
		backend.Variable{Name: "@@session.`time_zone`", Value: sqltypes.Literal(e.TimeZone)},
		backend.Variable{Name: "@@session.`sql_mode`", Value: sqltypes.Literal(e.SQLMode)}))
	if err != nil {
		return err
	}
	// As a function it has no name in common with the procedures that it calls.
	r := &catalog.Routine{Database: e.Database, Name: e.Name, Function: true, Text: e.Text, SQLMode: e.SQLMode}
	a := &activation{s: s, routine: r}
	if a.prog, err = s.program(r); err != nil {
		return err
	}
	s.db = e.Database
	s.followDB()
	s.client.ForgetKills()
	s.began = s.cfg.Clients.Clock()
	s.client.Begin("Event", s.db, []byte(e.Text), s.began)
	s.beginWork()
	s.calls, s.more = &calls{}, true
	err = a.run(nil)
	s.calls.release(s)
	s.calls, s.more = nil, false
	if s.interrupted() == nil { // servers commit what a body has left open, also when it has failed
		err = cmp.Or(err, s.commitImplicit())
	}
	s.endWork()
	return err
}

// showCreateEvent is a server's SHOW CREATE EVENT with the status and definer that only the catalog has.
func (s *Session) showCreateEvent(e *catalog.Event) error {
	cols, rows, err := s.rowsOf()
	if err != nil {
		return err
	}
	const textAt = 3
	if len(rows) == 1 && len(rows[0]) > textAt && rows[0][textAt] != nil {
		rows[0][textAt] = []byte("CREATE DEFINER=" + e.Definer.Quoted() + " " + strings.TrimPrefix(e.Text, "CREATE "))
	}
	return s.sendRows(cols, rows)
}

// showEvents is a server's SHOW EVENTS of a database with the status and definer that only the catalog has.
func (s *Session) showEvents(db string) error {
	where := s.whereOf()
	text := s.args.AppendSpan(nil, sqlparse.Span{Start: 0, End: where.Start})
	var chosen []string
	if where.End > where.Start {
		var err error
		if chosen, err = s.eventsWhere(db, s.args.AppendSpan(nil, where)); err != nil {
			return err
		}
	}
	c, err := s.aside(s.anyGroup())
	if err != nil {
		return err
	}
	cols, rows, err := s.rowsTold(c, text)
	if err != nil {
		return err
	}
	const dbAt, nameAt, definerAt, statusAt = 0, 1, 2, 10
	if where.End > where.Start {
		rows = slices.DeleteFunc(rows, func(r [][]byte) bool { return !slices.Contains(chosen, string(r[nameAt])) })
	}
	for _, r := range rows {
		if e := s.snap.Event(string(r[dbAt]), string(r[nameAt])); e != nil {
			if r[definerAt] = []byte(e.Definer.At()); e.Status != catalog.EventAside { // as servers have all of them, each in its words
				r[statusAt] = []byte(e.Status)
			}
		}
	}
	return s.sendRows(cols, rows)
}

// whereOf is the WHERE of the SHOW at hand, from that word to the end; empty, and at the end, if it has none.
func (s *Session) whereOf() sqlparse.Span {
	end := len(s.stmt.SQL())
	tokens := s.stmt.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if s.stmt.Is(tok, "WHERE") {
			return sqlparse.Span{Start: tok.Start, End: end}
		}
	}
	return sqlparse.Span{Start: end, End: end}
}

// eventsWhere are the names of the events of db for which the WHERE of a SHOW EVENTS is true. It is asked of information_schema, where they are as
// the catalog has them.
func (s *Session) eventsWhere(db string, where []byte) (names []string, err error) {
	text := "SELECT `Name` FROM (SELECT EVENT_SCHEMA AS `Db`, EVENT_NAME AS `Name`, DEFINER AS `Definer`, TIME_ZONE AS `Time zone`, EVENT_TYPE AS `Type`," +
		" EXECUTE_AT AS `Execute at`, INTERVAL_VALUE AS `Interval value`, INTERVAL_FIELD AS `Interval field`, STARTS AS `Starts`, ENDS AS `Ends`," +
		" STATUS AS `Status`, ORIGINATOR AS `Originator`, CHARACTER_SET_CLIENT AS `character_set_client`, COLLATION_CONNECTION AS `collation_connection`," +
		" DATABASE_COLLATION AS `Database Collation` FROM information_schema.EVENTS WHERE EVENT_SCHEMA = " + s.quoted(db) + ") AS `EVENTS` "
	take := &capture{limit: maxShown}
	if err := s.within(append([]byte(text), where...), take); err != nil {
		return nil, err
	}
	for _, r := range take.rows {
		names = append(names, string(r[0]))
	}
	return names, nil
}

// switchEvents is SET GLOBAL event_scheduler, for the whole cluster. handled is false for other statements.
func (s *Session) switchEvents(tokens sqlparse.Tokens) (handled bool, err error) {
	first := tokens.Next()
	name := strings.ToLower(strings.ReplaceAll(string(s.stmt.Text(first.Span)), "`", ""))
	if s.stmt.Is(first, "GLOBAL") {
		name = "@@global." + strings.ToLower(string(s.stmt.AppendName(nil, tokens.Next())))
	}
	if name != "@@global.event_scheduler" {
		return false, nil
	}
	operator, value := tokens.Next(), tokens.Next()
	if end := tokens.Next(); end.Kind != sqlparse.EOF || !s.stmt.Is(operator, "=") && !s.stmt.Is(operator, ":=") {
		return true, sqlerr.Unsupported("this form of SET GLOBAL event_scheduler", "write SET GLOBAL event_scheduler = ON, or OFF")
	}
	if !s.admin {
		return true, sqlerr.SpecificAccessDenied.New("SUPER")
	}
	ctx, cancel := context.WithTimeout(context.Background(), ddlTimeout)
	defer cancel()
	_, err = s.cfg.DDL.DDL(ctx, DDLRequest{
		SQL: "SET GLOBAL event_scheduler = " + string(s.stmt.AppendName(nil, value)), SQLMode: s.SQLMode, User: s.account.Name,
	})
	return true, err
}
