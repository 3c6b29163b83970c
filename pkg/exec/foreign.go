package exec

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// While partitions move, a group has rows of partitions it does not own: copies that are not valid yet, or rows that are
// to be deleted. A fragment that is not one partition's alone must not see them. The group's text gets a condition on the
// partition for every sharded table in it:
//
//	SELECT COUNT(*) FROM t WHERE a OR b  ->  SELECT COUNT(*) FROM t WHERE CRC32(t.`id`) % 3840 NOT IN (17,90) AND (a OR b)
//
// It is done on the text that is about to be sent, whatever made it, so that no rule of the planner has to think of it,
// plans do not depend on what moves, and nothing is paid while nothing does.
//
// A table that an outer join may leave out gets none: all sharded tables of a fragment hang together by their
// distribution keys (only then is a statement sent to several groups), so that a row of it belongs to the partition of a
// row that has been filtered. Where no such row is found the statement is refused.

// Scanner makes Statements that are scanned as the session's are.
type Scanner interface {
	// NewStatement returns a Statement, and the mode to scan with.
	NewStatement() (*sqlparse.Statement, sqlparse.Mode)
}

// hide returns sql with conditions that leave out rows of the partitions in foreign, as seen from group g.
func (r *Runner) hide(sql []byte, snap *catalog.Snapshot, g placement.NodeGroupID) ([]byte, error) {
	foreign := snap.Map.Foreign(g)
	if foreign == nil || r.Scanner == nil {
		return sql, nil
	}
	h := hiding{r: r, snap: snap, condition: condition(snap.Map, g, foreign)}
	return h.hide(sql, r.Database, 0)
}

// condition is what stands behind the expression of a row's partition.
func condition(m *placement.PartitionMap, g placement.NodeGroupID, foreign *placement.Set) string {
	word, list := " NOT IN (", foreign.Members()
	if owned := m.Owned(g); len(owned) < len(list) && len(owned) > 0 {
		word, list = " IN (", owned
	}
	b := []byte(word)
	for i, p := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(p), 10)
	}
	return string(append(b, ')'))
}

// hiding is the work on one text.
type hiding struct {
	r         *Runner
	snap      *catalog.Snapshot
	condition string
}

// insertion of text at an offset, in the place of what stands there up to end.
type splice struct {
	at, end int
	text    string
}

// maxViews bounds how deep views may stand in views.
const maxViews = 32

func (h *hiding) hide(sql []byte, db string, depth int) ([]byte, error) {
	st, mode := h.r.Scanner.NewStatement()
	if err := st.Scan(sql, mode); err != nil {
		return nil, err
	}
	switch st.Kind() {
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete:
	default:
		return sql, nil
	}
	sources, blocks, sure := st.Sources()
	if !sure || depth > maxViews {
		return nil, h.refuse("a statement of this form over several node groups")
	}
	conditions := make([][]string, len(blocks))
	var splices []splice
	var optional []int // blocks of tables without a condition
	for _, s := range sources {
		name := s.DB
		if name == "" {
			name = db
		}
		t := h.table(name, s.Name)
		if t == nil {
			continue
		}
		switch t.Kind {
		case catalog.View:
			text, err := h.view(sql, &s, t, depth)
			if err != nil {
				return nil, err
			}
			if text != "" {
				splices = append(splices, splice{s.Start, s.End, text})
			}
		case catalog.Sharded:
			if s.Optional {
				optional = append(optional, s.Block)
				continue
			}
			qualifier := string(sql[s.Qualifier.Start:s.Qualifier.End])
			conditions[s.Block] = append(conditions[s.Block], t.Key.SQLExpr(t.QuotedColumns(t.Distribution, qualifier+"."))+h.condition)
		}
	}
	for _, b := range optional {
		for b >= 0 && len(conditions[b]) == 0 {
			b = blocks[b].Outer
		}
		if b < 0 {
			return nil, h.refuse("an outer join of this form over several node groups")
		}
	}
	for i, b := range blocks {
		switch all := strings.Join(conditions[i], " AND "); {
		case all == "":
		case b.End < 0:
			return nil, h.refuse("a statement of this form over several node groups")
		case b.Where >= 0:
			splices = append(splices, splice{b.Where, b.Where, " " + all + " AND ("}, splice{b.End, b.End, ")"})
		default:
			splices = append(splices, splice{b.End, b.End, " WHERE " + all})
		}
	}
	if len(splices) == 0 {
		return sql, nil
	}
	splices = named(st, 0, splices)
	list, _ := st.SelectList() // of which that was
	for _, b := range blocks {
		inside := func(s splice) bool { return s.at > b.Start && s.end < b.End }
		if b.Start < list.Start && list.Start < b.End || !slices.ContainsFunc(splices, inside) {
			continue
		}
		inner, mode := h.r.Scanner.NewStatement()
		if inner.Scan(sql[b.Start:b.End], mode) == nil && inner.Kind() == sqlparse.Select {
			splices = named(inner, b.Start, splices)
		}
	}
	slices.SortStableFunc(splices, func(a, b splice) int { return a.at - b.at })
	out := make([]byte, 0, len(sql)+len(splices)*(len(h.condition)+64))
	at := 0
	for _, s := range splices {
		out = append(append(out, sql[at:s.at]...), s.text...)
		at = s.end
	}
	return append(out, sql[at:]...), nil
}

