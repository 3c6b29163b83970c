package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"skarv/pkg/placement"
)

// Execution is where the fragments of a plan run for the values at hand and, after it has run, what they did.
type Execution struct {
	// Relay is the group that answers the whole statement, 0 if it is not relayed.
	Relay placement.NodeGroupID
	// Ways are what the ways of a Choice are expected to cost, the one to go first.
	Ways []Way
	// Targets are the groups of each fragment.
	Targets []FragmentTarget
	// Ran: the rest is known.
	Ran  bool
	Rows uint64
	Took time.Duration
	// Fragments are what the groups did, in the order in which they ended.
	Fragments []FragmentRun
	// Stages are what was made of that, in the order in which they ended. Those of copies that are made at once overlap.
	Stages []StageRun
	// Servers are the plans of servers for the text of fragments.
	Servers []ServerPlan
}

// ServerPlan is what the server of a node group tells by EXPLAIN of a fragment, whose Text is "" if it is the statement as it is written. Of
// each of its rows it has the columns that are not NULL.
type ServerPlan struct {
	Fragment int
	Group    placement.NodeGroupID
	Text     string
	Rows     [][]ServerValue
}

// ServerValue is a column of a server's EXPLAIN.
type ServerValue struct{ Column, Value string }

// StageRun is a part of a statement that is not a fragment: a copy for a workspace, the statement over the copies, the merging of what
// node groups send. Bytes are 0 where they are not known.
type StageRun struct {
	Name        string
	Rows, Bytes uint64
	Took        time.Duration
}

// FragmentTarget is the groups a fragment goes to. With Entry they are those that have the entry of that global index, which tells where
// the fragment goes when it is read.
type FragmentTarget struct {
	Fragment int
	Groups   []placement.NodeGroupID
	Entry    string
}

// FragmentRun is what a group did for a fragment: the rows it sent, the time until they began, and until they ended.
type FragmentRun struct {
	Fragment    int
	Group       placement.NodeGroupID
	Rows        uint64
	Bytes       uint64
	First, Took time.Duration
}

// Fragments are those of the tree below n, in the order of their ids.
func Fragments(n Node) (list []*Fragment) {
	eachFragment(n, func(f *Fragment, _ *Copy) { list = append(list, f) })
	slices.SortStableFunc(list, func(a, b *Fragment) int { return a.ID - b.ID })
	return list
}

// Root is what has the fragments that run, where p is not relayed.
func (x *Execution) Root(p *Plan) Node {
	root := p.Root
	if len(x.Ways) > 0 {
		root = x.Ways[0].Node
	}
	if n, ok := root.(*ChangeRows); ok {
		return n.Read
	}
	return root
}

// Settled are those of Fragments whose text hangs on nothing that others bring.
func Settled(n Node) (list []*Fragment) {
	eachFragment(n, func(f *Fragment, c *Copy) {
		if c == nil || len(c.Joins) == 0 {
			list = append(list, f)
		}
	})
	return list
}

// eachFragment visits the fragments below n; c is the copy whose Input f is, or nil.
func eachFragment(n Node, visit func(f *Fragment, c *Copy)) {
	copies := func(list []Copy) {
		for i := range list {
			switch c := &list[i]; {
			case c.View != nil:
				eachFragment(c.View, visit)
			case c.Query != nil:
				eachFragment(c.Query.Root, visit)
			default:
				visit(c.Input, c)
			}
		}
	}
	switch n := n.(type) {
	case *Fragment:
		visit(n, nil)
	case *Broadcast:
		eachFragment(n.Input, visit)
		copies(n.Copies)
	case *Workspace:
		copies(n.Copies)
	default:
		if input := Input(n); input != nil {
			eachFragment(input, visit)
		}
	}
}

// Explain prints the plan as EXPLAIN and EXPLAIN ANALYZE show it.
func (p *Plan) Explain(x *Execution) string {
	if p.Inner != nil {
		p = p.Inner
	}
	var w strings.Builder
	w.WriteString(p.String() + "\n")
	for i, way := range x.Ways {
		word := "not"
		if i == 0 {
			word = "now"
		}
		fmt.Fprintf(&w, "%s: %s\n", word, way)
	}
	if x.Ran {
		x.explainRun(&w)
	} else {
		p.explainTargets(&w, x)
	}
	for _, server := range x.Servers {
		for _, row := range server.Rows {
			fmt.Fprintf(&w, "server: fragment #%d on node group %d:", server.Fragment, server.Group)
			for _, v := range row {
				fmt.Fprintf(&w, " %s=%s", v.Column, v.Value)
			}
			w.WriteString("\n")
		}
	}
	return strings.TrimRight(w.String(), "\n")
}

// explainTargets prints where the fragments would go.
func (p *Plan) explainTargets(w *strings.Builder, x *Execution) {
	if x.Relay != 0 {
		fmt.Fprintf(w, "now: relayed to node group %d\n", x.Relay)
		return
	}
	root := x.Root(p)
	for _, t := range x.Targets {
		if t.Entry != "" {
			fmt.Fprintf(w, "now: fragment #%d on the node group that the entry of %s leads to, which is on node group %s\n", t.Fragment, t.Entry, groupList(t.Groups))
			continue
		}
		fmt.Fprintf(w, "now: fragment #%d on node group %s", t.Fragment, groupList(t.Groups))
		if slices.ContainsFunc(Fragments(root), func(f *Fragment) bool { return f.ID == t.Fragment && f.Text == nil }) {
			w.WriteString(": the statement as it is written")
		}
		w.WriteString("\n")
	}
}

