package exec

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// insertion is one execution of INSERT or REPLACE with rows: whose row is whose, and what is written differently.
type insertion struct {
	node  *plan.InsertRows
	table *catalog.Table
	snap  *catalog.Snapshot
	args  *Arguments
	rows  int
	// needed are the positions in a row whose values are looked at, ascending.
	needed []int
	// vals are the values of the row being placed, one for each of needed.
	vals []element

	owners []placement.NodeGroupID // of each row
	edits  []edit
	added  []uint64  // values of the sequence added to the rows, one for each
	keys   []rowKeys // of each row, if the table has global indexes
	ids    identities
	// numbers are the values of the sequence that the rows were given, 0 for none, where each row is written by itself.
	numbers []uint64
	// looked: came is the first number that has come to the table, 0 if none has, and called what LAST_INSERT_ID(expr) has said last of a row
	// that met another.
	looked       bool
	came, called uint64
	met          uint64 // what the row has in the AUTO_INCREMENT column that the last one has met and left as it is, where others were changed
	memory       []byte // of numbers written into rows

	asWritten bool   // one group gets the client's own text
	text      textOf // appendStatement, made once

	exprs     []expression
	evaluated bool
	// warned are the first maxWarned of the warnings of what was evaluated, warnings is how many there were.
	warned    []diagnostics.Condition
	warnings  uint
	momentary bool // the Runner's Moment is that of this statement
	lenient   bool
	padded    bool

	placed  bool  // by PlaceRows; Run has not begun
	placing error // how that ended
}

// element is a value as a row has it.
type element struct {
	kind  elementKind
	value sqltypes.Value
	span  sqlparse.Span // of a VALUES row
	// computed by a server: a string is in UTF-8 then, whatever the client's character set.
	evaluated bool
}

type elementKind uint8

const (
	literal elementKind = iota
	defaultValue
	computed // an expression, whose value only a server knows
)

// edit replaces a value of a row by text.
type edit struct {
	row, col int
	span     sqlparse.Span // unused for plan.InsertRows.Row
	text     []byte
}

// expression is a value that a server has to compute.
type expression struct {
	row, col int
	sql      []byte
	value    sqltypes.Value
}

func (in *insertion) reset(node *plan.InsertRows, snap *catalog.Snapshot, a *Arguments) {
	in.node, in.table, in.snap, in.args = node, node.Table, snap, a
	in.rows = a.NumRows()
	if node.Row != nil {
		in.rows = 1
	}
	in.needed, in.owners, in.edits, in.added = in.needed[:0], in.owners[:0], in.edits[:0], in.added[:0]
	in.exprs, in.evaluated, in.asWritten = in.exprs[:0], false, false
	in.warned, in.warnings, in.momentary = in.warned[:0], 0, false
	in.placed, in.placing = false, nil
	in.looked, in.came, in.called, in.met = false, 0, 0, 0
	for _, k := range node.Key {
		if k.Column >= 0 {
			in.needed = append(in.needed, k.Column)
		}
	}
	if node.Indexed != nil {
		in.needed = appendNeeded(in.needed, node.Indexed)
	}
	for _, g := range node.Given {
		in.needed = append(in.needed, g.Column)
	}
	if node.Sequence && node.AutoIncrement >= 0 {
		in.needed = append(in.needed, node.AutoIncrement)
	}
	slices.Sort(in.needed)
	in.needed = slices.Compact(in.needed)
}

// runInsert places all rows, unless PlaceRows has, and then writes each group its own.
func (r *Runner) runInsert(p *plan.Plan, node *plan.InsertRows, snap *catalog.Snapshot, a *Arguments, sink Sink) (Summary, error) {
	placed, err := r.takePlaced()
	if !placed {
		r.begin(node, snap, a)
	}
	in := r.insert
	defer func() {
		if in.momentary {
			r.Moment = time.Time{}
		}
		in.forget()
	}()
	if !placed {
		err = errComputed
		if node.Row == nil && a.Statement().UniformRows() {
			err = r.placeAll(in)
		}
	}
	if err == errComputed { // or a literal that is not as simple as it looks
		if err = in.checkColumns(); err == nil {
			err = r.evaluate(p, in)
		}
		if err == nil {
			err = r.placeAll(in)
		}
	}
	if err != nil {
		return Summary{}, err
	}
	sum, err := r.runPlaced(p, in, sink)
	err = in.ofOne(err)
	r.Warned = append(r.Warned, in.warned[:min(len(in.warned), max(0, maxWarned-len(r.Warned)))]...)
	return sum, err
}

