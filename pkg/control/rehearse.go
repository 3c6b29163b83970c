package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// A change of columns that a server may refuse because of the rows it has, such as VARCHAR(40) to VARCHAR(20), cannot be taken back:
// values that were converted are gone. So that one group's refusal does not leave the others changed, it is rehearsed on every group
// that has rows before the first is changed: the statement runs on an empty copy of the table, which then is to take all rows.
// A rehearsal decides nothing but the order. The group that would refuse is asked first, and its server's own words end the job.
// What is written between the rehearsal and the change is not rehearsed.

// rehearsal is what every group tries.
type rehearsal struct {
	Table ddl.Object `json:"table"`
	// Copy is the name of the copy in our own database, SQL the statement about it.
	Copy string `json:"copy"`
	SQL  string `json:"sql"`
	// Into and From are the columns of the copy that take values, and those of the table that have them.
	Into []string `json:"into"`
	From []string `json:"from"`
}

// rehearse notes the rehearsal of a change of old that rows may hinder and that cannot be taken back.
func (p *planner) rehearse(o ddl.Name, old *catalog.Table, before, after *schema.Definition) {
	if old.Kind == catalog.Single || p.st.RenameTo != nil || p.work.Step.Undo != nil {
		return
	}
	r := &rehearsal{Table: o.Object, Copy: schema.Trial(p.id, "_p").Name}
	risky := !slices.Equal(before.Checks, after.Checks) || p.st.Mentions("PARTITION")
	for name := range after.Full {
		risky = risky || after.Unique[name] && !(before.Unique[name] && len(before.Full[name]) == len(after.Full[name]))
	}
	came := p.came(before)
	for i := range after.Table.Columns {
		c := &after.Table.Columns[i]
		from := came[strings.ToLower(c.Name)]
		switch {
		case c.Generated:
			risky = risky || from == nil || *from != *c
		case from == nil:
			risky = risky || !c.Nullable && !c.HasDefault && c.Type.IsTemporal() // a server may refuse 0000-00-00
		default:
			risky = risky || !holdsAll(from, c)
			r.Into, r.From = append(r.Into, ddl.QuoteName(c.Name)), append(r.From, ddl.QuoteName(from.Name))
		}
	}
	if !risky || len(r.Into) == 0 {
		return
	}
	r.SQL = p.st.Rewrite(o.As(ddl.Object{DB: catalog.OwnDB, Name: r.Copy}))
	p.work.Rehearsal = r
}

// came returns what the columns were before the statement, by their lower-case names afterwards.
func (p *planner) came(before *schema.Definition) map[string]*catalog.Column {
	renamed, dropped := p.st.RenamedColumns(), p.st.DroppedColumns()
	out := map[string]*catalog.Column{}
	for i := range before.Table.Columns {
		c := &before.Table.Columns[i]
		name := strings.ToLower(c.Name)
		if to, ok := renamed[name]; ok {
			name = strings.ToLower(to)
		} else if dropped[name] {
			continue
		}
		out[name] = c
	}
	return out
}

// holdsAll reports whether column b takes every value that column a may have. It may say no where it does: then the change is
// rehearsed, which takes time.
func holdsAll(a, b *catalog.Column) bool {
	if sharding.KeepsEntries(a, b) {
		return true
	}
	if a.Nullable && !b.Nullable || a.Charset != b.Charset || a.Collation != b.Collation {
		return false
	}
	texts := []string{"tinytext", "text", "mediumtext", "longtext"}
	blobs := []string{"tinyblob", "blob", "mediumblob", "longblob"}
	for _, larger := range [][]string{texts, blobs} {
		if from, to := slices.Index(larger, a.DataType), slices.Index(larger, b.DataType); from >= 0 && to >= from {
			return true
		}
	}
	if a.DataType != b.DataType {
		return false
	}
	switch a.DataType {
	case "char":
		return a.Length <= b.Length
	case "decimal":
		return a.Unsigned == b.Unsigned && a.Scale <= b.Scale && a.Precision-a.Scale <= b.Precision-b.Scale
	case "time", "datetime", "timestamp":
		return a.Scale <= b.Scale
	case "enum", "set":
		return strings.HasPrefix(b.ColumnType, strings.TrimSuffix(a.ColumnType, ")")+",")
	}
	return false
}

// rehearse tries the change on copies of all groups that have not changed yet, and lets the one begin that would refuse.
func (d *schemaChange) rehearse(ctx context.Context) error {
	w := d.job.Work
	if w.Rehearsal == nil || len(d.servers) == 1 {
		return nil
	}
	for i, s := range d.servers {
		if s == nil {
			return nil
		}
		if ran, err := d.ran(ctx, i); err != nil || ran {
			return err // a leader that died has begun
		}
	}
	refused := make([]bool, len(d.servers))
	var g errgroup.Group
	for i := range d.servers {
		g.Go(func() (err error) {
			refused[i], err = d.rehearseOn(ctx, i)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if i := slices.Index(refused, true); i >= 0 && d.snap.Groups[i].ID != w.First {
		w.First = d.snap.Groups[i].ID
		return d.leader.save(ctx, d.job)
	}
	return nil
}

// rehearseOn reports whether the ith group's rows hinder the change. It does so on a connection of its own.
func (d *schemaChange) rehearseOn(ctx context.Context, i int) (refused bool, err error) {
	r, group := d.job.Work.Rehearsal, d.snap.Groups[i]
	s, err := schema.Dial(ctx, group.Label(), group.Primary)
	if err != nil {
		return false, err
	}
	defer s.Close()
	made := ddl.Object{DB: catalog.OwnDB, Name: r.Copy}
	if _, err := s.Exec(ctx, "SET SESSION sql_log_bin = 0"); err != nil {
		var no *sqlerr.Error
		if !errors.As(err, &no) { // an account that may not say so writes the copy to the log
			return false, err
		}
	}
	defer func() {
		if _, drop := s.Exec(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+made.SQL()); err == nil {
			err = drop
		}
	}()
	if err := s.EmptyCopy(ctx, r.Table, made); err != nil {
		return false, err
	}
	if err := s.Use(ctx, d.job.DDL.Session); err != nil {
		return false, err
	}
	for _, q := range []string{"SET SESSION foreign_key_checks = 0", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", // writers go on
		r.SQL, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s", made.SQL(), strings.Join(r.Into, ", "), strings.Join(r.From, ", "), r.Table.SQL())} {
		if _, err := s.Exec(ctx, q); err != nil {
			var no *sqlerr.Error
			if errors.As(err, &no) {
				return true, nil
			}
			return false, err
		}
	}
	return false, nil
}
