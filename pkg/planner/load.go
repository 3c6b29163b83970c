package planner

import (
	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// load plans LOAD DATA. With LOCAL the client's file fills a stage, by the client's own statement, so that a server reads it:
// every option, conversion, SET expression and warning is its own.
func (b *build) load(w *sqlparse.Words) error {
	if w.Take("LOAD", "INDEX") {
		return sqlerr.Unsupported("LOAD INDEX", "connect to the server itself: it is about one server")
	}
	b.plan.Kind = plan.Insert
	refs, sure := b.st.Tables()
	if !sure || len(refs) != 1 {
		return sqlerr.Unsupported("LOAD DATA of this form", "write LOAD DATA LOCAL INFILE 'name' INTO TABLE t")
	}
	w.Take("LOAD")
	if w.Take("XML") {
		return sqlerr.Unsupported("LOAD XML", "use LOAD DATA LOCAL INFILE, or send the rows as INSERT statements")
	}
	w.Take("DATA")
	if !w.Take("LOW_PRIORITY") {
		w.Take("CONCURRENT")
	}
	local := w.Take("LOCAL")
	t, ok, err := b.copyable(refs[0], b.db)
	switch {
	case err != nil:
		return err
	case !ok:
		return sqlerr.Unsupported("LOAD DATA into system tables", "use SQL statements or skarvctl made for the purpose")
	case (b.followed(t) || b.owns(t)) && (!b.writable(t) || !local):
		return b.refuseFollowed("LOAD DATA into", t)
	case t.Kind == catalog.View:
		return sqlerr.Unsupported("LOAD DATA into the view '"+t.Name+"'", "load into its table")
	}
	b.needs(t, b.writes())
	if b.st.Uses()&sqlparse.UserLock != 0 {
		return sqlerr.Unsupported("user-level locks (GET_LOCK and its like) in LOAD DATA", "call them in a SELECT without tables")
	}
	if !local {
		return b.loadFromServer(t)
	}
	if b.st.Uses()&sqlparse.Subquery != 0 {
		return sqlerr.Unsupported("LOAD DATA with subqueries", "load into a table of its own, then use INSERT ... SELECT")
	}
	w.Take("INFILE")
	w.Next()
	verb := "INSERT IGNORE INTO" // the server cannot stop the client's file
	if w.Take("REPLACE") {
		verb = "REPLACE INTO"
	}
	for toks := b.st.TokensFrom(refs[0].End); ; {
		tok := toks.Next()
		switch {
		case tok.Kind == sqlparse.EOF:
			if readsClock(t) || t.FiresVolatile("INSERT", "DELETE") {
				b.plan.Uses |= plan.ReadsClock
			}
			b.plan.Root = &plan.Workspace{Write: true, Stage: &plan.Stage{Table: t, Sequence: t.Numbered(), Name: t.Name, Verb: verb,
				ZeroIsValue: b.sess.NoAutoValueOnZero, Query: true, Load: true, Followed: b.followed(t) || b.owns(t)}}
			return nil
		case tok.Kind == sqlparse.UserVar:
			b.plan.Uses |= plan.WritesUserVariable
		case isWord(b.st, tok, "PARTITION"):
			return sqlerr.Unsupported("LOAD DATA ... PARTITION (...)", "leave the clause out")
		}
	}
}

// loadFromServer plans LOAD DATA without LOCAL: a file of one server, which may only go into tables of that server.
func (b *build) loadFromServer(t *catalog.Table) error {
	b.needsIn("*", catalog.MayFile)
	if t.Kind != catalog.Single {
		return sqlerr.Unsupported("LOAD DATA INFILE of a file on a server, into a table of several node groups", "use LOAD DATA LOCAL INFILE")
	}
	f := b.fragment(plan.Target{Kind: plan.OneGroup, Group: t.Group})
	f.Write = true
	b.addTable(f, t)
	b.plan.Relay = f
	return nil
}
