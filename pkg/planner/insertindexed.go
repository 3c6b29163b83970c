package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// insertIndexed refuses what cannot write entries of global indexes, or look after foreign keys that the servers cannot.
func insertIndexed(b *build) (bool, error) {
	in := b.ins
	t := in.table
	if !b.followed(t) {
		return false, nil
	}
	if b.returnsOneByOne() {
		if _, ok := b.returnedColumns(); !ok {
			return false, b.refuseFollowed("RETURNING of expressions with REPLACE, IGNORE or ON DUPLICATE KEY UPDATE in", t)
		}
	}
	if b.ignoresUpdates() { // what IGNORE makes of an error on the way is a server's to say, who writes a row and all that follows at once
		return false, b.refuseFollowed("INSERT IGNORE ... ON DUPLICATE KEY UPDATE into", t)
	}
	if in.query != nil {
		return false, b.refuseFollowed("INSERT ... SELECT into", t)
	}
	if err := b.meetsComputed(t); err != nil {
		return false, err
	}
	if b.renamesOtherwise() {
		return false, b.refuseFollowed("ON DUPLICATE KEY UPDATE of the primary key, to other values than the new row has, of", t)
	}
	if b.plan.Uses&plan.WritesUserVariable != 0 {
		return false, b.refuseFollowed("assigning user variables in an INSERT into", t)
	}
	return true, nil
}

// meetsComputed refuses what has to find the row that another one meets in a key of t, where only servers know the key's values.
func (b *build) meetsComputed(t *catalog.Table) error {
	if len(b.ins.stmt.OnDup) == 0 && b.plan.Kind != plan.Replace {
		return nil
	}
	for _, k := range slices.Concat(t.Unique, t.Building) {
		kept := slices.ContainsFunc(t.Global, func(x *catalog.GlobalIndex) bool { return x.ID == k.Global && x.PlacedByAll() })
		if t.Computed(k) && !kept {
			return b.refuseFollowed("REPLACE or ON DUPLICATE KEY UPDATE, where servers compute what UNIQUE KEY '"+k.Name+"' holds, in", t)
		}
	}
	return nil
}

// returnsOneByOne reports whether the statement has RETURNING and its rows are written one by one.
func (b *build) returnsOneByOne() bool {
	return b.returning && (b.plan.Kind == plan.Replace || bool(b.ins.stmt.Ignore) || len(b.ins.stmt.OnDup) > 0)
}

// returnedColumns is the SELECT, up to WHERE, of what RETURNING asks for, if that is nothing but columns of the table.
func (b *build) returnedColumns() (plan.Text, bool) {
	t := b.ins.table
	items := b.st.ReturningItems(nil)
	for _, it := range items {
		if it.Star {
			continue
		}
		name, dot := "", true
		for toks := b.st.TokensFrom(it.Expr.Start); ; {
			tok := toks.Next()
			if tok.Kind == sqlparse.EOF || tok.Start >= it.Expr.End {
				break
			}
			switch {
			case !dot && b.st.Is(tok, "."):
				dot = true
			case dot && (tok.Kind == sqlparse.Word || tok.Kind == sqlparse.QuotedName):
				name, dot = string(b.st.AppendName(nil, tok)), false
			default:
				return nil, false
			}
		}
		if dot || t.Column(name) < 0 {
			return nil, false
		}
	}
	if len(items) == 0 {
		return nil, false
	}
	last := items[len(items)-1]
	e := &editor{st: b.st}
	e.raw("SELECT ")
	e.span(items[0].Expr.Start, max(last.Expr.End, last.Alias.End))
	e.raw(" FROM " + t.SQL())
	return e.done(), true
}

// ignoresUpdates reports whether the statement is INSERT IGNORE ... ON DUPLICATE KEY UPDATE.
func (b *build) ignoresUpdates() bool { return len(b.ins.stmt.OnDup) > 0 && bool(b.ins.stmt.Ignore) }

// renames are the columns of the primary key that ON DUPLICATE KEY UPDATE gives what the new row has there. ok is false if it may give one another
// value, or if only some of the distribution key are among them: the row would belong neither to where it was nor to where the new one does.
func (b *build) renames() (columns []int, ok bool) {
	in, t := b.ins, b.ins.table
	placing := 0
	for _, c := range t.Primary {
		if !in.rewrites(c) {
			continue
		}
		others := givesAnother(in.stmt.OnDup, &t.Columns[c], in.assigns(c), func(u *sqlparser.UpdateExpr) bool { return in.keepsOwn(u) || in.brings(u, c) })
		if others || t.Lengths != nil || t.TriggerSets("INSERT", c) || t.TriggerSets("UPDATE", c) {
			return nil, false
		}
		if columns = append(columns, c); slices.Contains(t.Distribution, c) {
			placing++
		}
	}
	return columns, placing == 0 || placing == len(t.Distribution)
}

// renamesOtherwise reports whether ON DUPLICATE KEY UPDATE may change the primary key in a way that is refused.
func (b *build) renamesOtherwise() bool {
	_, ok := b.renames()
	return !ok
}

// mayRename reports whether rows are written one by one, so that ON DUPLICATE KEY UPDATE may give one that is met the new row's primary key.
func (b *build) mayRename() bool {
	columns, ok := b.renames()
	return ok && columns != nil && b.followed(b.ins.table)
}

