package virtualdb

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/rowset"
)

// nodeGroups is the node groups, as this process finds them.
func (c *Cluster) nodeGroups(v *Viewer) (*rowset.Table, error) {
	t := rowset.New("#id", "name", "primary_addr", "version", "#partitions", "state", "last_error")
	for _, g := range v.Snapshot.Groups {
		state := "down"
		h := c.Pools.Health(g.ID)
		if h.Up {
			state = "up"
		}
		t.Add(int(g.ID), g.Name, g.Primary.Addr, g.Primary.Version, len(v.Snapshot.Map.Owned(g.ID)), state, h.LastError)
	}
	return t, nil
}

// tables is where the rows of all tables live.
func (c *Cluster) tables(v *Viewer) (*rowset.Table, error) {
	t := rowset.New("table_schema", "table_name", "kind", "distribution_key", "#node_group")
	for _, db := range slices.Sorted(maps.Keys(v.Snapshot.Databases)) {
		d := v.Snapshot.Databases[db]
		for _, name := range slices.Sorted(maps.Keys(d.Tables)) {
			tab := d.Tables[name]
			var keys []string
			for _, c := range tab.Distribution {
				keys = append(keys, tab.Columns[c].Name)
			}
			var group any
			if tab.Kind == catalog.Single {
				group = int(tab.Group)
			}
			t.Add(db, name, string(tab.Kind), strings.Join(keys, ","), group)
		}
	}
	return t, nil
}

// perSecond is a rate as a row shows it.
type perSecond float64

func (r perSecond) String() string { return strconv.FormatFloat(float64(r), 'f', 3, 64) }

// partitions is the partition map, and how busy all processes together find the partitions.
func (c *Cluster) partitions(v *Viewer) (*rowset.Table, error) {
	rates, err := ask(c.PartitionLoad)
	if err != nil {
		return nil, err
	}
	t := rowset.New("#partition_id", "#node_group", "#epoch", "#statements_per_second")
	for i := range placement.Partitions {
		t.Add(i, int(v.Snapshot.Map.Owner(placement.Partition(i))), v.Snapshot.Map.Epoch(), perSecond(rates[i]))
	}
	return t, nil
}
