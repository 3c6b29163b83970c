package exec

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/merge"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/workspace"
)

// turns are the rows of an UPDATE, of some of which it is not known in which order one server comes to them. The order matters to two of
// them where one gets a key that the other has before: if it is the first, that is error 1062. Such a statement is refused. (It does not
// matter where both get one key, which is an error in any order, unless IGNORE lets one of them have it.)
type turns struct {
	n *plan.ChangeRows
	// number of each row: rows of one number may come in any order.
	number []int
	// before has the rows' entries of the index at the same place in n.Indexes.
	before []map[keyInTurn]holders
}

// keyInTurn is the text of a key that a row of that number has.
type keyInTurn struct {
	text   string
	number int
}

// holders are the rows that have a key.
type holders struct {
	row  int // one of them
	more bool
}

// add adds a row's key. It reports whether another row has it.
func add(all map[keyInTurn]holders, k keyInTurn, row int) bool {
	h, have := all[k]
	if h.more = have; !have {
		h.row = row
	}
	all[k] = h
	return have
}

// byOther reports whether another row than this one has the key.
func byOther(all map[keyInTurn]holders, k keyInTurn, row int) bool {
	h, have := all[k]
	return have && (h.more || h.row != row)
}

// newTurns looks at the rows' distribution keys, of which all of the table's own unique keys are made. rows are sorted by keys.
func (w *rowWriter) newTurns(n *plan.ChangeRows, keys []merge.Key, rows []changing) (*turns, error) {
	t := &turns{n: n, number: make([]int, len(rows))}
	for i := 1; i < len(rows); i++ {
		t.number[i] = t.number[i-1]
		if n.Doubt == plan.AboutTies && merge.Compare(keys, rows[i-1].fields, rows[i].fields) != 0 {
			t.number[i]++
		}
	}
	for _, x := range n.Indexes {
		before := map[keyInTurn]holders{}
		for i := range rows {
			text, ok, err := entryText(x, imageOf(n.Images, rows[i].fields))
			if err != nil {
				return nil, err
			}
			if ok {
				add(before, keyInTurn{text, t.number[i]}, i)
			}
		}
		t.before = append(t.before, before)
	}
	if n.NewKey == nil {
		return t, nil
	}
	olds := make([]string, len(rows))
	before, after := map[keyInTurn]holders{}, map[keyInTurn]holders{}
	for i := range rows {
		text, _, err := keyText(n.Table, n.Table.Distribution, n.Table.Key, imageOf(n.Images, rows[i].fields))
		if err != nil {
			return nil, err
		}
		olds[i] = text
		add(before, keyInTurn{text, t.number[i]}, i)
	}
	for i := range rows {
		if rows[i].text == olds[i] && !n.OthersAssigned {
			continue // it keeps its keys
		}
		k := keyInTurn{rows[i].text, t.number[i]}
		if byOther(before, k, i) || add(after, k, i) && n.Ignore {
			return nil, TurnsMatter(t.n.Table)
		}
	}
	return t, nil
}

// keyText is the canonical text of a row's values in columns of t; ok is false if one of them is NULL.
func keyText(t *catalog.Table, columns []int, key placement.Key, m image) (text string, ok bool, err error) {
	vals := make([]sqltypes.Value, 0, len(columns))
	for _, c := range columns {
		if m[c] == nil {
			return "", false, nil
		}
		vals = append(vals, workspace.KeyValue(&t.Columns[c], m[c]))
	}
	text, err = equalText(t, key, vals)
	return text, err == nil, err
}

// equalText is the canonical text of values of a key of t.
func equalText(t *catalog.Table, key placement.Key, vals []sqltypes.Value) (string, error) {
	b, match := key.Text(nil, vals, placement.Stored)
	if match != placement.Exact {
		return "", sqlerr.Unsupported("a value of a key of table '"+t.Name+"' of which it cannot be told what it is equal to", "write the value just as the column's type prints it")
	}
	return string(b), nil
}

// entryText is the text of a row's value in the key of a global index: equal values have the same.
func entryText(x *catalog.GlobalIndex, m image) (text string, ok bool, err error) {
	var placed []sqltypes.Value
	for i, c := range x.Columns {
		if m[c] == nil {
			return "", false, nil
		}
		if slices.Contains(x.Entries.Distribution, i) {
			placed = append(placed, workspace.KeyValue(&x.Entries.Columns[i], x.Held(i, m[c])))
		} else { // a number as its server prints it
			number := string(m[c])
			if number == "-0" {
				number = "0"
			}
			text += number + ","
		}
	}
	rest, err := equalText(x.Table, x.Entries.Key, placed)
	return text + rest, err == nil, err
}

// taken refuses what row has become if another row has a unique key of it before that a global index keeps.
func (t *turns) taken(row int, now image) error {
	if t == nil {
		return nil
	}
	for i, x := range t.n.Indexes {
		text, ok, err := entryText(x, now)
		if err != nil {
			return err
		}
		if ok && byOther(t.before[i], keyInTurn{text, t.number[row]}, row) {
			return TurnsMatter(t.n.Table)
		}
	}
	return nil
}

// TurnsMatter refuses an UPDATE of which it is not known in which order one server changes its rows, where that matters.
func TurnsMatter(t *catalog.Table) error {
	return sqlerr.Unsupported("UPDATE that gives a row of table '"+t.Name+"' a key which another one of its rows has before, where the order of the rows depends on a server's plan",
		"add ORDER BY with all columns of the primary key, or give the keys other values first")
}