// begin makes r.insert the execution of node.
func (r *Runner) begin(node *plan.InsertRows, snap *catalog.Snapshot, a *Arguments) {
	if r.insert == nil {
		r.insert = &insertion{}
		r.insert.empty()
	}
	r.insert.reset(node, snap, a)
	r.insert.lenient, r.insert.padded = r.Lenient, r.Padded
}

// placeAll finds the owners of all rows, and the groups; errComputed: it needs the values of expressions.
func (r *Runner) placeAll(in *insertion) error {
	if err := in.checkColumns(); err != nil {
		return err
	}
	if err := r.place(in); err != nil {
		return err
	}
	return r.targets(in)
}

// checkColumns looks whether every row has as many values as there are columns.
func (in *insertion) checkColumns() error {
	for i := range in.rows {
		if n := in.columns(i); n != in.node.Columns {
			return sqlerr.ColumnCountMismatch.New(i + 1)
		}
	}
	return nil
}

// runPlaced writes the rows whose owners are known.
func (r *Runner) runPlaced(p *plan.Plan, in *insertion, sink Sink) (Summary, error) {
	node := in.node
	if node.Indexed != nil {
		return r.runIndexed(p, in, sink)
	}
	if err := r.ambiguous(p, in); err != nil {
		return Summary{}, err
	}
	r.Router.Touched.Copies = r.Router.Touched.Copies || node.Same
	if !r.Router.Touched.None() {
		if err := r.Conns.Enter(&r.Router.Touched, true); err != nil {
			return Summary{}, err
		}
	}
	in.asWritten = len(r.groups) == 1 && in.untouched()
	r.owners = in.owners
	look, last := in.lookBehind(), in.mayLeave(p, len(r.groups))
	w := writing{same: node.Same, text: in.text, whole: look}
	if look || last {
		w.behind = func(sum *Summary) (err error) {
			if look {
				err = r.look(p, in, sum)
			}
			if last && err == nil {
				err = r.lookForLast(in, sum)
			}
			return err
		}
	}
	r.open = in.args
	sum, err := r.write(p, w, sink)
	r.owners, r.open = nil, nil
	if err != nil {
		return sum, in.renumber(err, r.failed)
	}
	r.finishInsert(p, in, &sum)
	return sum, nil
}

// untouched reports that all rows are to be written as the client wrote them.
func (in *insertion) untouched() bool {
	return len(in.edits) == 0 && len(in.added) == 0 && in.node.Row == nil
}

// forget lets go of what a large statement needed.
func (in *insertion) forget() {
	if cap(in.owners)*2+cap(in.edits)*64+cap(in.added)*8+cap(in.numbers)*8+cap(in.ids.given)*16+cap(in.memory) > keepBytes {
		in.empty()
	}
}

func (in *insertion) empty() {
	*in = insertion{ids: identities{taken: in.ids.taken}}
	in.text = in.appendStatement
}

// columns is the number of values in a row.
func (in *insertion) columns(row int) int {
	if in.node.Row != nil {
		return len(in.node.Row)
	}
	return in.args.RowColumns(row)
}

// element returns a value of a row. It is valid until the next call.
func (in *insertion) element(row, col int) element {
	if in.node.Row != nil {
		return in.textElement(in.node.Row[col])
	}
	e, ok := in.args.RowElem(row, col)
	if !ok {
		return element{kind: computed}
	}
	el := element{span: e.Span, kind: computed}
	if e.Class == sqlparse.ClassDefault {
		el.kind = defaultValue
	} else if v, ok := in.args.Decode(e); ok {
		el.kind, el.value = literal, v
	}
	return el
}

