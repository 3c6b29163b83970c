package exec

import (
	"slices"
	"strconv"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Followed are rows that a Changer has changed or deleted, all of a statement at once, so that global indexes and foreign keys over
// node groups can follow. It implements Sink for the rows of workspace.Tracked.Followed.
type Followed struct {
	Table *catalog.Table
	// Images are the columns whose values are told.
	Images []int
	rows   []followed
	snap   *catalog.Snapshot
}

// followed is one row: what it was, and what it is.
type followed struct {
	was found
	now image // nil: it is gone
	to  placement.NodeGroupID
}

// Following returns what takes the rows of t.
func Following(snap *catalog.Snapshot, t *catalog.Table) *Followed {
	parents, children, _ := snap.Relations(t)
	return &Followed{Table: t, Images: catalog.WatchedColumns(t, parents, children), snap: snap}
}

// Columns implements Sink.
func (f *Followed) Columns([]sqltypes.Column) error { return nil }

// Row implements Sink.
func (f *Followed) Row(payload []byte) error {
	fields, err := wire.ParseTextRow(slices.Clone(payload), nil)
	if err != nil {
		return err
	}
	keys, n := len(f.Table.Primary), len(f.Images)
	if len(fields) != 2+keys+2*n {
		return sqlerr.Internal.New("a row to be followed has another number of values than expected")
	}
	if len(f.rows) >= maxProgramRows {
		return tooManyRows()
	}
	row := followed{was: found{key: fields[2 : 2+keys], image: image{}}}
	values := fields[2+keys:]
	for i, c := range f.Images {
		row.was.image[c] = values[i]
	}
	if row.was.group, err = f.owner(fields[0]); err != nil {
		return err
	}
	if fields[1] != nil {
		if row.to, err = f.owner(fields[1]); err != nil {
			return err
		}
		row.now = image{}
		for i, c := range f.Images {
			row.now[c] = values[n+i]
		}
	}
	f.rows = append(f.rows, row)
	return nil
}

func (f *Followed) owner(partition []byte) (placement.NodeGroupID, error) {
	p, err := strconv.ParseUint(string(partition), 10, 16)
	if err != nil || p >= placement.Partitions {
		return 0, sqlerr.Internal.New("the partition of a row to be followed is not known")
	}
	return f.snap.Map.Owner(placement.Partition(p)), nil
}

// Follow does what follows from the changes of rows, which have been made: entries first go, then come, so that none meets the old
// value of another one's. own: foreign keys are enforced here. What refers to a row that has got another value is looked for when
// all have theirs, so that a value must not go from one row to another.
func (r *Runner) Follow(x Execution, f *Followed, own bool) error {
	r.Execution = x
	if len(f.rows) == 0 {
		return nil
	}
	t := f.Table
	_, err := r.program(&plan.Plan{}, f.snap, nil, own, func(w *rowWriter) error {
		if err := w.followEntries(f); err != nil {
			return err
		}
		if !own {
			return nil
		}
		if err := w.handedOn(f); err != nil {
			return err
		}
		var gone []found
		for i := range f.rows {
			if f.rows[i].now == nil {
				gone = append(gone, f.rows[i].was)
			}
		}
		if err := w.goodbye(t, gone, 0); err != nil {
			return err
		}
		if err := w.goneTogether(t, gone); err != nil {
			return err
		}
		for i := range f.rows {
			row := &f.rows[i]
			if row.now == nil {
				continue
			}
			if err := w.checkParents(referring{table: t, image: row.now, before: row.was.image, moved: row.to != row.was.group}, nil); err != nil {
				return err
			}
			if err := w.renamed(t, row.was.image, row.now, 0); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// followEntries brings the entries of all rows from what they were to what they are.
func (w *rowWriter) followEntries(f *Followed) error {
	for _, x := range f.Table.Global {
		var gone, fresh []*entry
		for i := range f.rows {
			old, now, err := w.entryChange(x, f.rows[i].was.image, f.rows[i].now)
			if err != nil {
				return err
			}
			if old != nil {
				gone = append(gone, old)
			}
			if now != nil {
				fresh = append(fresh, now)
			}
		}
		if err := w.removeEntries(x, gone); err != nil {
			return err
		}
		if err := w.addEntries(x, fresh); err != nil {
			return err
		}
	}
	return nil
}

// handedOn refuses rows of which one has got a value, referred to by others, that another one had: whose rows refer to it now would
// depend on the order in which a server changes them.
func (w *rowWriter) handedOn(f *Followed) error {
	children := w.related(f.Table).children
	for i := range children {
		columns := children[i].ParentColumns()
		had := map[string]int{}
		for n := range f.rows {
			if vals, ok := tuple(f.rows[n].was.image, columns); ok {
				had[rowID(vals)] = n + 1
			}
		}
		for n := range f.rows {
			vals, ok := tuple(f.rows[n].now, columns)
			if at := had[rowID(vals)]; ok && at != 0 && at != n+1 {
				return sqlerr.Unsupported("giving a row of table '"+f.Table.Name+"' the value of another one that foreign key '"+children[i].Key.Name+"' refers to",
					"change the rows one after the other")
			}
		}
	}
	return nil
}

// goneTogether refuses the deletion of rows of which one refers to another one: a server, which comes to them one after the other, deletes them or
// fails. By a key that does not cascade no row goes that refers to itself.
func (w *rowWriter) goneTogether(t *catalog.Table, gone []found) error {
	children := w.related(t).children
	for i := range children {
		r := &children[i]
		if r.Child != t {
			continue
		}
		at := map[string]int{}
		for n := range gone {
			if text, ok := w.tupleText(t, r.ParentColumns(), gone[n].image); ok {
				at[text] = n + 1
			}
		}
		for n := range gone {
			text, ok := w.tupleText(t, r.Key.Columns, gone[n].image)
			switch to := at[text]; {
			case !ok || to == 0:
			case to == n+1 && w.refersWhileItGoes(r):
				return refusal(r)
			case to != n+1:
				return sqlerr.Unsupported("deleting rows of table '"+t.Name+"' that refer to each other by foreign key '"+r.Key.Name+"'",
					"set the key to NULL first, or delete the rows that refer before those that they refer to")
			}
		}
	}
	return nil
}
