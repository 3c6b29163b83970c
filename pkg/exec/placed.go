package exec

import (
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/wire"
)

// Placed is an INSERT or REPLACE all of whose rows belong to one node group, and whose answer there is all that the client has to
// be told: it need not be read.
type Placed struct {
	Group placement.NodeGroupID
	// Packets are those of the COM_QUERY to be sent, valid until the Runner is used again; nil: the rows are written as the client
	// wrote them, so that the client's own command will do.
	Packets []byte
	// InsertID is the value of the sequence that the only row was given, 0 if none was.
	InsertID uint64
}

// PlaceRows places the rows of p's plan.InsertRows. When it returns false, Run has to be called next, with the same arguments: it
// goes on with what was placed here, and is who tells of errors. Of x it needs no Conns.
func (r *Runner) PlaceRows(x Execution, p *plan.Plan, snap *catalog.Snapshot, a *Arguments) (out Placed, ok bool) {
	r.Execution = x
	_, _ = r.takePlaced() // of a statement that did not come to Run
	node := p.Root.(*plan.InsertRows)
	switch {
	case node.Row != nil, !a.Statement().UniformRows(): // a server has to be asked first
		return out, false
	case node.Indexed != nil, node.Same: // more is to be written
		return out, false
	case node.HiddenKey, p.Uses&(plan.SetsLastInsertID|plan.WritesUserVariable) != 0: // the answer is not the client's
		return out, false
	case node.Renumbers, node.Update && node.Returning: // nor does it tell whether the row is new
		return out, false
	case !r.Moment.IsZero(), node.After != nil && snap.Map.AnyForeign():
		return out, false
	}
	r.begin(node, snap, a)
	in := r.insert
	err := r.placeAll(in)
	in.asWritten = in.untouched()
	whole := err == nil && len(r.groups) == 1 &&
		(in.ids.first == 0 || in.rows == 1) && // of several the server tells another one
		(in.asWritten || !a.Binary || node.After == nil) // rows of RETURNING come as the command asks for them
	if !whole {
		in.placed, in.placing = true, err
		return out, false
	}
	out = Placed{Group: r.groups[0], InsertID: in.ids.first}
	if !in.asWritten {
		if out.Packets = r.packets(in, out.Group); r.tooLong(out.Packets) {
			in.placed = true
			return Placed{}, false
		}
	}
	in.forget()
	return out, true
}

// packets is the statement with the rows of group g, as a command.
func (r *Runner) packets(in *insertion, g placement.NodeGroupID) []byte {
	b, start := wire.BeginPacket(r.body[:0])
	b = in.appendStatement(append(b, byte(wire.ComQuery)), g)
	var seq byte
	b = wire.EndPacket(b, start, &seq)
	if r.body = b; cap(b) > keepBytes {
		r.body = nil
	}
	return b
}

// takePlaced reports whether PlaceRows has placed the rows of the statement that begins to run, and why it could not.
func (r *Runner) takePlaced() (placed bool, err error) {
	if r.insert == nil || !r.insert.placed {
		return false, nil
	}
	r.insert.placed = false
	return true, r.insert.placing
}
