package control

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
)

// Schema changes are made side by side where they have nothing to do with each other: a CREATE TABLE does not wait for the ALTER TABLE of another
// table that copies rows for an hour. What a change may have to do with is its scope. Those whose scopes meet are made one after the other, in
// the order in which they were asked for.
//
//	scope      from the text and the catalog   the objects it changes, and every word that may name one it needs
//	turn       no other has a scope that meets it; from now on it is planned by a catalog that shows what those before it have done
//	plan       may show that more is changed: the turn is given back, and taken again for that
//	the rest   see schemaChange; a change that has begun keeps its turn until it has ended, however often it is tried
//
// Who is elected next takes the turns of what had begun before anything else begins.

// lanes is how many schema changes are made at once. Each has its own connection to every server, fenced by the number of its lane.
const lanes = 8

// scope is what a schema change may change and what it may need. Names are folded: two that differ in case only meet.
type scope struct {
	everything bool
	objects    []ddl.Object // without a name: the database and all that is in it
	words      map[string]bool
	// constraints are names that servers want to be those of one constraint of a database, and copies of tables that changes are tried on are in
	// one database: those of foreign keys; and on MySQL checked is the database of a table with CHECK constraints, whose names nobody knows here.
	constraints map[string]bool
	checked     string
	entries     []string // tables of global indexes that it makes or drops
}

// meets reports whether one of two changes may change what the other changes or needs.
func (s *scope) meets(o *scope) bool {
	for name := range s.constraints {
		if o.constraints[name] {
			return true
		}
	}
	return s.everything || o.everything || s.reaches(o) || o.reaches(s) || s.checked != "" && o.checked != "" && s.checked != o.checked
}

// reaches reports whether s changes something that o mentions. An object is mentioned by its name beside that of its database.
func (s *scope) reaches(o *scope) bool {
	return slices.ContainsFunc(s.objects, func(x ddl.Object) bool { return o.words[x.DB] && (x.Name == "" || o.words[x.Name]) })
}

// add makes s be about what o is about as well.
func (s *scope) add(o *scope) {
	s.everything = s.everything || o.everything
	for _, x := range o.objects {
		if !slices.Contains(s.objects, x) {
			s.objects = append(s.objects, x)
		}
	}
	maps.Copy(s.words, o.words)
	maps.Copy(s.constraints, o.constraints)
	s.checked = cmp.Or(s.checked, o.checked)
	s.entries = append(s.entries, o.entries...)
}

// covers reports whether s is about all objects that o changes.
func (s *scope) covers(o *scope) bool {
	return s.everything || !o.everything && !slices.ContainsFunc(o.objects, func(x ddl.Object) bool {
		return !slices.Contains(s.objects, x) && !slices.Contains(s.objects, ddl.Object{DB: x.DB})
	})
}

// change adds an object that is changed.
func (s *scope) change(db, name string) {
	o := ddl.Object{DB: strings.ToLower(db), Name: strings.ToLower(name)}
	s.objects = append(s.objects, o)
	s.words[o.DB], s.words[o.Name] = true, true
}

// scopeOf is the scope of a job, as far as it is known: by its statement, and by its plan if it has one.
func scopeOf(j *job, snap *catalog.Snapshot) *scope {
	s := &scope{words: map[string]bool{}, constraints: map[string]bool{}}
	if j.Replicas != nil {
		j.Replicas.scope(s)
		return s
	}
	if j.DDL == nil {
		s.everything = true
		return s
	}
	st, err := ddl.Parse(j.DDL.SQL, j.DDL.DB, j.DDL.SQLMode, snap.Flavor, snap.ServerVersion)
	if err != nil {
		return s // nothing will be done
	}
	s.everything = st.Verb == ddl.SwitchEvents
	s.words[strings.ToLower(j.DDL.DB)] = true
	for _, w := range st.Words() {
		s.words[w] = true
	}
	for _, name := range st.Constraints() {
		s.constraints[name] = true
	}
	for _, o := range st.Objects {
		s.change(o.DB, o.Name)
		t := snap.Table(o.DB, o.Name)
		if snap.Flavor == catalog.MySQL && (t != nil && t.Checks || st.Mentions("CHECK")) {
			s.checked = strings.ToLower(o.DB)
		}
		if t == nil {
			continue
		}
		for i := range t.ForeignKeys {
			s.constraints[strings.ToLower(t.ForeignKeys[i].Name)] = true
		}
	}
	if st.RenameTo != nil {
		s.change(st.RenameTo.DB, st.RenameTo.Name)
	}
	if j.Work != nil {
		s.plan(j)
	}
	s.relatives(snap)
	return s
}

// plan adds what the job's work changes.
func (s *scope) plan(j *job) {
	w := j.Work
	for _, list := range [][]ddl.Object{w.Watched, w.Close, w.Appear, w.Drop, w.Routines} {
		for _, o := range list {
			s.change(o.DB, o.Name)
		}
	}
	for _, r := range w.Refresh {
		s.change(r.DB, r.Name)
		if r.Old != nil {
			s.change(r.Old.DB, r.Old.Name)
		}
	}
	for _, db := range []string{w.PutDB, w.DropDB} {
		if db != "" {
			s.change(db, "")
		}
	}
	s.everything = s.everything || w.EventsOff != nil
	s.entries = j.entries()
}

