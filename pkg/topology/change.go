package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

// What an object's revision must be for a Change to be applied, beside a revision that was read.
const (
	Any    int64 = -1 // whatever there is, is replaced
	Absent int64 = 0  // there must be none
)

// Change is one transaction on the cluster's state: all of it is written, or nothing. Build it with the Put and
// Delete methods, then Commit it once. It belongs to one goroutine.
type Change struct {
	store *Store
	guard *Guard
	cmps  []clientv3.Cmp
	ops   []clientv3.Op
	err   error
}

// Change begins a transaction. With a guard it is applied only while that leadership lasts; guard may be nil for
// what does not need a leader.
func (s *Store) Change(guard *Guard) *Change {
	return &Change{store: s, guard: guard}
}

// Expect makes the change depend on key's revision.
func (c *Change) expect(key string, revision int64) {
	if revision == Any {
		return
	}
	c.cmps = append(c.cmps, clientv3.Compare(clientv3.ModRevision(key), "=", revision))
}

func (c *Change) put(key string, value any, revision int64) *Change {
	data, err := json.Marshal(value)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("encode %s: %w", key, err)
	}
	c.expect(key, revision)
	c.ops = append(c.ops, clientv3.OpPut(key, string(data)))
	return c
}

func (c *Change) remove(key string, revision int64) *Change {
	c.expect(key, revision)
	c.ops = append(c.ops, clientv3.OpDelete(key))
	return c
}

// PutCluster writes what the cluster is.
func (c *Change) PutCluster(cl Cluster, revision int64) *Change {
	return c.put(c.store.clusterKey(), cl, revision)
}

// PutMap writes the partition map.
func (c *Change) PutMap(m *placement.PartitionMap, revision int64) *Change {
	return c.put(c.store.mapKey(), m, revision)
}

// PutGroup writes a node group.
func (c *Change) PutGroup(g *catalog.NodeGroup, revision int64) *Change {
	return c.put(c.store.groupKey(g.ID), g, revision)
}

// DeleteGroup removes a node group.
func (c *Change) DeleteGroup(id placement.NodeGroupID, revision int64) *Change {
	return c.remove(c.store.groupKey(id), revision)
}

// ExpectGroup makes the change depend on that a node group is there.
func (c *Change) ExpectGroup(id placement.NodeGroupID) *Change {
	c.cmps = append(c.cmps, clientv3.Compare(clientv3.CreateRevision(c.store.groupKey(id)), ">", 0))
	return c
}

// PutDatabase writes a database; its tables are written on their own.
func (c *Change) PutDatabase(d *catalog.Database, revision int64) *Change {
	return c.put(c.store.dbKey(d.Name), d, revision)
}

// DeleteDatabase removes a database with all its tables, routines and events; their sequences go with DeleteSequence.
func (c *Change) DeleteDatabase(name string) *Change {
	c.ops = append(c.ops, clientv3.OpDelete(c.store.tablesKey(name), clientv3.WithPrefix()),
		clientv3.OpDelete(c.store.routinesKey(name), clientv3.WithPrefix()),
		clientv3.OpDelete(c.store.eventsKey(name), clientv3.WithPrefix()))
	return c.remove(c.store.dbKey(name), Any)
}

// PutTable writes a table or view.
func (c *Change) PutTable(t *catalog.Table, revision int64) *Change {
	return c.put(c.store.tableKey(t.Database, t.Name), t, revision)
}

// ExpectTables makes the change depend on that no table was written after revision.
func (c *Change) ExpectTables(revision int64) *Change {
	return c.expectOlder(kindTable, revision)
}

// expectOlder makes the change depend on that nothing of a kind was written after revision.
func (c *Change) expectOlder(kind string, revision int64) *Change {
	c.cmps = append(c.cmps, clientv3.Compare(clientv3.ModRevision(c.store.prefix+kind), "<", revision+1).WithPrefix())
	return c
}

// DeleteTable removes a table or view.
func (c *Change) DeleteTable(db, name string) *Change {
	return c.remove(c.store.tableKey(db, name), Any)
}

// PutRoutine writes a stored function or procedure.
func (c *Change) PutRoutine(r *catalog.Routine, revision int64) *Change {
	return c.put(c.store.routineKey(r.Key()), r, revision)
}

// DeleteRoutine removes a stored function or procedure.
func (c *Change) DeleteRoutine(k catalog.RoutineKey) *Change {
	return c.remove(c.store.routineKey(k), Any)
}

// PutEvent writes an event.
func (c *Change) PutEvent(e *catalog.Event, revision int64) *Change {
	return c.put(c.store.eventKey(e.Key()), e, revision)
}

// DeleteEvent removes an event.
func (c *Change) DeleteEvent(k catalog.EventKey) *Change {
	return c.remove(c.store.eventKey(k), Any)
}