// textElement is element of a value given as Text.
func (in *insertion) textElement(text plan.Text) element {
	if len(text) == 1 && text[0].SQL == "" && text[0].Arg != plan.NoArg && text[0].Plus == nil {
		arg := text[0].Arg
		if arg >= 0 && in.args.Statement().Arg(arg).Class == sqlparse.ClassDefault {
			return element{kind: defaultValue}
		}
		if v, ok := in.args.Value(arg); ok {
			return element{value: v}
		}
		return element{kind: computed}
	}
	if len(text) == 1 && text[0].Arg == plan.NoArg {
		switch word := bytes.TrimSpace([]byte(text[0].SQL)); {
		case bytes.EqualFold(word, []byte("NULL")):
			return element{}
		case bytes.EqualFold(word, []byte("DEFAULT")):
			return element{kind: defaultValue}
		}
	}
	return element{kind: computed}
}

// place finds the owner of every row, and gives the rows their values of the sequence.
func (r *Runner) place(in *insertion) error {
	in.ids.reset(r.Sequence, in.table, in.rows, in.node.ZeroIsValue)
	in.ids.cuts = in.lenient || in.node.Ignore
	if at := in.table.AutoIncrement; at >= 0 && in.node.Sequence && !in.lenient && in.snap.Flavor == catalog.MariaDB && !in.node.Ignore {
		in.ids.most = greatestOf(&in.table.Columns[at]) // else the server makes the most of it, or says so otherwise
	}
	in.edits, in.added, in.owners, in.memory = in.edits[:0], in.added[:0], in.owners[:0], in.memory[:0]
	in.keys, in.numbers = nil, in.numbers[:0]
	next := 0 // in in.exprs
	for row := range in.rows {
		in.vals, r.Router.text = in.vals[:0], r.Router.text[:0]
		for _, col := range in.needed {
			el := in.element(row, col)
			if el.kind == computed {
				if !in.evaluated {
					return errComputed
				}
				el.kind, el.value, el.evaluated = literal, in.exprs[next].value, true
				in.edits = append(in.edits, edit{row, col, el.span, in.appendLiteral(nil, &el)})
				next++
			} else {
				el.value = r.Router.keep(el.value)
			}
			in.vals = append(in.vals, el)
		}
		if in.node.Sequence {
			if err := in.identity(row); err != nil {
				return err
			}
		}
		if !r.bringsGiven(in) {
			return in.node.Otherwise
		}
		if len(in.node.Key) == 0 {
			continue
		}
		g, err := r.owner(in, row)
		if err != nil {
			return err
		}
		in.owners = append(in.owners, g)
		if in.node.Indexed != nil {
			k, err := r.keysOf(in, row)
			if err != nil {
				return err
			}
			in.keys = append(in.keys, k)
		}
	}
	return in.ids.end()
}

// bringsGiven reports whether the row at hand brings all values of plan.InsertRows.Given.
func (r *Runner) bringsGiven(in *insertion) bool {
	return !slices.ContainsFunc(in.node.Given, func(g plan.GivenValue) bool {
		el := in.at(g.Column)
		v, ok := r.Router.operand(g.Value, in.args)
		return !ok || el.kind != literal || v.IsNull() || v.Kind != el.value.Kind || !bytes.Equal(v.Raw, el.value.Raw)
	})
}

// identity gives the row its value of the sequence, if it has none.
func (in *insertion) identity(row int) error {
	if in.node.Indexed != nil {
		in.numbers = append(in.numbers, 0)
	}
	pos := in.node.AutoIncrement
	if pos < 0 {
		id, err := in.ids.generate(row)
		in.added = append(in.added, id)
		in.number(id)
		return err
	}
	el := in.at(pos)
	if el.kind == literal {
		explicit, err := in.ids.explicit(el.value)
		if err != nil {
			return in.staged(err)
		}
		if explicit {
			return nil
		}
	}
	id, err := in.ids.generate(row)
	if err != nil {
		return err
	}
	in.number(id)
	text := in.digits(id)
	el.kind, el.value = literal, sqltypes.Value{Kind: sqltypes.Int, Raw: text}
	if n := len(in.edits); n > 0 && in.edits[n-1].row == row {
		// An expression that came to NULL or 0 is replaced once.
		for i := n - 1; i >= 0 && in.edits[i].row == row; i-- {
			if in.edits[i].col == pos {
				in.edits[i].text = text
				return nil
			}
		}
	}
	in.edits = append(in.edits, edit{row, pos, el.span, text})
	return nil
}

// number notes what the row at hand was given.
func (in *insertion) number(id uint64) {
	if n := len(in.numbers); n > 0 {
		in.numbers[n-1] = id
	}
}

