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
	"skarv/pkg/sqlerr"
)

// A change of columns that a server may refuse because of the rows it has, such as VARCHAR(40) to VARCHAR(20), cannot be taken back:
// values that were converted are gone. So that one group's refusal does not leave the others changed, it is rehearsed on every group
// that has rows before the first is changed: the statement runs on an empty copy of the table, which then is to take all rows, or on a copy
// that has them where only that tells (Rehearsal.Filled).
// A rehearsal decides nothing but the order. The group that would refuse is asked first, and its server's own words end the job.
// What is written between the rehearsal and the change is not rehearsed, unless the table is closed for new global indexes: these get their
// entries from the copies.

// rehearse tries the change on copies of all groups that have not changed yet, and lets the one begin that would refuse. Rows that each
// server would number for itself are refused.
func (d *schemaChange) rehearse(ctx context.Context) error {
	w := d.job.Work
	if w.Unnumbered == "" && w.Rehearsal == nil && len(w.Orphans)+len(w.Keys) == 0 {
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
	if err := d.checkKeys(ctx, true); err != nil || len(d.servers) == 1 {
		return err
	}
	for _, s := range d.servers {
		if w.Unnumbered == "" {
			break
		}
		found, err := s.One(ctx, w.Unnumbered)
		if err != nil {
			return err
		}
		if found == "1" {
			return sqlerr.Unsupported("making a column AUTO_INCREMENT in a table that has rows with 0 or NULL in it", "UPDATE them to numbers first")
		}
	}
	if w.Rehearsal == nil && len(w.Orphans) == 0 {
		return nil
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
	} else if i < 0 && w.BuildClosed {
		return d.fillFromCopies(ctx)
	}
	return nil
}

// rehearseOn reports whether the ith group's rows hinder the change. It does so on a connection of its own.
func (d *schemaChange) rehearseOn(ctx context.Context, i int) (refused bool, err error) {
	r, group := d.job.Work.Rehearsal, d.snap.Groups[i]
	s, err := d.leader.servers.Dial(ctx, group.Label(), group.Primary)
	if err != nil {
		return false, err
	}
	defer s.Close()
	for _, q := range d.job.Work.Orphans {
		if found, err := s.One(ctx, q); err != nil || found == "1" {
			return true, err
		}
	}
	if r == nil {
		return false, nil
	}
	made := ddl.Object{DB: catalog.OwnDB, Name: r.Copy}
	if err := unlogged(ctx, s); err != nil {
		return false, err
	}
	defer func() {
		if err == nil && !refused && d.job.Work.BuildClosed {
			return // see fillFromCopies
		}
		if _, drop := s.Exec(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+made.SQL()); err == nil {
			err = drop
		}
	}()
	if err := s.EmptyCopy(ctx, d.job.ID, r.Table, made); err != nil {
		return false, err
	}
	if _, err := s.Exec(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"); err != nil { // writers go on
		return false, err
	}
	fill := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s", made.SQL(), strings.Join(r.Into, ", "), strings.Join(r.From, ", "), r.Table.SQL())
	if r.Filled { // with the rows as they are
		for _, q := range []string{"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", fill} {
			if _, err := s.Exec(ctx, q); err != nil {
				return false, err
			}
		}
	}
	if err := s.Use(ctx, d.job.DDL.Session); err != nil {
		return false, err
	}
	steps := []string{"SET SESSION foreign_key_checks = 0", r.SQL}
	if !r.Filled {
		steps = append(steps, fill)
	}
	for _, q := range steps {
		if err := s.Try(ctx, d.job.ID, q); err != nil {
			if _, ok := errors.AsType[*sqlerr.Error](err); ok {
				return true, nil
			}
			return false, err
		}
	}
	return false, nil
}

// unlogged keeps what is done on a connection out of the server's binary log. An account that may not say so writes it there.
func unlogged(ctx context.Context, s *schema.Server) error {
	_, err := s.Exec(ctx, "SET SESSION sql_log_bin = 0")
	if _, ok := errors.AsType[*sqlerr.Error](err); ok {
		return nil
	}
	return err
}