// PutEventsOff says whether events are kept from running.
func (c *Change) PutEventsOff(off bool) *Change {
	return c.put(c.store.settingKey(eventsOff), off, Any)
}

// PutAccount writes an account.
func (c *Change) PutAccount(a *catalog.Account, revision int64) *Change {
	return c.put(c.store.accountKey(a.Name), a, revision)
}

// DeleteAccount removes an account.
func (c *Change) DeleteAccount(name catalog.AccountName, revision int64) *Change {
	return c.remove(c.store.accountKey(name), revision)
}

// PutSequence sets the next value of a sequence, whatever it was.
func (c *Change) PutSequence(id, next uint64) *Change {
	c.ops = append(c.ops, clientv3.OpPut(c.store.seqKey(id), strconv.FormatUint(next, 10)))
	return c
}

// DeleteSequence removes a sequence.
func (c *Change) DeleteSequence(id uint64) *Change {
	return c.remove(c.store.seqKey(id), Any)
}

// PutRecord writes a record.
func (c *Change) PutRecord(kind RecordKind, id string, value []byte, revision int64) *Change {
	key := c.store.recordKey(kind, id)
	c.expect(key, revision)
	c.ops = append(c.ops, clientv3.OpPut(key, string(value)))
	return c
}

// DeleteRecord removes a record.
func (c *Change) DeleteRecord(kind RecordKind, id string, revision int64) *Change {
	return c.remove(c.store.recordKey(kind, id), revision)
}

// ExpectRecord makes the change depend on a record's revision.
func (c *Change) ExpectRecord(kind RecordKind, id string, revision int64) *Change {
	c.expect(c.store.recordKey(kind, id), revision)
	return c
}

// ExpectNoCluster makes the change depend on that there is no cluster.
func (c *Change) ExpectNoCluster() *Change {
	c.expect(c.store.clusterKey(), Absent)
	return c
}

// DropCatalog removes all databases, tables, routines, events and accounts. Nothing else of the kind may be in the same change.
func (c *Change) DropCatalog() *Change {
	for _, kind := range []string{kindDB, kindTable, kindRoutine, kindEvent, kindAccount} {
		c.ops = append(c.ops, clientv3.OpDelete(c.store.prefix+kind+"/", clientv3.WithPrefix()))
	}
	return c
}

// DropCluster removes the cluster if nothing of it was changed after revision: what it is, its map, node groups, catalog,
// sequences, and the records of what was done to it. What processes say of themselves stays, and numbers that were given out
// are not given out again.
func (c *Change) DropCluster(revision int64) *Change {
	for _, kind := range []string{kindCluster, kindMap, kindGroup, kindDB, kindTable, kindRoutine, kindEvent, string(DDLJobs), string(ReorgLock)} {
		c.expectOlder(kind, revision)
	}
	c.DropCatalog().remove(c.store.clusterKey(), Any).remove(c.store.mapKey(), Any)
	for _, kind := range []string{kindGroup, kindSeq, kindSetting, string(DDLJobs), string(DDLForgotten), string(Reorgs), string(ReorgLock), string(ReorgProgress), string(EventRuns)} {
		c.ops = append(c.ops, clientv3.OpDelete(c.store.prefix+kind+"/", clientv3.WithPrefix()))
	}
	return c
}

// Commit applies the change and returns the revision it made. ErrNotLeader and ErrConflict mean that nothing was
// written; ErrUnavailable means that it is not known.
func (c *Change) Commit(ctx context.Context) (int64, error) {
	if c.err != nil {
		return 0, c.err
	}
	if len(c.ops) == 0 {
		return 0, fmt.Errorf("topology: empty change")
	}
	var onFail []clientv3.Op
	if c.guard != nil {
		c.cmps = append(c.cmps, clientv3.Compare(clientv3.CreateRevision(c.guard.key), "=", c.guard.revision))
		onFail = append(onFail, clientv3.OpGet(c.guard.key, clientv3.WithKeysOnly()))
	}
	bounded, cancel := c.store.request(ctx)
	defer cancel()
	r, err := c.store.client.Txn(bounded).If(c.cmps...).Then(c.ops...).Else(onFail...).Commit()
	if err = c.store.observe(ctx, err); err != nil {
		if errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrFull) {
			err = fmt.Errorf("%w; it is not known whether the change was written", err)
		}
		return 0, err
	}
	if r.Succeeded {
		return r.Header.Revision, nil
	}
	if c.guard != nil {
		kvs := r.Responses[0].GetResponseRange().Kvs
		if len(kvs) == 0 || kvs[0].CreateRevision != c.guard.revision {
			return 0, ErrNotLeader
		}
	}
	return 0, ErrConflict
}