// followed reports whether rows that come into t need more than being written: entries of global indexes, or foreign keys that
// servers cannot enforce.
func (b *build) followed(t *catalog.Table) bool {
	if len(t.Global) > 0 {
		return true
	}
	own := b.owns(t)
	if !own {
		return false
	}
	if len(t.ForeignKeys) > 0 || b.plan.Kind == plan.Replace {
		return true
	}
	return b.ins != nil && len(b.ins.stmt.OnDup) > 0
}

// owns reports whether Skarv enforces the foreign keys of t and those to it.
func (b *build) owns(t *catalog.Table) bool {
	if b.sess.Unchecked {
		return false
	}
	_, _, own := b.snap.Relations(t)
	return own
}

// refuseFollowed is the refusal of what does something to t that only single rows can be followed in.
func (b *build) refuseFollowed(what string, t *catalog.Table) error {
	why := "which has foreign keys whose rows lie on other node groups"
	if len(t.Global) > 0 {
		why = "whose UNIQUE KEY '" + t.Global[0].Name + "' does not contain the distribution key"
	}
	return sqlerr.Unsupported(what+" table '"+t.Name+"', "+why, "select the rows first, then write them by their keys")
}

// indexed is what the rows of the statement need besides being written.
func (b *build) indexed() (*plan.Indexed, error) {
	in, t := b.ins, b.ins.table
	n := &plan.Indexed{Own: b.owns(t)}
	if b.returnsOneByOne() {
		n.Returned, _ = b.returnedColumns()
	}
	if n.Renamed, _ = b.renames(); n.Renamed != nil {
		if n.Renew = t.HasFulltext(); n.Renew {
			b.plan.Uses |= plan.MovesMatched
		}
		if !n.Own {
			n.Stay = b.staying(t)
		}
	}
	keys := append([]catalog.Index{t.PrimaryKey()}, t.Unique...)
	keys = append(keys, t.Building...)
	for _, k := range keys {
		u := plan.UniqueKey{Name: k.Name, Columns: k.Columns, Lengths: k.Lengths}
		for _, x := range t.Global {
			if k.Global == x.ID {
				u.Index = x
			}
		}
		generated := t.Computed(k)
		if u.Computed = generated && u.Index != nil; u.Computed {
			n.Meets = n.Meets || len(in.stmt.OnDup) > 0 || b.plan.Kind == plan.Replace
			n.Keys = append(n.Keys, u)
			continue
		}
		for _, c := range k.Columns {
			col := &t.Columns[c]
			v := plan.InsertValue{Column: slices.Index(in.columns, c), Sequence: c == in.sequence}
			if !v.Sequence {
				var err error
				if v.Const, err = defaultOf(col, b.snap.Flavor); err != nil && v.Column < 0 {
					if u.Index != nil {
						return nil, err
					}
					generated = true // it is not known either
				}
				v.NoDefault = err != nil
				if u.Index != nil && col.DataType == "timestamp" && !v.Const.IsNull() { // which moment it is depends on who has made the table
					if v.NoDefault = true; v.Column < 0 {
						return nil, sqlerr.Unsupported("leaving TIMESTAMP column '"+col.Name+"' of UNIQUE KEY '"+k.Name+"', which does not contain the distribution key, to its default", "give its value")
					}
				}
			}
			u.Values = append(u.Values, v)
			kind := storedKind(col, b.snap.Flavor, u.Index != nil)
			u.Types = append(u.Types, kind)
		}
		if generated && (len(in.stmt.OnDup) > 0 || b.plan.Kind == plan.Replace) {
			return nil, sqlerr.Unsupported("REPLACE or ON DUPLICATE KEY UPDATE in a table that has UNIQUE KEY '"+k.Name+"', whose values the servers compute, besides one that does not contain the distribution key",
				"look for the row with SELECT ... FOR UPDATE, then INSERT or UPDATE it")
		}
		if generated {
			continue
		}
		n.Keys = append(n.Keys, u)
	}
	n.Insert = b.plainInsert()
	return n, nil
}

// plainInsert is the text before the rows with INSERT for REPLACE.
func (b *build) plainInsert() plan.Text {
	ir, err := b.rowsPlan()
	if err != nil || len(ir.Before) == 0 {
		return nil
	}
	toks := b.st.Tokens()
	for {
		tok := toks.Next()
		if isWord(b.st, tok, "REPLACE") {
			at := tok.End
			if len(ir.Before[0].SQL) >= at {
				ir.Before[0].SQL = ir.Before[0].SQL[:tok.Start] + "INSERT" + ir.Before[0].SQL[at:]
			}
			return ir.Before
		}
		if tok.Kind == 0 || isWord(b.st, tok, "INSERT") {
			return ir.Before
		}
	}
}

// storedKind is what is known of how a column's values are stored: nothing of a type that no distribution key may have, but of TEXT and BLOB, of which
// keys have the beginning, and of a TIMESTAMP in a global index, whose local time is a DATETIME's.
func storedKind(col *catalog.Column, flavor catalog.Flavor, indexed bool) placement.KeyColumn {
	like := *col
	switch {
	case indexed && col.DataType == "timestamp":
		like.DataType, like.ColumnType = "datetime", strings.Replace(col.ColumnType, "timestamp", "datetime", 1)
	case strings.HasSuffix(col.DataType, "text"):
		like.DataType, like.Length = "varchar", 0
	case strings.HasSuffix(col.DataType, "blob"):
		like.DataType, like.Length = "varbinary", 0
	}
	kind, _ := like.Key(flavor)
	return kind
}