// named adds names for the columns that the statement returns and splices change: a server names them by their text. The statement is a
// part of the text, at an offset.
func named(st *sqlparse.Statement, offset int, splices []splice) []splice {
	items := st.SelectItems(nil)
	if st.Uses()&sqlparse.Returning != 0 {
		items = st.ReturningItems(nil)
	}
	for _, it := range items {
		from, to := offset+it.Expr.Start, offset+it.Expr.End
		inside := func(s splice) bool { return s.at > from && s.end < to }
		if !it.Star && it.Alias.Start == it.Alias.End && slices.ContainsFunc(splices, inside) {
			name := " AS " + sqltypes.QuoteName(string(st.AppendColumnName(nil, it)))
			splices = append(splices, splice{to, to, name})
		}
	}
	return splices
}

// view returns the view as a derived table in which nothing foreign is seen; "" if it shows no sharded table.
func (h *hiding) view(sql []byte, s *sqlparse.Source, v *catalog.Table, depth int) (string, error) {
	text, err := h.hide([]byte(v.ViewText), v.Database, depth+1)
	if err != nil || string(text) == v.ViewText {
		return "", err
	}
	if s.Write {
		return "", h.refuse("writing through a view")
	}
	if strings.ContainsFunc(v.ViewText, func(c rune) bool { return c >= utf8.RuneSelf }) { // the statement's text need not be in UTF-8
		return "", h.refuse("a view with characters beyond ASCII")
	}
	out := "(" + string(text) + ")"
	if v.Apart { // else a server opens the derived table into the statement
		out = "(SELECT * FROM " + out + " AS skarv_view LIMIT 18446744073709551615)"
	}
	if !s.Aliased {
		out += " AS " + sqltypes.QuoteName(v.Name)
	}
	return out, nil
}

// table finds a table as the servers do.
func (h *hiding) table(db, name string) *catalog.Table {
	if h.snap.LowerCaseTableNames != 0 {
		db, name = strings.ToLower(db), strings.ToLower(name)
	}
	t := h.snap.Table(db, name)
	for _, c := range h.r.Copied {
		if t != nil && c.Database == t.Database && c.Name == t.Name {
			return nil // what the name means is a temporary table
		}
	}
	return t
}

// refuse is the error for a statement that cannot be run while rows are foreign.
func (h *hiding) refuse(what string) error {
	return sqlerr.Unsupported(what+while(h.snap.Map),
		"write it without views and with plain joins, or wait until SELECT * FROM skarv.reorganisations shows that it is done")
}

// while says what moves, behind what is refused for it.
func while(m *placement.PartitionMap) string {
	reorg := ""
	if moving := m.Moving(); len(moving) > 0 {
		reorg = " " + moving[0].Reorg
	}
	return " while reorganisation" + reorg + " moves partitions"
}

// copyMayRefer reports whether err, with which group g has refused to delete or change rows of a reference table because rows refer to
// them, may be for rows of partitions that g does not own. snap may be nil: nothing moves.
func copyMayRefer(err error, snap *catalog.Snapshot, g placement.NodeGroupID) bool {
	return sqlerr.HasCode(err, sqlerr.RowIsReferenced) && snap != nil && snap.Map.Foreign(g) != nil
}

// onlyCopiesRefer is the error in its place when no other group says the same.
func onlyCopiesRefer(snap *catalog.Snapshot) error {
	return sqlerr.Unsupported("deleting or changing rows of a reference table to which perhaps nothing but copies of rows refers"+while(snap.Map),
		"COMMIT what is changed in the rows that refer to them and try again, or wait until SELECT * FROM skarv.reorganisations shows that it is done")
}