// digits is n as text, valid as long as the execution.
func (in *insertion) digits(n uint64) []byte {
	start := len(in.memory)
	in.memory = strconv.AppendUint(in.memory, n, 10)
	return in.memory[start:len(in.memory):len(in.memory)]
}

// at returns the value of the row at position col, which is one of needed.
func (in *insertion) at(col int) *element {
	i, _ := slices.BinarySearch(in.needed, col)
	return &in.vals[i]
}

// insteadOfNull is what a server stores for NULL, or for no value if none is written, in a key's column that may not be NULL: the type's own
// zero, if it does not refuse the row.
func (in *insertion) insteadOfNull(col *catalog.Column, written bool) (v sqltypes.Value, err error) {
	switch {
	case in.lenient && in.rows > 1 && in.node.Else != nil:
		return v, ErrStage
	case written && col.DataType == "timestamp": // the time that it is, if explicit_defaults_for_timestamp is off
		return v, in.staged(sqlerr.Unsupported("NULL for TIMESTAMP column '"+col.Name+"', part of a key, which may make it the time that it is", "write the value"))
	case !written:
		return v, sqlerr.NoDefaultForField.New(col.Name)
	case !in.node.Ignore:
		return v, sqlerr.NullNotAllowed.New(col.Name)
	}
	switch col.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		return sqltypes.Value{Kind: sqltypes.Int, Raw: []byte("0")}, nil
	case "char", "varchar":
		return sqltypes.Value{Kind: sqltypes.String, Raw: []byte{}}, nil
	}
	return v, in.staged(sqlerr.Unsupported("INSERT IGNORE of NULL into column '"+col.Name+"', part of a key", "write the value to be stored instead"))
}

// owner returns the group whose partition the row belongs to.
func (r *Runner) owner(in *insertion, row int) (placement.NodeGroupID, error) {
	r.Router.vals = r.Router.vals[:0]
	for i, k := range in.node.Key {
		el, err := in.keyValue(row, k, in.keyColumn(i))
		if err != nil {
			return 0, err
		}
		r.Router.vals = append(r.Router.vals, el.value)
	}
	g := r.Router.place(in.table.Key, in.snap, in.mode())
	if g == everyGroup || g == noGroup {
		return 0, in.staged(sqlerr.Unsupported("row "+strconv.Itoa(row+1)+": it cannot be told what the distribution key of table '"+in.table.Name+
			"' will be stored as", "write the value just as the column's type prints it"))
	}
	return g, nil
}

// mode is how the values of the row are to be read: of those that stand beside evaluated ones, which are in UTF-8, ASCII is the same in all character
// sets.
func (in *insertion) mode() placement.Mode {
	mode := placement.Store
	if in.args.Staged {
		mode = placement.Stored
	}
	if in.args.Strings != 0 && slices.ContainsFunc(in.vals, func(el element) bool {
		return el.value.Kind == sqltypes.String && !el.evaluated && !isASCII(el.value.Raw)
	}) {
		return mode | in.args.Strings
	}
	return mode
}

// keyColumn is the distribution column number i of the key.
func (in *insertion) keyColumn(i int) *catalog.Column {
	return &in.table.Columns[in.table.Distribution[i]]
}

// targets sets r.groups to the groups that get rows.
func (r *Runner) targets(in *insertion) (err error) {
	r.groups = r.groups[:0]
	switch {
	case in.node.Same:
		r.groups, err = everyCopy(in.snap, r.groups)
		return err
	case len(in.node.Key) == 0:
		r.groups = append(r.groups, in.table.Group)
		return nil
	}
	for _, g := range in.owners {
		r.groups = addGroup(r.groups, 0, g)
	}
	if len(r.groups) > 1 && in.node.Several != nil {
		return in.staged(in.node.Several)
	}
	if len(r.groups) > 1 && in.lenient && in.node.Else != nil && in.alone(r.groups) {
		return ErrStage
	}
	if !in.args.Staged && in.checked() && in.node.Indexed == nil && in.single(r.groups) {
		return in.staged(sqlerr.Unsupported("INSERT IGNORE of several rows into table '"+in.table.Name+"', which has CHECK constraints, over several node groups",
			"insert them one by one, or leave out IGNORE"))
	}
	return nil
}

