package exec

import (
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// Text is the SQL of a fragment for the first of groups, which the router found for it last; "" where that is the client's own.
func (r *Runner) Text(f *plan.Fragment, a *Arguments, groups []placement.NodeGroupID) string {
	if f.Text == nil {
		return ""
	}
	return string(r.appendFragment(nil, f, a, groups[0], groups))
}

// appendFragment appends the SQL of f for group g, one of groups, which the router found for f last.
func (r *Runner) appendFragment(dst []byte, f *plan.Fragment, a *Arguments, g placement.NodeGroupID, groups []placement.NodeGroupID) []byte {
	if f.Text == nil {
		return a.AppendStatement(dst)
	}
	for i := range f.Text {
		piece := &f.Text[i]
		if !piece.Part || !a.IsList(piece.Arg) {
			dst = a.AppendText(dst, f.Text[i:i+1])
			continue
		}
		dst = append(dst, piece.SQL...)
		dst = append(dst, '(')
		written := false
		for e := range a.NumElems(piece.Arg) {
			if !r.Router.isPart(piece.Arg, e, g, groups[0]) {
				continue
			}
			if written {
				dst = append(dst, ", "...)
			}
			dst = a.AppendElem(dst, piece.Arg, e)
			written = true
		}
		dst = append(dst, ')')
	}
	return dst
}

// AppendSpan appends a part of the statement, parameters filled in.
func (a *Arguments) AppendSpan(dst []byte, sp sqlparse.Span) []byte { return a.appendSpan(dst, sp) }
