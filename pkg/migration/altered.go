package migration

import (
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
)

// Altered is what there is to know about the keys of a table that a step alters. Servers make an index for a foreign key whose columns have none,
// and drop it by themselves, also when the foreign key is gone, once a new key begins with its columns: another foreign key over
// the same ones gets an index of its own name in its place. Nothing that they show tells such an index from others, and copies of the table that
// are made from its text, as those for trials and those on new node groups, have an ordinary one instead, which stays.
type Altered struct {
	Table ddl.Object `json:"table"` // as it is called then
	// Keys are the keys before, as the table's text has them.
	Keys []string `json:"keys"`
	// Replaces: the step makes a key for which servers may drop one, each for itself.
	Replaces bool `json:"replaces,omitempty"`
	// Back are the parts of an ALTER TABLE that takes the step back, but for keys; nil if that cannot be.
	Back []string `json:"back"`
}

// Exact reports whether the step can be taken back so that nothing tells that it ran. An index that a server had made by itself is, put
// back, an ordinary one.
func (a *Altered) Exact() bool { return a.Back != nil && !a.Replaces }

// SQL is the statement that takes Back what the step did to a table with this text, and gives it Keys again, "" if there is nothing to do.
func (a *Altered) SQL(create string) string {
	parts, now := slices.Clone(a.Back), KeysOf(create)
	for _, key := range now {
		if !slices.Contains(a.Keys, key) {
			parts = append(parts, "DROP INDEX "+keyName.FindString(key))
		}
	}
	behind := false // one that is added comes behind all others
	for _, key := range a.Keys {
		plain := strings.HasPrefix(key, "KEY ")
		switch {
		case !slices.Contains(now, key):
			parts = append(parts, "ADD "+key)
			behind = behind || plain
		case behind && plain:
			parts = append(parts, "DROP INDEX "+keyName.FindString(key), "ADD "+key)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "ALTER TABLE " + a.Table.SQL() + " " + strings.Join(parts, ", ")
}

var (
	keyLine = regexp.MustCompile("(?m)^  ((?:UNIQUE |FULLTEXT |SPATIAL |VECTOR )?KEY `.*?),?$")
	keyName = regexp.MustCompile("`(?:[^`]|``)+`")
)

// KeysOf are the keys in the text of a table, but for the primary one.
func KeysOf(create string) []string {
	keys := []string{}
	for _, m := range keyLine.FindAllStringSubmatch(create, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// replaces reports whether a key that the statement makes begins with the columns of an index that was there and may be one that servers
// have made by themselves.
func replaces(before, after *schema.Definition) bool {
	columns := func(t *catalog.Table, at []int) []string {
		var names []string
		for _, c := range at {
			names = append(names, strings.ToLower(t.Columns[c].Name))
		}
		return names
	}
	all := func(d *schema.Definition) map[string][]string {
		keys := map[string][]string{"PRIMARY": columns(d.Table, d.Table.Primary)}
		for _, x := range slices.Concat(d.Table.Unique, d.Table.Indexes) {
			keys[x.Name] = columns(d.Table, x.Columns)
		}
		return keys
	}
	was := all(before)
	var made [][]string
	for name, key := range all(after) {
		if !slices.Equal(key, was[name]) {
			made = append(made, key)
		}
	}
	for i := range after.Table.ForeignKeys {
		fk := &after.Table.ForeignKeys[i]
		if !slices.ContainsFunc(before.Table.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Name == fk.Name }) {
			made = append(made, columns(after.Table, fk.Columns))
		}
	}
	return slices.ContainsFunc(before.Table.Indexes, func(x catalog.Index) bool {
		key := was[x.Name]
		return !x.Partial && !x.Fulltext && slices.ContainsFunc(made, func(m []string) bool { return len(m) >= len(key) && slices.Equal(m[:len(key)], key) })
	})
}
