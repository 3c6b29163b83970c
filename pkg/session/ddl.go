package session

import (
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// ddlTimeout bounds how long a client waits for a schema change; the controller finishes it all the same.
const ddlTimeout = 10 * time.Minute

// closedTimeout bounds how long a statement waits for a table that is closed.
const closedTimeout = 50 * time.Second

// killedEvery is how soon a statement that waits for another snapshot takes note of a KILL.
const killedEvery = time.Second

// UntilKilled implements backend.Owner: a context for what waits for others, which ends with a KILL, or with this process.
func (s *Session) UntilKilled(most time.Duration) (ctx context.Context, done func() error) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	end := s.client.Waits(cancel)
	if s.interrupted() != nil {
		cancel()
	}
	return ctx, func() error {
		end()
		cancel()
		return s.interrupted()
	}
}

// awaitSnapshot waits until this process has a snapshot as wanted. It returns false when deadline comes first, or this process ends. The
// error is that of a KILL.
func (s *Session) awaitSnapshot(deadline time.Time, wanted func(*catalog.Snapshot) bool) (bool, error) {
	for snap := s.cfg.Snapshot(); !wanted(snap); {
		if err := s.interrupted(); err != nil {
			return false, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false, nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), min(killedEvery, left))
		next, err := s.cfg.NextSnapshot(ctx, snap.Revision+1)
		cancel()
		if err == nil {
			snap = next
		} else if ctx.Err() == nil {
			return false, nil
		}
	}
	return true, nil
}

// nextSchema waits until the schema is another one than the session's snapshot shows, and takes that over. It returns false when deadline
// comes first. The error is that of a KILL.
func (s *Session) nextSchema(deadline time.Time) (changed bool, err error) {
	s.conn.Task().Blocking(func() {
		changed, err = s.awaitSnapshot(deadline, func(snap *catalog.Snapshot) bool { return snap.SchemaRevision != s.snap.SchemaRevision })
	})
	if changed {
		s.snap = s.snapshot()
	}
	return changed, err
}

// ddl hands a schema change to the controller. It commits an open transaction, as on one server.
func (s *Session) ddl(p *plan.Plan) error {
	if handled, err := s.temporaryDDL(p); handled {
		return err
	}
	if err := s.commitImplicit(); err != nil {
		return err
	}
	if s.readOnly() {
		return s.readOnlyTransaction()
	}
	s.isolation = "" // a schema change is the next transaction
	if t := s.snap.Table(p.Database, p.Name); t != nil && t.Kind != catalog.View && p.Change.Is(plan.VerbAlter, plan.ObjectTable) {
		if toggles, enables := s.togglesKeys(); toggles {
			return s.keysNotToggled(t, enables)
		}
	}
	relock, err := s.ddlUnderLocks(p)
	if err != nil {
		return err
	}
	defer relock()
	if p.Change.Object == plan.ObjectSequence {
		return s.sequenceDDL(p)
	}
	if p.Change.Object == plan.ObjectView {
		if err := s.viewOverSequence(); err != nil {
			return err
		}
	}
	if handled, err := s.createFromSelect(p); handled {
		return err
	}
	ctx, done := s.UntilKilled(ddlTimeout)
	defer done()
	r, err := s.changeSchema(ctx, s.ddlRequest())
	if err != nil {
		return err
	}
	s.diagnostics.Replace(r.Warnings...)
	if e := s.ownRoutine(ctx, p); e != nil {
		s.diagnostics.Add(diagnostics.Of(diagnostics.Warning, e))
	}
	ok := wire.OK{AffectedRows: r.Affected, Warnings: s.diagnostics.Warnings()}
	if p.Change.Is(plan.VerbDrop, plan.ObjectDatabase) {
		ok.Status = wire.StatusDBDropped // clients ask which database they are in now
		if p.Name == s.db && s.snap.Databases[s.db] == nil {
			s.db = ""
		}
	}
	s.followDB()
	if s.tellsRecords(p) && !alteredNone(r.Warnings) {
		ok.Info = recordsInfo(r.Affected, ok.Warnings)
	}
	return s.ok(ok)
}

