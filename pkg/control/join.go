package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/topology"
	"skarv/pkg/workspace"
)

// Bounds on giving a group its copies of reference tables.
const (
	copiesDeadline = 30 * time.Second // how long writes to reference tables may be held for it
	copiesLockWait = 3                // seconds that open transactions have to end
	copiesAttempts = 5
	copiesRows     = 1 << 20 // of one table
	copiesBatch    = 512 << 10
)

// join writes a group into the catalog (publish does), with the rows of every reference table already on its server. The
// copies stay equal because nobody writes to reference tables meanwhile:
//
//	freeze   the map says so; all proxies acknowledge that no statement that does is under way
//	lock     LOCK TABLES ... READ on the model: transactions that have written are over
//	recover  branches that were prepared on the model before are ended
//	copy
//	publish  together with the map that thaws them, if it is still the frozen one
//
// Whoever finds them frozen for too long thaws them, and the publishing fails.
func (a *adoption) join(ctx context.Context, model, group *catalog.NodeGroup, publish func(*topology.Change) error) error {
	tables := referenceTables(a.snap)
	if len(tables) == 0 || a.leader.login == nil {
		return publish(a.leader.store.Change(a.leader.guard))
	}
	for attempt := 1; ; attempt++ {
		err := a.tryJoin(ctx, model, group, tables, publish)
		if err == nil || ctx.Err() != nil || errors.Is(err, topology.ErrNotLeader) || errors.Is(err, topology.ErrUnavailable) || errors.Is(err, errInDoubt) {
			return err
		}
		if attempt == copiesAttempts {
			return fmt.Errorf("the copies of reference tables could not be made: %w", err)
		}
		a.leader.log.WarnContext(ctx, "copies of reference tables are tried again", "error", err)
		if err := pause.For(ctx, a.leader.retry); err != nil {
			return err
		}
	}
}

func referenceTables(snap *catalog.Snapshot) []*catalog.Table {
	var out []*catalog.Table
	for _, d := range snap.Databases {
		for _, t := range d.Tables {
			if t.Kind == catalog.Reference {
				out = append(out, t)
			}
		}
	}
	slices.SortFunc(out, (*catalog.Table).Compare)
	return out
}

func (a *adoption) tryJoin(ctx context.Context, model, group *catalog.NodeGroup, tables []*catalog.Table, publish func(*topology.Change) error) error {
	store := a.leader.store
	m, revision, err := store.Map(ctx)
	if err != nil {
		return err
	}
	if m.Frozen() != nil {
		return errors.New("partitions are being handed over")
	}
	frozen, err := m.FreezeCopies(copiesDeadline)
	if err != nil {
		return err
	}
	at, err := store.Change(a.leader.guard).PutMap(frozen, revision).Commit(ctx)
	if err != nil {
		return err
	}
	work, cancel := context.WithTimeout(ctx, copiesDeadline)
	defer cancel()
	err = func() error {
		if silent, err := store.AwaitDrained(work, frozen.Epoch()); err != nil {
			return fmt.Errorf("waiting for proxies: %v: %w", silent, err)
		}
		from, err := mysqlconn.Dial(work, a.leader.login(model))
		if err != nil {
			return err
		}
		defer from.Close()
		stop := context.AfterFunc(work, from.Interrupt)
		defer stop()
		if err := lockTables(from, tables); err != nil {
			return err
		}
		if err := a.recovered(work, model); err != nil {
			return err
		}
		if err := copyTables(work, from, a.leader.login(group), tables); err != nil {
			return err
		}
		next, err := frozen.Next(nil, frozen.Moving())
		if err != nil {
			return err
		}
		return publish(store.Change(a.leader.guard).PutMap(next, at))
	}()
	if err != nil {
		if next, nerr := frozen.Next(nil, frozen.Moving()); nerr == nil {
			_, _ = store.Change(a.leader.guard).PutMap(next, at).Commit(ctx) // else whoever sees it for too long does it
		}
	}
	if errors.Is(err, topology.ErrConflict) {
		return errors.New("the partition map was changed meanwhile")
	}
	return err
}

// recovered waits until a group has no branch any more that was prepared before the tables were locked.
func (a *adoption) recovered(ctx context.Context, group *catalog.NodeGroup) error {
	s, err := a.leader.servers.Dial(ctx, group.Label(), group.Primary)
	if err != nil {
		return err
	}
	defer s.Close()
	return a.leader.awaitBranches(ctx, s, branchesPatience)
}

// lockTables keeps all others from writing to tables until c is closed.
func lockTables(c *mysqlconn.Conn, tables []*catalog.Table) error {
	lock := "LOCK TABLES "
	for i, t := range tables {
		if i > 0 {
			lock += ", "
		}
		lock += t.SQL() + " READ"
	}
	for _, sql := range []string{fmt.Sprintf("SET SESSION lock_wait_timeout = %d", copiesLockWait), "SET SESSION sql_mode = ''", lock} {
		if _, err := c.Exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// copyTables copies tables to a server.
func copyTables(ctx context.Context, from *mysqlconn.Conn, login mysqlconn.Config, tables []*catalog.Table) error {
	to, err := mysqlconn.Dial(ctx, login)
	if err != nil {
		return err
	}
	defer to.Close()
	stop := context.AfterFunc(ctx, to.Interrupt)
	defer stop()
	for _, sql := range []string{"SET " + workspace.Writing, "SET foreign_key_checks = 0, unique_checks = 0"} {
		if _, err := to.Exec(sql); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if err := copyTable(from, to, t); err != nil {
			return fmt.Errorf("table %s.%s: %w", t.Database, t.Name, err)
		}
	}
	return nil
}

// copyTable replaces the rows of a table on one server by those of another one.
func copyTable(from, to *mysqlconn.Conn, t *catalog.Table) error {
	name := t.SQL()
	var columns, reads string
	var forms []workspace.Form
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated {
			continue
		}
		if len(forms) > 0 {
			columns, reads = columns+", ", reads+", "
		}
		columns, reads = columns+sqltypes.QuoteName(c.Name), reads+workspace.Read(c)
		forms = append(forms, workspace.FormOf(c, false))
	}
	_, rows, err := from.QueryAll("SELECT "+reads+" FROM "+name, copiesRows+1)
	if err != nil {
		return err
	}
	if len(rows) > copiesRows {
		return sqlerr.Unsupported(fmt.Sprintf("adding a node group with a reference table of more than %d rows", copiesRows), "distribute the table")
	}
	if _, err := to.Exec("DELETE FROM " + name); err != nil {
		return err
	}
	head := []byte("INSERT INTO " + name + " (" + columns + ") VALUES ")
	sql := append([]byte(nil), head...)
	flush := func() error {
		if len(sql) == len(head) {
			return nil
		}
		_, err := to.Exec(string(sql))
		sql = sql[:len(head)]
		return err
	}
	for _, row := range rows {
		if len(sql) > len(head) {
			sql = append(sql, ',')
		}
		sep := byte('(')
		for i, v := range row {
			sql = workspace.AppendValue(append(sql, sep), forms[i], v)
			sep = ','
		}
		sql = append(sql, ')')
		if len(sql) > copiesBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
