package catalog

import (
	"fmt"
	"slices"

	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// Key is the column, of servers of flavor, as a part of a distribution key; the error is an *sqlerr.Error.
func (c *Column) Key(flavor Flavor) (placement.KeyColumn, error) {
	return placement.NewKeyColumn(placement.ColumnSpec{
		Name:       c.Name,
		DataType:   c.DataType,
		ColumnType: c.ColumnType,
		Collation:  c.Collation,
		Length:     c.Length,
		Precision:  c.Precision,
		Scale:      c.Scale,
		Nullable:   c.Nullable,
		Flavor:     string(flavor),
	})
}

// DefaultDistribution is the distribution key of a table that is given none: the columns of its primary key, without those that cannot be
// hashed, or of which the key has the beginning only, where there are others.
func (t *Table) DefaultDistribution(flavor Flavor) []int {
	primary := t.PrimaryKey()
	whole := primary.Whole()
	hashed := slices.DeleteFunc(slices.Clone(t.Primary), func(c int) bool {
		_, err := t.Columns[c].Key(flavor)
		return err != nil || t.Columns[c].Generated || !slices.Contains(whole, c)
	})
	if len(hashed) == 0 {
		return slices.Clone(t.Primary)
	}
	return hashed
}

// Prepare makes t ready for use on servers of flavor: it fills Key from Columns and Distribution. It must be called before
// the table is published in a Snapshot. The error is an *sqlerr.Error for a distribution key that cannot be hashed.
func (t *Table) Prepare(flavor Flavor) error {
	t.Key, t.Global, t.hidden = nil, nil, nil
	if t.Kind != Sharded {
		return nil
	}
	if len(t.Distribution) == 0 {
		return sqlerr.Internal.New(fmt.Sprintf("table '%s.%s' is sharded but has no distribution key", t.Database, t.Name))
	}
	key := make(placement.Key, 0, len(t.Distribution))
	for _, i := range t.Distribution {
		if i < 0 || i >= len(t.Columns) {
			return sqlerr.Internal.New(fmt.Sprintf("table '%s.%s' has no column %d for its distribution key",
				t.Database, t.Name, i))
		}
		c := &t.Columns[i]
		if c.Generated {
			return sqlerr.Unsupported(fmt.Sprintf("generated column '%s' as distribution key", c.Name),
				"distribute by the columns it is made of: the proxy cannot compute its value")
		}
		column, err := c.Key(flavor)
		if err != nil {
			return err
		}
		key = append(key, column)
	}
	t.Key = key
	return t.prepareGlobal(flavor)
}
