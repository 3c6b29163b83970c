package audit

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/workspace"
)

// connections are those of one check, which closes them.
type connections struct {
	snap    *catalog.Snapshot
	dialer  schema.Dialer
	servers map[string]*schema.Server // by use and node group
}

func (c *connections) close() {
	for _, s := range c.servers {
		s.Close()
	}
}

// on returns a connection to a node group, one for each use.
func (c *connections) on(ctx context.Context, use string, id placement.NodeGroupID) (*schema.Server, error) {
	name := fmt.Sprint(use, id)
	if s := c.servers[name]; s != nil {
		return s, nil
	}
	g := c.snap.Group(id)
	if g == nil {
		return nil, fmt.Errorf("node group %d is gone", id)
	}
	s, err := c.dialer.Dial(ctx, g.Label(), g.Primary)
	if err != nil {
		return nil, err
	}
	if c.servers == nil {
		c.servers = map[string]*schema.Server{}
	}
	c.servers[name] = s
	return s, s.Use(ctx, schema.Session{SQLMode: "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO", Set: []string{"SET SESSION time_zone = '+00:00'"}})
}

// owner is the node group of the row of t with these key values.
func (c *connections) owner(t *catalog.Table, values [][]byte) (placement.NodeGroupID, error) {
	var vals []sqltypes.Value
	for i, d := range t.Distribution {
		vals = append(vals, workspace.KeyValue(&t.Columns[d], values[i]))
	}
	p, _, match := t.Key.Partition(nil, vals, placement.Stored)
	if match != placement.Exact {
		return 0, sqlerr.Unsupported(fmt.Sprintf("a value in table '%s' that has no canonical text", t.Name),
			"look for values of its distribution key that its columns' types do not print, and write them anew")
	}
	return c.snap.Map.Owner(p), nil
}

// entryOwner is the node group of the entry with a value of the unique key; e is the table of entries.
func (c *connections) entryOwner(e *catalog.Table, unit [][]byte) (placement.NodeGroupID, error) {
	var placed [][]byte
	for _, i := range e.Distribution {
		placed = append(placed, unit[i])
	}
	return c.owner(e, placed)
}

// inUTC is the text of a moment, in seconds since 1970, as a TIMESTAMP shows it in UTC.
func inUTC(seconds string) string {
	whole, fraction, point := strings.Cut(seconds, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return seconds
	}
	text := time.Unix(n, 0).UTC().Format(time.DateTime)
	if point {
		text += "." + fraction
	}
	return text
}

// selectList reads columns in the form that keys are compared in.
func selectList(t *catalog.Table, columns []int) string {
	var list []string
	for _, i := range columns {
		list = append(list, workspace.ReadKey(t.At(i)))
	}
	return strings.Join(list, ", ")
}

// equal is the condition that columns have values.
func equal(t *catalog.Table, columns []int, values [][]byte) string {
	var list []string
	for i, n := range columns {
		list = append(list, sqltypes.QuoteName(t.Columns[n].Name)+" = "+string(workspace.AppendKeyValue(nil, &t.Columns[n], values[i])))
	}
	return strings.Join(list, " AND ")
}

// after is the condition for rows behind the one with these values in the order of columns.
func after(t *catalog.Table, columns []int, values [][]byte) string {
	if values == nil {
		return ""
	}
	var or []string
	for i := range columns {
		cond := sqltypes.QuoteName(t.Columns[columns[i]].Name) + " > " + string(workspace.AppendKeyValue(nil, &t.Columns[columns[i]], values[i]))
		if i > 0 {
			cond = equal(t, columns[:i], values[:i]) + " AND " + cond
		}
		or = append(or, "("+cond+")")
	}
	return " WHERE " + strings.Join(or, " OR ")
}
