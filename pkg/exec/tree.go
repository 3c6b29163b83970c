package exec

import (
	"bytes"
	"cmp"
	"strconv"

	"skarv/pkg/merge"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// collations are those a Runner has sorted by: looking one up fills its tables.
type collations map[string]*sqltypes.Collation

// sortKeys are the keys of an order over columns.
func (r *Runner) sortKeys(order []plan.Order, columns []sqltypes.Column) ([]merge.Key, error) {
	r.know()
	return r.collations.keys(order, columns)
}

// know makes r.collations ready.
func (r *Runner) know() {
	if r.collations == nil {
		r.collations = collations{}
	}
}

// compare returns the comparison by a collation, nil for one that is not known.
func (c collations) compare(name string) func(a, b []byte) int {
	collation := c[name]
	if collation == nil {
		var err error
		if collation, err = sqltypes.LookupCollation(name, false); err != nil {
			return nil
		}
		c[name] = collation
	}
	return collation.CompareFunc()
}

// build makes the row stream of a plan's steps over r.streams, and its columns.
func (r *Runner) build(n plan.Node, a *Arguments) (merge.Source, []sqltypes.Column, error) {
	switch node := n.(type) {
	case *plan.Fragment:
		columns, err := r.columnsOf()
		if err != nil {
			return nil, nil, err
		}
		if len(r.streams) == 1 {
			return &r.streams[0], columns, nil
		}
		return merge.NewConcat(r.sources()), columns, nil
	case *plan.Merge:
		source, columns, err := r.build(node.Input, a)
		if err != nil || len(node.Order) == 0 || len(r.streams) == 1 {
			return source, columns, err
		}
		if _, ok := node.Input.(*plan.Fragment); !ok {
			return nil, nil, sqlerr.Internal.New("only the streams of a fragment can be merged")
		}
		keys, err := r.collations.keys(node.Order, columns)
		if err != nil {
			return nil, nil, err
		}
		for i := range keys {
			keys[i].Tied = r.tied(node.Order[i], keys[i].Class)
		}
		return merge.NewSorted(r.sources(), keys), columns, nil
	case *plan.Aggregate:
		source, columns, err := r.build(node.Input, a)
		if err != nil {
			return nil, nil, err
		}
		return r.collations.aggregate(node, source, columns, a != nil && a.Binary)
	case *plan.Distinct:
		source, columns, err := r.build(node.Input, a)
		if err != nil {
			return nil, nil, err
		}
		keys, err := r.collations.keys(node.Columns, columns)
		if err != nil {
			return nil, nil, err
		}
		return merge.NewDistinct(source, keys), columns, nil
	case *plan.Limit:
		source, columns, err := r.build(node.Input, a)
		if err != nil {
			return nil, nil, err
		}
		l, err := r.settled(node)
		if err != nil {
			return nil, nil, err
		}
		if node.All || node.Offset != nil {
			if l.count == 0 && !node.Skips {
				l.offset = 0
			}
			return merge.NewCountedLimit(source, l.offset, l.count, node.All, &r.found), columns, nil
		}
		return merge.NewLimit(source, l.offset, l.count), columns, nil
	case *plan.Sort:
		source, columns, err := r.build(node.Input, a)
		if err != nil {
			return nil, nil, err
		}
		keys, err := r.collations.keys(node.Order, columns)
		if err != nil {
			return nil, nil, err
		}
		sorted := merge.NewSort(source, keys, sortMemory/max(1, r.Sorting))
		r.opened = append(r.opened, sorted)
		return sorted, columns, nil
	case *plan.Project:
		source, columns, err := r.build(node.Input, a)
		if err != nil {
			return nil, nil, err
		}
		if node.Keep > len(columns) {
			return nil, nil, missingColumn(node.Keep-1, columns)
		}
		return merge.NewProject(source, node.Keep), columns[:node.Keep:node.Keep], nil
	}
	return nil, nil, sqlerr.Internal.New("plan step unknown to the executor")
}

// sortLength is the servers' max_sort_length unless a session sets it, and sortMargin what they may put of other things into as many bytes.
const (
	sortLength = 1024
	sortMargin = 16
)

// tied is merge.Key.Tied of a key of that class. Strings that are compared whole have different weights if they differ.
func (r *Runner) tied(o plan.Order, class merge.Class) func(a, b []byte) bool {
	if class != merge.Bytes && class != merge.Collate {
		return nil
	}
	limit := cmp.Or(r.SortLength, sortLength)
	limit = max(1, limit-sortMargin)
	var collation *sqltypes.Collation
	if class == merge.Collate {
		collation = r.collations[o.Collation]
	}
	var x, y []byte
	return func(a, b []byte) bool {
		const weights = 16 // bytes of them that a byte of a string may have, nearly always
		switch {
		case a == nil || b == nil:
			return false
		case o.Weight >= 0 && bytes.Equal(bytes.TrimRight(a, "\x00"), bytes.TrimRight(b, "\x00")):
			return true // MariaDB fills up with NULs what it sorts by, also in collations in which trailing NULs count
		case collation == nil:
			return len(a) >= limit && len(b) >= limit && bytes.Equal(a[:limit], b[:limit])
		case max(len(a), len(b)) <= limit/weights:
			return false
		}
		for _, n := range [...]int{min(limit, 64), limit} { // nearly all differ soon
			x, y = collation.AppendBeginning(x[:0], a, n), collation.AppendBeginning(y[:0], b, n)
			if !bytes.Equal(x, y) {
				return false
			}
		}
		return true
	}
}

// sortMemory is how many bytes of rows the Sorts of a statement keep in memory.
const sortMemory = 32 << 20

// keys returns the keys of an order over columns.
func (c collations) keys(order []plan.Order, columns []sqltypes.Column) ([]merge.Key, error) {
	keys := make([]merge.Key, len(order))
	for i, o := range order {
		key, err := c.key(o.Column, o.Weight, o.Collation, columns)
		if err != nil {
			return nil, err
		}
		key.Desc = o.Desc
		keys[i] = key
	}
	return keys, nil
}

// key returns how a column compares: by its weights, by a collation, or as its type says.
func (c collations) key(column, weight int, collation string, columns []sqltypes.Column) (merge.Key, error) {
	if weight >= 0 {
		column, collation = weight, ""
	}
	if column >= len(columns) {
		return merge.Key{}, missingColumn(column, columns)
	}
	key := merge.Key{Column: column}
	definition := &columns[column]
	class, ok := merge.ClassOf(definition)
	switch {
	case collation == "binary":
		key.Class = merge.Bytes
	case weight >= 0 && class != merge.Number:
		key.Class = merge.Bytes // a WEIGHT_STRING; a number is that of an ENUM or SET
	case collation != "":
		key.Class = merge.Collate
		if key.Compare = c.compare(collation); key.Compare == nil {
			return key, sqlerr.Unsupported("sorting by collation '"+collation+"' over several node groups", "name another one with COLLATE")
		}
	case ok:
		key.Class = class
	default:
		return key, sqlerr.Unsupported("sorting or grouping by column '"+definition.Name+"' over several node groups",
			"name a collation with COLLATE: that of the column is not known")
	}
	return key, nil
}

// aggregate builds the step that combines partial results. whole: FLOAT and DOUBLE are wanted with all digits, as binary rows have them.
func (c collations) aggregate(node *plan.Aggregate, source merge.Source, columns []sqltypes.Column, whole bool) (merge.Source, []sqltypes.Column, error) {
	groupBy, err := c.keys(node.GroupBy, columns)
	if err != nil {
		return nil, nil, err
	}
	outputs := make([]merge.Output, len(node.Columns))
	result := make([]sqltypes.Column, len(node.Columns))
	for i := range node.Columns {
		in := &node.Columns[i]
		for _, i := range []int{in.Column, in.Sum, in.Count, in.Weight} {
			if i >= len(columns) {
				return nil, nil, missingColumn(i, columns)
			}
		}
		column := &columns[in.Column]
		result[i] = *column
		out := &outputs[i]
		out.Column, out.Decimals = in.Column, int(column.Decimals)
		class, _ := merge.ClassOf(column)
		float := class == merge.Float
		if float && whole {
			out.Decimals = merge.NotFixed
		}
		switch in.Func {
		case plan.First:
			out.Func = merge.First
		case plan.Sum:
			out.Func = merge.SumExact
			if in.Sum > 0 {
				out.Func, out.Column = merge.SumRounded, in.Sum
			}
			if float {
				out.Func = merge.SumFloat
			}
		case plan.Count:
			out.Func = merge.Count
		case plan.Avg:
			out.Func, out.Column, out.Count = merge.AvgExact, in.Sum, in.Count
			if float {
				out.Func = merge.AvgFloat
			}
		case plan.Min, plan.Max:
			out.Func = merge.Min
			if in.Func == plan.Max {
				out.Func = merge.Max
			}
			if out.Order, err = c.key(in.Column, in.Weight, in.Collation, columns); err != nil {
				return nil, nil, err
			}
		default:
			return nil, nil, sqlerr.Internal.New("aggregate function unknown to the executor")
		}
	}
	return merge.NewAggregate(source, groupBy, outputs), result, nil
}

func missingColumn(i int, columns []sqltypes.Column) error {
	return sqlerr.Internal.New("the plan counts on result column " + strconv.Itoa(i) + " of " + strconv.Itoa(len(columns)))
}