// ownRoutine gives whoever has made a function or procedure what there is on it, and takes away what all have on one that is dropped, as servers do with
// automatic_sp_privileges.
func (s *Session) ownRoutine(ctx context.Context, p *plan.Plan) *sqlerr.Error {
	function := p.Change.Object == plan.ObjectFunction
	if !function && p.Change.Object != plan.ObjectProcedure {
		return nil
	}
	k := catalog.NewRoutineKey(p.Database, p.Name, function)
	r := s.snap.Routines[k]
	switch p.Change.Verb {
	case plan.VerbDrop:
		if r == nil && s.cfg.Accounts.Forget(ctx, k, s.snap) != nil {
			return sqlerr.RoutineGrantsLeft.New()
		}
	case plan.VerbCreate: // IF NOT EXISTS has made none that is another's
		if r != nil && r.Definer == s.account.Name && s.account.OfRoutine(k)&catalog.AllOfRoutine != catalog.AllOfRoutine &&
			s.cfg.Accounts.Own(ctx, s.account.Name, k) != nil {
			return sqlerr.RoutineNotGranted.New()
		}
	}
	return nil
}

// changeSchema has the controller run a schema change, and takes over the schema it makes. The result is without the notes that the session
// does not want to hear of.
func (s *Session) changeSchema(ctx context.Context, r DDLRequest) (DDLResult, error) {
	if err := s.unicode(&r); err != nil {
		return DDLResult{}, err
	}
	out, err := s.cfg.DDL.DDL(ctx, r)
	if err != nil {
		return DDLResult{}, err
	}
	s.snap = s.snapshot()
	out.Warnings = slices.DeleteFunc(out.Warnings, func(w diagnostics.Condition) bool { return w.Level == diagnostics.Note && !s.notes() })
	return out, nil
}

// notes reports whether the session wants to hear of notes (sql_notes).
func (s *Session) notes() bool {
	v, _ := s.state.Get("@@session.`sql_notes`")
	return !variable.IsOff(v)
}

// alteredNone reports whether these are the warnings of an ALTER TABLE IF EXISTS that has found no table.
func alteredNone(list []diagnostics.Condition) bool {
	return len(list) == 1 && list[0].Level == diagnostics.Error && list[0].Code == sqlerr.NoSuchTable
}

// tellsRecords reports whether servers say how many rows a schema change has copied: of what ALTER TABLE does, unless it does
// nothing but rename, and on MySQL nothing at all.
func (s *Session) tellsRecords(p *plan.Plan) bool {
	switch c := p.Change; {
	case c.Is(plan.VerbCreate, plan.ObjectIndex), c.Is(plan.VerbDrop, plan.ObjectIndex):
		return true
	case !c.Is(plan.VerbAlter, plan.ObjectTable):
		return false
	}
	refs, _ := s.stmt.Tables()
	if len(refs) == 0 {
		return true
	}
	tokens := s.stmt.TokensFrom(refs[0].Span.End)
	tok := tokens.Next()
	switch {
	case tok.Kind == sqlparse.EOF:
		return s.cfg.Dialect.MariaDB()
	case s.stmt.Is(tok, "TRUNCATE"): // PARTITION
		return false
	case !s.stmt.Is(tok, "RENAME"):
		return true
	}
	for tok = tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if s.stmt.Is(tok, ",") || s.stmt.Is(tok, "COLUMN") || s.stmt.Is(tok, "INDEX") || s.stmt.Is(tok, "KEY") {
			return true
		}
	}
	return false
}

// readOnly reports whether the session's transactions may not write. Backends check it for rows; a schema change is
// run by the controller.
func (s *Session) readOnly() bool {
	for _, name := range []string{"tx_read_only", "transaction_read_only"} {
		if v, ok := s.state.Get("@@session." + sqltypes.QuoteName(name)); ok {
			return variable.IsOn(v)
		}
	}
	return false
}

// writingState is the session's state, but that its transactions may write: for a connection on which nothing but temporary tables of
// our own are written. A server lets a READ ONLY session write to those only where it says START TRANSACTION.
func (s *Session) writingState() *backend.State {
	if !s.readOnly() {
		return s.state
	}
	return s.stateReadOnly("0")
}

// stateReadOnly is the session's state, but for whether its transactions may write.
func (s *Session) stateReadOnly(value string) *backend.State {
	return s.state.With(s.state.DB, backend.Variable{Name: "@@session." + sqltypes.QuoteName(variable.Isolation(s.cfg.Dialect.MariaDB())[1]), Value: value})
}

// differsByState returns an error if what st computes is another value with writingState.
func (s *Session) differsByState(st *sqlparse.Statement) error {
	if !s.readOnly() {
		return nil
	}
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if name := variable.Isolation(s.cfg.Dialect.MariaDB())[1]; tok.Kind == sqlparse.SysVar && strings.Contains(variable.FoldASCII(string(st.Text(tok.Span))), name) {
			return sqlerr.Unsupported("@@"+name+" in a READ ONLY session, in a program or in a query over several node groups that copies tables",
				"SELECT it INTO a user variable first, and use that")
		}
	}
	return nil
}

