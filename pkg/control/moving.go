package control

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/migration"
	"skarv/pkg/reorg"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
)

// reorganize is ALTER TABLE t REORGANIZE PARTITION: MySQL's words for spreading rows over all nodes there are now.
var reorganize = regexp.MustCompile("(?is)^\\s*alter\\s+(online\\s+)?table\\s+(`[^`]+`|[^\\s`.]+)(\\s*\\.\\s*(`[^`]+`|[^\\s`.]+))?\\s+reorganize\\s+partition\\s*;?\\s*$")

// reorganizePartition starts a rebalance if that is what the statement asks for. Partitions are those of all tables, so the
// one that is named does not matter.
func (d *schemaChange) reorganizePartition(ctx context.Context) (*migration.Work, error) {
	if !reorganize.MatchString(d.job.DDL.SQL) {
		return nil, nil
	}
	// A controller that died after it has begun one is asked again.
	r, err := reorg.Resumable(ctx, d.leader.store, d.snap, rebalance, reorg.Request{}, Role)
	if err != nil {
		return nil, toClientBusy(err)
	}
	if r == nil {
		moves, err := reorg.Plan(d.snap, reorg.Request{})
		if err != nil {
			return nil, sqlerr.UnknownError.New(err.Error())
		}
		if len(moves) > 0 {
			if r, err = reorg.Create(ctx, d.leader.store, rebalance, moves, defaultWindow); err != nil {
				return nil, toClientBusy(err)
			}
		}
	}
	text := "all node groups have their share of the partitions already"
	if r != nil {
		text = fmt.Sprintf("reorganisation %s moves %d partitions: SELECT * FROM skarv.reorganisations", r.ID, r.Partitions())
	}
	return &migration.Work{Warnings: []schema.Warning{{Level: "Note", Code: sqlerr.UnknownError, Message: text}}}, nil
}

// toClientBusy makes of ErrBusy an error for the client.
func toClientBusy(err error) error {
	if errors.Is(err, reorg.ErrBusy) {
		return sqlerr.UnknownError.New(err.Error())
	}
	return err
}

// rebalance is the kind of reorganisations that spread the partitions over all node groups.
const rebalance = "rebalance"

// defaultWindow is how long the way back stays open after a cutover unless something else was asked for.
const defaultWindow = 10 * time.Minute

// whileMoving refuses changes of tables whose rows are being moved. The mover works by their definition, and does not know
// of tables that come later.
func (d *schemaChange) whileMoving(ctx context.Context, st *ddl.Statement) error {
	id, ok, err := reorg.Current(ctx, d.leader.store)
	if err != nil || !ok {
		return err
	}
	table := ""
	switch st.Verb {
	case ddl.CreateTable:
		table = st.Objects[0].Name
	case ddl.AlterTable, ddl.CreateIndex, ddl.DropIndex, ddl.DropTable, ddl.TruncateTable, ddl.RenameTable:
		for _, o := range st.Objects {
			if t := d.snap.Table(o.DB, o.Name); t != nil && t.Kind == catalog.Sharded {
				table = t.Name
			}
		}
	case ddl.CreateProgram, ddl.DropProgram:
		if t := migration.TriggerTable(d.snap, st); t != nil && t.Kind == catalog.Sharded {
			table = t.Name
		}
	case ddl.DropDatabase:
		if db := d.snap.Databases[st.Objects[0].DB]; db != nil {
			for _, t := range db.Tables {
				if t.Kind == catalog.Sharded {
					table = t.Name
				}
			}
		}
	}
	if table == "" {
		return nil
	}
	return movesElse(table, id)
}

// noneMoves is whileMoving for a table whose rows are placed anew, which may not have been a sharded one before.
func (d *schemaChange) noneMoves(ctx context.Context, table string) error {
	id, ok, err := reorg.Current(ctx, d.leader.store)
	if err != nil || !ok {
		return err
	}
	return movesElse(table, id)
}

func movesElse(table, id string) error {
	return sqlerr.Unsupported(fmt.Sprintf("changing table '%s' while reorganisation %s moves partitions", table, id),
		fmt.Sprintf("wait for it to end, or use skarvctl reorg abort %[1]s, after its cutover skarvctl reorg complete %[1]s", id))
}
