package planner

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// insertIndexed refuses what cannot write entries of global indexes.
func insertIndexed(b *build) (bool, error) {
	in := b.ins
	t := in.table
	if len(t.Global) == 0 {
		return false, nil
	}
	if in.query != nil {
		return false, sqlerr.Unsupported("INSERT ... SELECT into table '"+t.Name+"', whose UNIQUE KEY '"+t.Global[0].Name+
			"' does not contain the distribution key", "select first, then insert the rows")
	}
	for _, u := range in.stmt.OnDup {
		c := t.Column(u.Name.Name.String())
		if c >= 0 && slices.Contains(t.Primary, c) && !keepsValue(u.Name, u.Expr) {
			return false, sqlerr.Unsupported("ON DUPLICATE KEY UPDATE of the primary key in table '"+t.Name+"', whose UNIQUE KEY '"+t.Global[0].Name+
				"' does not contain the distribution key", "delete the row and insert it anew")
		}
	}
	if b.plan.Uses&plan.WritesUserVariable != 0 {
		return false, sqlerr.Unsupported("assigning user variables in an INSERT into a table with a UNIQUE KEY that does not contain the distribution key",
			"compute the value first, with SET or SELECT")
	}
	return true, nil
}

// indexed is what the rows of the statement need besides being written.
func (b *build) indexed() (*plan.Indexed, error) {
	in, t := b.ins, b.ins.table
	n := &plan.Indexed{OnDuplicate: len(in.stmt.OnDup) > 0, Ignore: bool(in.stmt.Ignore)}
	if n.OnDuplicate && n.Ignore {
		return nil, sqlerr.Unsupported("INSERT IGNORE ... ON DUPLICATE KEY UPDATE into a table with a UNIQUE KEY that does not contain the distribution key", "leave out IGNORE")
	}
	keys := append([]catalog.Index{{Name: "PRIMARY", Columns: t.Primary, Unique: true}}, t.Unique...)
	keys = append(keys, t.Building...)
	for _, k := range keys {
		if k.Partial && k.Global == 0 && (n.OnDuplicate || b.plan.Kind == plan.Replace) {
			return nil, sqlerr.Unsupported("REPLACE or ON DUPLICATE KEY UPDATE in a table that has UNIQUE KEY '"+k.Name+"', of the beginning of a column, besides one that does not contain the distribution key",
				"look the row up first")
		}
		u := plan.UniqueKey{Name: k.Name, Columns: k.Columns}
		for _, x := range t.Global {
			if k.Global == x.ID {
				u.Index = x
			}
		}
		generated := false
		for _, c := range k.Columns {
			col := &t.Columns[c]
			generated = generated || col.Generated
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
			}
			u.Values = append(u.Values, v)
		}
		if generated && u.Index == nil {
			if n.OnDuplicate || b.plan.Kind == plan.Replace {
				return nil, sqlerr.Unsupported("REPLACE or ON DUPLICATE KEY UPDATE in a table that has UNIQUE KEY '"+k.Name+"', whose values the servers compute, besides one that does not contain the distribution key",
					"look the row up first")
			}
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
