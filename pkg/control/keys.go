package control

import (
	"context"
	"slices"
	"strings"

	"skarv/pkg/migration"
	"skarv/pkg/schema"
)

// alterBack takes a step back that has altered a table on s.
func (d *schemaChange) alterBack(ctx context.Context, s *schema.Server, a *migration.Altered) error {
	create, err := plainText(ctx, s, a)
	if err != nil {
		return err
	}
	if sql := a.SQL(create); sql != "" {
		if _, err := s.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return s.Use(ctx, d.job.DDL.Session)
}

// plainText is the text of an altered table as any connection quotes it, on one that is told to look for no parents.
func plainText(ctx context.Context, s *schema.Server, a *migration.Altered) (string, error) {
	if _, err := s.Exec(ctx, "SET SESSION foreign_key_checks = 0, SESSION sql_mode = ''"); err != nil {
		return "", err
	}
	return schema.ReadCreate(ctx, s, a.Table)
}

// evenKeys gives an altered table the same keys on all servers, where some have dropped what they had made for a foreign key and others
// did not know it for that: what the former did is what one server does.
func (d *schemaChange) evenKeys(ctx context.Context) error {
	a := d.job.Work.Step.Altered
	if a == nil || !a.Replaces || len(d.servers) == 1 {
		return nil
	}
	texts := make([]string, len(d.servers))
	model, kept := 0, 0
	for i, s := range d.servers {
		var err error
		if texts[i], err = plainText(ctx, s, a); err != nil {
			return err
		}
		n := len(slices.DeleteFunc(migration.KeysOf(texts[i]), func(key string) bool { return !slices.Contains(a.Keys, key) }))
		if i == 0 || n < kept {
			model, kept = i, n
		}
	}
	keys := migration.KeysOf(texts[model])
	for i, s := range d.servers {
		if has := migration.KeysOf(texts[i]); slices.Equal(slices.Sorted(slices.Values(has)), slices.Sorted(slices.Values(keys))) || !onlyPlain(has, keys) {
			texts[i] = "" // the same, or what they differ in is to be told
		}
		if texts[i] != "" {
			if _, err := s.Exec(ctx, (&migration.Altered{Table: a.Table, Keys: keys}).SQL(texts[i])); err != nil {
				return err
			}
		}
		if err := s.Use(ctx, d.job.DDL.Session); err != nil {
			return err
		}
	}
	return d.leader.at("even")
}

// onlyPlain reports whether two tables differ in such keys only as servers make for foreign keys.
func onlyPlain(a, b []string) bool {
	unlike := func(x, y []string) bool {
		return slices.ContainsFunc(x, func(key string) bool { return !strings.HasPrefix(key, "KEY ") && !slices.Contains(y, key) })
	}
	return !unlike(a, b) && !unlike(b, a)
}