// explainRun prints what has run.
func (x *Execution) explainRun(w *strings.Builder) {
	if x.Relay != 0 {
		fmt.Fprintf(w, "ran: relayed to node group %d\n", x.Relay)
	}
	for _, f := range x.Fragments {
		fmt.Fprintf(w, "ran: fragment #%d on node group %d: %d rows, %d bytes, first after %s, all after %s\n",
			f.Fragment, f.Group, f.Rows, f.Bytes, milliseconds(f.First), milliseconds(f.Took))
	}
	for _, s := range x.Stages {
		fmt.Fprintf(w, "ran: %s: %d rows", s.Name, s.Rows)
		if s.Bytes > 0 {
			fmt.Fprintf(w, ", %d bytes", s.Bytes)
		}
		fmt.Fprintf(w, " in %s\n", milliseconds(s.Took))
	}
	fmt.Fprintf(w, "ran: the statement: %d rows in %s\n", x.Rows, milliseconds(x.Took))
}

func groupList(groups []placement.NodeGroupID) string {
	var s []string
	for _, g := range groups {
		s = append(s, fmt.Sprint(g))
	}
	return strings.Join(s, ", ")
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d.Microseconds())/1000)
}

// jsonExecution is an Execution as EXPLAIN FORMAT=JSON shows it.
type jsonExecution struct {
	Relay     placement.NodeGroupID `json:"relayed_to,omitempty"`
	Ways      []string              `json:"ways,omitempty"` // the one to go first
	Targets   []jsonTarget          `json:"targets,omitempty"`
	Fragments []jsonRun             `json:"fragments,omitempty"`
	Stages    []jsonStage           `json:"stages,omitempty"`
	Rows      *uint64               `json:"rows,omitempty"`
	Took      *float64              `json:"milliseconds,omitempty"`
	Servers   []jsonServer          `json:"servers,omitempty"`
}

// jsonServer is a ServerPlan. Its rows are a server's, whose numbers are text.
type jsonServer struct {
	Fragment int                   `json:"fragment"`
	Group    placement.NodeGroupID `json:"node_group"`
	Plan     []map[string]string   `json:"plan"`
}

type jsonTarget struct {
	Fragment int                     `json:"fragment"`
	Groups   []placement.NodeGroupID `json:"node_groups,omitempty"` // empty: see Entry
	Entry    *jsonEntry              `json:"entry,omitempty"`
}

// jsonEntry is an entry of a global index that leads to the node group of a fragment.
type jsonEntry struct {
	Index  string                  `json:"index"`
	Groups []placement.NodeGroupID `json:"node_groups"`
}

type jsonRun struct {
	Fragment int                   `json:"fragment"`
	Group    placement.NodeGroupID `json:"node_group"`
	Rows     uint64                `json:"rows"`
	Bytes    uint64                `json:"bytes"`
	First    float64               `json:"first_milliseconds"`
	Took     float64               `json:"milliseconds"`
}

type jsonStage struct {
	Stage string  `json:"stage"`
	Rows  uint64  `json:"rows"`
	Bytes uint64  `json:"bytes,omitempty"`
	Took  float64 `json:"milliseconds"`
}

// ExplainJSON prints the plan as EXPLAIN FORMAT=JSON shows it, indented.
func (p *Plan) ExplainJSON(x *Execution) []byte {
	if p.Inner != nil {
		return p.Inner.ExplainJSON(x)
	}
	j := p.json()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	if x != nil {
		e := &jsonExecution{Relay: x.Relay, Ways: list(x.Ways)}
		for _, t := range x.Targets {
			target := jsonTarget{Fragment: t.Fragment, Groups: t.Groups}
			if t.Entry != "" {
				target.Groups, target.Entry = nil, &jsonEntry{t.Entry, t.Groups}
			}
			e.Targets = append(e.Targets, target)
		}
		if x.Ran {
			took := ms(x.Took)
			e.Targets, e.Rows, e.Took = nil, &x.Rows, &took
		}
		for _, f := range x.Fragments {
			e.Fragments = append(e.Fragments, jsonRun{f.Fragment, f.Group, f.Rows, f.Bytes, ms(f.First), ms(f.Took)})
		}
		for _, s := range x.Stages {
			e.Stages = append(e.Stages, jsonStage{s.Name, s.Rows, s.Bytes, ms(s.Took)})
		}
		for _, server := range x.Servers {
			of := jsonServer{server.Fragment, server.Group, nil}
			for _, row := range server.Rows {
				values := map[string]string{}
				for _, v := range row {
					values[v.Column] = v.Value
				}
				of.Plan = append(of.Plan, values)
			}
			e.Servers = append(e.Servers, of)
		}
		if x.Ran {
			j.Ran = e
		} else {
			j.Now = e
		}
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil { // there is nothing in it that cannot be written
		return []byte("{}")
	}
	return text
}