// ddlRequest is the statement at hand with the session variables that may change its meaning.
func (s *Session) ddlRequest() DDLRequest {
	r := DDLRequest{Database: s.db, SQL: string(s.args.AppendStatement(nil)), SQLMode: s.SQLMode, User: s.account.Name, Roles: s.roles, Charset: "utf8mb4"}
	for _, v := range s.state.Vars {
		switch v.Name {
		case "@@session.`character_set_client`":
			r.Charset = strings.Trim(v.Value, "'")
		case "@@session.`collation_connection`":
			r.Collation = strings.Trim(v.Value, "'")
		case "@@session.`foreign_key_checks`", "@@session.`unique_checks`", "@@session.`time_zone`",
			"@@session.`default_storage_engine`", "@@session.`explicit_defaults_for_timestamp`", "@@session.`lock_wait_timeout`",
			"@@session.`character_set_server`", "@@session.`collation_server`", // of CREATE DATABASE
			"@@session.`innodb_strict_mode`", "@@session.`check_constraint_checks`", "@@session.`old_mode`",
			"@@session.`default_collation_for_utf8mb4`", "@@session.`sql_require_primary_key`", "@@session.`restrict_fk_on_non_standard_key`":
			r.Session = append(r.Session, "SET "+v.Name+" = "+v.Value)
		case variable.Timestamp:
			if v.Value != "DEFAULT" {
				r.Session = append(r.Session, "SET "+v.Name+" = "+v.Value)
			}
		}
	}
	return r
}

// unicode writes the text of a schema change in UTF-8, in which the controller keeps and sends it: a server says what it is. What
// the text says stays the same, for servers turn its strings from the client's character set into the connection's, which is kept.
func (s *Session) unicode(r *DDLRequest) error {
	if strings.IndexFunc(r.SQL, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 {
		return nil
	}
	refuse := func(what string) error {
		return sqlerr.Unsupported("a definition with "+what, "SET NAMES utf8mb4, or write them as X'...'")
	}
	if !s.ForeignCharset {
		if !utf8.ValidString(r.SQL) {
			return refuse("bytes that are no characters")
		}
		return nil
	}
	charset := s.clientCharset()
	if charset == "binary" || introducer.MatchString(r.SQL) {
		return refuse("bytes beyond ASCII in a binary or introduced string")
	}
	_, text, err := s.evaluate(fmt.Appendf(nil, "HEX(CONVERT(_%s X'%X' USING utf8mb4))", charset, r.SQL))
	if err != nil {
		return err
	}
	sql, err := hex.DecodeString(string(text))
	if err != nil {
		return sqlerr.Internal.New("the text of a definition in UTF-8: " + err.Error())
	}
	r.SQL, r.Charset = string(sql), "utf8mb4"
	return nil
}

// introducer is what says that a string's bytes are of another character set than the client's. It may see more than there are.
var introducer = regexp.MustCompile(`\b_[a-zA-Z0-9]+\s*['"]`)

// keysNotToggled answers ALTER TABLE ... DISABLE KEYS, which does nothing for InnoDB; where all keys are unique MariaDB has nothing to say of it.
func (s *Session) keysNotToggled(t *catalog.Table, enables bool) error {
	s.diagnostics.Clear()
	if mariadb := s.cfg.Dialect.MariaDB(); s.notes() && (!mariadb || enables || len(t.Indexes) > 0) {
		note := "Table storage engine for '" + t.Name + "' doesn't have this option"
		if mariadb {
			note = "Storage engine InnoDB of the table " + "`" + t.Database + "`.`" + t.Name + "` doesn't have this option"
		}
		s.diagnostics.Add(diagnostics.Condition{Level: diagnostics.Note, Code: 1031, Message: note})
	}
	return s.ok(wire.OK{Warnings: s.diagnostics.Warnings()})
}

// togglesKeys recognises ALTER TABLE t DISABLE KEYS and ENABLE KEYS, which dumps are full of.
func (s *Session) togglesKeys() (toggles, enables bool) {
	tokens := s.stmt.Tokens()
	last, before := tokens.Next(), tokens.Next()
	n := 0
	for tok := tokens.Next(); tok.Kind != 0; tok = tokens.Next() {
		before, last = last, tok
		n++
	}
	enables = s.stmt.Is(before, "ENABLE")
	return n <= 6 && s.stmt.Is(last, "KEYS") && (enables || s.stmt.Is(before, "DISABLE")), enables
}
