package control

import (
	"context"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/migration"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Foreign keys of a table that is made anew, and those of others to it, are taken off on a server before the tables change places there, and put on when
// they have, or have changed back; so are its triggers, and on MySQL CHECK constraints. Whoever goes on with the job looks, one by one, which are off.

// takeOff takes off what is attached, on a server on which the tables are about to change places.
func (d *schemaChange) takeOff(ctx context.Context, s *schema.Server) error {
	if err := d.dropTriggers(ctx, s); err != nil {
		return err
	}
	return d.eachAttached(ctx, s, func(a *migration.Attached, create string) error {
		return alter(ctx, s, a.Table, a.Off(create))
	})
}

// putOn puts on what is off on a server, on which the tables have changed places or not. No rows are looked at for foreign keys: they were obeyed before, and
// nobody has used the tables since.
func (d *schemaChange) putOn(ctx context.Context, s *schema.Server, changed bool) error {
	if err := d.putKeysOn(ctx, s, changed); err != nil {
		return err
	}
	r := d.job.Work.Rebuild
	if r == nil || len(r.Triggers) == 0 {
		return nil
	}
	if err := d.dropTriggers(ctx, s); err != nil { // in the order in which they are made they fire
		return err
	}
	for i := range r.Triggers {
		if err := r.Triggers[i].Create(ctx, s); err != nil {
			return err
		}
	}
	return s.Use(ctx, d.job.DDL.Session)
}

// dropTriggers drops those of the table.
func (d *schemaChange) dropTriggers(ctx context.Context, s *schema.Server) error {
	if d.job.Work.Rebuild == nil {
		return nil
	}
	for _, tr := range d.job.Work.Rebuild.Triggers {
		if _, err := s.Exec(ctx, "DROP TRIGGER IF EXISTS "+tr.SQL()); err != nil {
			return err
		}
	}
	return nil
}

// putKeysOn is putOn of foreign keys and CHECK constraints.
func (d *schemaChange) putKeysOn(ctx context.Context, s *schema.Server, changed bool) error {
	return d.eachAttached(ctx, s, func(a *migration.Attached, create string) error {
		if err := alter(ctx, s, a.Table, a.On(create)); err != nil {
			return err
		}
		create, err := schema.ReadCreate(ctx, s, a.Table)
		if err != nil {
			return err
		}
		keys := a.Keys
		if a.Before != nil && !changed {
			keys = a.Before
		}
		if sql := (&migration.Altered{Table: a.Table, Keys: keys}).SQL(create); sql != "" {
			_, err = s.Exec(ctx, sql)
		}
		return err
	})
}

// eachAttached calls f with the tables that have keys and constraints to be taken off or put on, and their texts on a server.
func (d *schemaChange) eachAttached(ctx context.Context, s *schema.Server, f func(a *migration.Attached, create string) error) error {
	r := d.job.Work.Rebuild
	if r == nil || len(r.Attached) == 0 {
		return nil
	}
	if err := d.asWritten(ctx, s); err != nil {
		return err
	}
	for i := range r.Attached {
		create, err := schema.ReadCreate(ctx, s, r.Attached[i].Table)
		if err != nil {
			return err
		}
		if err := f(&r.Attached[i], create); err != nil {
			return err
		}
	}
	return s.Use(ctx, d.job.DDL.Session)
}

// alter alters a table by parts, if there are any, whose names are those of its database.
func alter(ctx context.Context, s *schema.Server, o ddl.Object, parts []string) error {
	if len(parts) == 0 {
		return nil
	}
	if _, err := s.Exec(ctx, "USE "+sqltypes.QuoteName(o.DB)); err != nil {
		return err
	}
	_, err := s.Exec(ctx, "ALTER TABLE "+o.SQL()+" "+strings.Join(parts, ", "))
	return err
}

// asWritten lets a server write and read foreign keys as they are in texts, and look at no rows for them.
func (d *schemaChange) asWritten(ctx context.Context, s *schema.Server) error {
	_, err := s.Exec(ctx, "SET SESSION foreign_key_checks = 0, SESSION sql_mode = ''")
	if err == nil && d.snap.Flavor == catalog.MySQL { // it has keys that it would not make
		_, err = s.Exec(ctx, "SET SESSION restrict_fk_on_non_standard_key = OFF")
		if sqlerr.HasCode(err, sqlerr.UnknownSystemVariable) {
			err = nil
		}
	}
	return err
}

// withoutOwn takes off o, which is like the table that is made anew, what off says of what that one has.
func withoutOwn(ctx context.Context, s *schema.Server, r *migration.Rebuild, o ddl.Object, off func(a *migration.Attached, create string) []string) error {
	for i := range r.Attached {
		if a := &r.Attached[i]; a.Table == r.Table {
			create, err := schema.ReadCreate(ctx, s, o)
			if err != nil {
				return err
			}
			return alter(ctx, s, o, off(a, create))
		}
	}
	return nil
}