// alone reports that a group gets only one of several rows, and that this row has a NULL, or an expression that may be one,
// for a column that holds none. Without strict mode a server makes something of such a NULL in one of several rows, and
// refuses that of a single one.
func (in *insertion) alone(groups []placement.NodeGroupID) bool {
	for _, g := range groups {
		only, n := -1, 0
		for row, owner := range in.owners {
			if owner == g {
				only, n = row, n+1
			}
		}
		if n != 1 {
			continue
		}
		for _, position := range in.node.NotNull {
			if el := in.element(only, position); el.kind != literal || el.value.IsNull() {
				return true
			}
		}
	}
	return false
}

// ofOne refuses several rows of which a server, which has got one of them by itself, has refused a NULL of ON DUPLICATE KEY UPDATE: as alone, but it
// is known afterwards only.
func (in *insertion) ofOne(err error) error {
	if in.lenient && in.rows > 1 && in.node.Update && sqlerr.HasCode(err, sqlerr.NullNotAllowed) {
		return sqlerr.Unsupported("ON DUPLICATE KEY UPDATE of several rows that gives NULL to a column which holds none, without a strict sql_mode",
			"write what is to be stored instead, COALESCE(x, 0)")
	}
	return err
}

// checked reports that the rows are several, and that a MariaDB server leaves out those for which a CHECK constraint is not
// true: of an INSERT IGNORE with a single row it is an error.
func (in *insertion) checked() bool {
	return in.rows > 1 && in.table.Checks && in.snap.Flavor == catalog.MariaDB && in.node.Ignore
}

// single reports that one of several groups gets one row only.
func (in *insertion) single(groups []placement.NodeGroupID) bool {
	return len(groups) > 1 && slices.ContainsFunc(groups, func(g placement.NodeGroupID) bool {
		n := 0
		for _, owner := range in.owners {
			if owner == g {
				n++
			}
		}
		return n == 1
	})
}

// ErrStage is returned by Run for a plan.InsertRows that has an Else, which is the way to run it, up to EndStage. Nothing has
// been done.
var ErrStage = errors.New("exec: the rows must go through a stage")

// staged returns ErrStage if there is that way, else err.
func (in *insertion) staged(err error) error {
	if in.node.Else != nil {
		return ErrStage
	}
	return err
}

// appendStatement appends the statement with the rows of group g.
func (in *insertion) appendStatement(dst []byte, g placement.NodeGroupID) []byte {
	if in.asWritten {
		return in.args.AppendStatement(dst)
	}
	dst = in.args.AppendText(dst, in.node.Before)
	edits, first := in.edits, true
	for row := range in.rows {
		own := 0 // edits of this row
		for own < len(edits) && edits[own].row == row {
			own++
		}
		if len(in.owners) == 0 || in.owners[row] == g {
			if !first {
				dst = append(dst, ", "...)
			}
			first = false
			dst = in.appendRow(dst, row, edits[:own])
		}
		edits = edits[own:]
	}
	return in.args.AppendText(dst, in.node.After)
}

// appendRow appends one row with its edits.
func (in *insertion) appendRow(dst []byte, row int, edits []edit) []byte {
	if in.node.Row != nil {
		dst = append(dst, '(')
		for col, text := range in.node.Row {
			if col > 0 {
				dst = append(dst, ", "...)
			}
			if i := slices.IndexFunc(edits, func(e edit) bool { return e.col == col }); i >= 0 {
				dst = append(dst, edits[i].text...)
			} else {
				dst = in.args.AppendText(dst, text)
			}
		}
	} else {
		// Edits of one row stand in ascending order but for the sequence's, which comes last.
		slices.SortFunc(edits, func(a, b edit) int { return a.col - b.col })
		sp := in.args.Row(row)
		pos := sp.Start
		for _, e := range edits {
			dst = in.args.appendSpan(dst, sqlparse.Span{Start: pos, End: e.span.Start})
			dst = append(dst, e.text...)
			pos = e.span.End
		}
		dst = in.args.appendSpan(dst, sqlparse.Span{Start: pos, End: sp.End - 1})
	}
	if len(in.added) > 0 {
		if in.node.Columns > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendUint(dst, in.added[row], 10)
	}
	return append(dst, ')')
}
