package session

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/plan"
	"skarv/pkg/processlist"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wire"
)

// killStatement is KILL, whose operand is any expression without tables, read as a number without a sign.
func (s *Session) killStatement(p *plan.Plan) error {
	tokens := s.stmt.Tokens()
	tok := tokens.Next()
	for s.stmt.Is(tok, "KILL") || s.stmt.Is(tok, "HARD") || s.stmt.Is(tok, "SOFT") || s.stmt.Is(tok, "CONNECTION") || s.stmt.Is(tok, "QUERY") {
		tok = tokens.Next()
	}
	expr := s.args.AppendSpan(nil, sqlparse.Span{Start: tok.Start, End: len(s.stmt.SQL())})
	id, err := strconv.ParseUint(string(expr), 10, 64)
	if err != nil {
		_, value, err := s.evaluate(slices.Concat([]byte("CAST("), expr, []byte("\n"+asNumber)))
		if err != nil {
			return withoutTail(err, asNumber)
		}
		id = parseUint(value)
	}
	return s.kill(id, p.Topic == plan.KillQuery)
}

// asNumber ends the text by which the operand of KILL is computed.
const asNumber = "AS UNSIGNED)"

// withoutTail is an error of a server that has read a text with tail behind the client's: what it quotes of the text ends where the client's does.
func withoutTail(err error, tail string) error {
	e, ok := errors.AsType[*sqlerr.Error](err)
	if !ok {
		return err
	}
	at, end := strings.Index(e.Message, tail), strings.LastIndex(e.Message, "'")
	if at < 0 || end < at {
		return err
	}
	cut := *e
	cut.Message = strings.TrimSuffix(e.Message[:at], "\n") + e.Message[end:]
	return &cut
}

// kill ends another session of the cluster, or only its statement.
func (s *Session) kill(id uint64, query bool) error {
	if uint64(uint32(id)) != id {
		return sqlerr.UnknownThread.New(id)
	}
	onlyUser := s.account.Name.User()
	if s.account.Administers() {
		onlyUser = ""
	}
	if uint32(id) == s.conn.ID() {
		if query {
			return sqlerr.QueryInterrupted.New()
		}
		killed := sqlerr.QueryInterrupted
		if s.cfg.Dialect.MariaDB() {
			killed = sqlerr.ConnectionKilled
		}
		if err := s.fail(killed.New()); err != nil {
			return err
		}
		if err := s.conn.Flush(); err != nil {
			return err
		}
		return errKilled
	}
	err := s.cfg.Clients.Kill(uint32(id), query, onlyUser)
	if sqlerr.HasCode(err, sqlerr.UnknownThread) && s.cfg.Peers != nil {
		ctx, cancel := context.WithTimeout(context.Background(), peerTimeout+processlist.KillTimeout) // for as long as it waits for its servers
		defer cancel()
		err = s.cfg.Peers.Kill(ctx, uint32(id), query, onlyUser)
	}
	if err != nil {
		return err
	}
	return s.ok(wire.OK{})
}

// peerTimeout bounds the wait for other processes.
const peerTimeout = 5 * time.Second
