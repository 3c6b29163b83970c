package metadata

import (
	"slices"
	"strconv"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

// What servers answer to SHOW INDEX and SHOW TABLE STATUS is about the rows that each of them has: it is added up here.

// number is a number in a row; NULL is none.
func number(v []byte) uint64 {
	n, _ := strconv.ParseUint(string(v), 10, 64)
	return n
}

func appendNumber(n uint64) []byte { return strconv.AppendUint(nil, n, 10) }

// AddIndexes adds to sum, rows of SHOW INDEX of a sharded table as a node group has answered, those of another one, as estimates of servers are added
// up. It returns false, and adds nothing, if the rows are not of the same indexes: the table is being changed.
func AddIndexes(sum, rows [][][]byte, t *catalog.Table) bool {
	const nonUnique, name, column, cardinality = 1, 2, 4, 6
	if len(rows) != len(sum) {
		return false
	}
	most := uint64(0) // about as many as there are rows
	for _, r := range rows {
		most = max(most, number(r[cardinality]))
	}
	var prefix []string
	for n, r := range rows {
		if n > 0 && string(rows[n-1][name]) != string(r[name]) {
			prefix = nil
		}
		prefix = append(prefix, string(r[column]))
		if r[cardinality] == nil {
			continue
		}
		before, more := number(sum[n][cardinality]), number(r[cardinality])
		last := n+1 == len(rows) || string(rows[n+1][name]) != string(r[name])
		distributed := !slices.ContainsFunc(t.Distribution, func(c int) bool { return !slices.Contains(prefix, t.Columns[c].Name) })
		if string(r[nonUnique]) == "0" && last || distributed || 2*more > most { // hardly a value is on several node groups
			before += more
		}
		sum[n][cardinality] = appendNumber(max(before, more))
	}
	return true
}

// WithoutHiddenKey leaves out the rows of SHOW INDEX of the hidden primary key.
func WithoutHiddenKey(rows [][][]byte) [][][]byte {
	const column = 4
	return slices.DeleteFunc(rows, func(r [][]byte) bool { return string(r[column]) == catalog.HiddenKey })
}

// TableStatus is SHOW TABLE STATUS of a database, added up.
type TableStatus struct {
	Rows   [][][]byte
	byName map[string][][]byte
}

// Add adds what a node group has answered. sees reports whether the account sees a table.
func (s *TableStatus) Add(g placement.NodeGroupID, rows [][][]byte, snap *catalog.Snapshot, db string, sees func(table string) bool) {
	const rowsAt, avgAt, dataAt, indexAt, freeAt, autoAt = 4, 5, 6, 8, 9, 10
	for _, r := range rows {
		name := string(r[0])
		if !sees(name) {
			continue
		}
		sum := s.byName[name]
		if t := snap.Table(db, name); t != nil && (t.Kind == catalog.Reference && sum != nil || t.Kind == catalog.Single && t.Group != g) {
			continue
		}
		if sum == nil {
			if s.byName == nil {
				s.byName = map[string][][]byte{}
			}
			s.byName[name] = r
			s.Rows = append(s.Rows, r)
			continue
		}
		for _, i := range []int{rowsAt, dataAt, indexAt, freeAt} {
			if sum[i] != nil && r[i] != nil {
				sum[i] = appendNumber(number(sum[i]) + number(r[i]))
			}
		}
		if n := number(sum[rowsAt]); n > 0 {
			sum[avgAt] = appendNumber(number(sum[dataAt]) / n)
		}
		if number(r[autoAt]) > number(sum[autoAt]) {
			sum[autoAt] = r[autoAt]
		}
	}
}