// relatives adds the tables that foreign keys join to those which are changed: what the catalog says of children may change with their parents.
func (s *scope) relatives(snap *catalog.Snapshot) {
	for _, o := range slices.Clone(s.objects) {
		for _, db := range snap.Databases {
			if !strings.EqualFold(db.Name, o.DB) {
				continue
			}
			for _, t := range db.Tables {
				if o.Name == "" || strings.EqualFold(t.Name, o.Name) {
					s.relativesOf(snap, t)
				}
			}
		}
	}
}

func (s *scope) relativesOf(snap *catalog.Snapshot, t *catalog.Table) {
	parents, children, _ := snap.Relations(t)
	for _, r := range parents {
		s.words[strings.ToLower(r.Key.RefDB)], s.words[strings.ToLower(r.Key.RefTable)] = true, true
	}
	for _, r := range children {
		s.change(r.Child.Database, r.Child.Name)
	}
}

// queue hands out turns. The zero queue has none.
type queue struct {
	mu      sync.Mutex
	turns   []*turn
	ready   bool          // those who had begun under a leader before have their turns
	changed chan struct{} // closed at the next change of any of this; nil: nobody waits
}

// turn is that of one job. It is not used concurrently, but for what is guarded by the queue's mu.
type turn struct {
	q  *queue
	id string

	// Guarded by q.mu.
	scope *scope // nil: asks for nothing
	has   bool   // has its turn; else it waits
	lane  int
	taken int // how often it was its turn
}

// join returns the turn of a job, which asks for nothing yet. The caller leaves it in the end.
func (q *queue) join(id string) *turn {
	t := &turn{q: q, id: id}
	q.mu.Lock()
	q.turns = append(q.turns, t)
	q.mu.Unlock()
	return t
}

// begun makes it the job's turn whoever else has one, for it has begun under a leader before.
func (t *turn) begun(s *scope) {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.scope = s
	t.start()
}

// open lets other jobs begin as well.
func (q *queue) open() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready = true
	q.wake()
}

// take waits until it is the job's turn, of a scope that covers s. If it was already, of another scope, it gives that one back first.
func (t *turn) take(ctx context.Context, s *scope) error {
	q := t.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.has && t.scope.covers(s) {
		return nil
	}
	t.has, t.scope = false, s
	q.wake()
	for !q.ready || !q.admits(t) {
		if err := q.wait(ctx); err != nil {
			return fmt.Errorf("wait for other schema changes: %w", err)
		}
	}
	t.start()
	return nil
}

// keeps has the turn be about s as well, and reports whether it can: it is about all that s changes, and meets nobody else who has a turn.
func (t *turn) keeps(s *scope) bool {
	q := t.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if !t.scope.covers(s) || slices.ContainsFunc(q.turns, func(u *turn) bool { return u != t && u.has && u.scope.meets(s) }) {
		return false
	}
	t.scope.add(s)
	return true
}

// keeps reports whether a table of a global index is one that a job makes or drops whose turn it is.
func (q *queue) keeps(name string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.turns, func(t *turn) bool { return t.has && slices.Contains(t.scope.entries, name) })
}

// start makes it t's turn. q.mu is held.
func (t *turn) start() {
	t.lane = 0
	for slices.ContainsFunc(t.q.turns, func(u *turn) bool { return u != t && u.has && u.lane == t.lane }) {
		t.lane++
	}
	t.has = true
	t.taken++
}

// leave ends it.
func (t *turn) leave() {
	q := t.q
	q.mu.Lock()
	defer q.mu.Unlock()
	t.has = false
	q.turns = slices.DeleteFunc(q.turns, func(u *turn) bool { return u == t })
	q.wake()
}

// admits reports whether it can be t's turn: none that has its turn is in the way, nor one that waits for longer. q.mu is held.
func (q *queue) admits(t *turn) bool {
	running := 0
	for _, u := range q.turns {
		switch {
		case u == t || u.scope == nil:
			continue
		case u.has:
			running++
		}
		if (u.has || u.id < t.id) && u.scope.meets(t.scope) {
			return false
		}
	}
	return running < lanes
}

// Settle waits until all schema changes have ended that had their turn when it was called. What begins later sees what was written before.
func (q *queue) Settle(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.ready {
		if err := q.wait(ctx); err != nil {
			return err
		}
	}
	running := map[*turn]int{}
	for _, t := range q.turns {
		if t.has {
			running[t] = t.taken
		}
	}
	for t, taken := range running {
		for t.has && t.taken == taken {
			if err := q.wait(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// wait waits for a change. q.mu is held before and behind it.
func (q *queue) wait(ctx context.Context) error {
	if q.changed == nil {
		q.changed = make(chan struct{})
	}
	changed := q.changed
	q.mu.Unlock()
	defer q.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wake tells all that wait of a change. q.mu is held.
func (q *queue) wake() {
	if q.changed != nil {
		close(q.changed)
		q.changed = nil
	}
}
