package plan

// jsonNode is one step as EXPLAIN FORMAT=JSON shows it. Field names are part of what users see.
type jsonNode struct {
	Step     string      `json:"step"`
	Fragment int         `json:"fragment,omitempty"`
	Target   string      `json:"target,omitempty"`
	SQL      string      `json:"sql,omitempty"` // only where it is not the client's own text
	Write    bool        `json:"write,omitempty"`
	Copies   bool        `json:"all_copies,omitempty"` // every copy of a reference table alike
	Brief    bool        `json:"brief,omitempty"`
	By       []string    `json:"by,omitempty"`
	Columns  []string    `json:"columns,omitempty"`
	Tables   []string    `json:"tables,omitempty"`
	Input    *jsonNode   `json:"input,omitempty"`
	Inputs   []*jsonNode `json:"inputs,omitempty"` // of a workspace: its tables
}

type jsonPlan struct {
	Kind   string    `json:"kind"`
	Topic  string    `json:"topic,omitempty"`
	Relay  *jsonNode `json:"relay,omitempty"` // when all values lead to one node group
	Root   *jsonNode `json:"otherwise,omitempty"`
	Refuse string    `json:"refused,omitempty"` // when they do not, and there is no other way
	Rules  []string  `json:"rules,omitempty"`
	Uses   string    `json:"uses,omitempty"`

	Now *jsonExecution `json:"now,omitempty"` // for the values at hand
	Ran *jsonExecution `json:"ran,omitempty"` // of EXPLAIN ANALYZE
}

// json is the plan as EXPLAIN FORMAT=JSON shows it.
func (p *Plan) json() *jsonPlan {
	j := &jsonPlan{Kind: p.Kind.String(), Topic: p.topic(), Rules: p.Rules, Uses: p.Uses.String()}
	if p.Relay != nil {
		j.Relay = jsonOf(p.Relay)
	}
	if p.Root != nil {
		j.Root = jsonOf(p.Root)
	}
	if p.Refuse != nil {
		j.Refuse = p.Refuse.Message
	}
	return j
}

func jsonOf(n Node) *jsonNode {
	switch n := n.(type) {
	case *Fragment:
		j := &jsonNode{Step: "fragment", Fragment: n.ID, Target: n.Target.String(), Write: n.Write, Copies: n.Same, Brief: n.Brief}
		if n.Text != nil {
			j.SQL = n.Text.String()
		}
		for _, t := range n.Tables {
			j.Tables = append(j.Tables, t.Database+"."+t.Name)
		}
		return j
	case *Merge:
		step := "merge sorted"
		if len(n.Order) == 0 {
			step = "concatenate"
		}
		return &jsonNode{Step: step, By: list(n.Order), Input: jsonOf(n.Input)}
	case *Aggregate:
		return &jsonNode{Step: "aggregate", By: list(n.GroupBy), Columns: list(n.Columns), Input: jsonOf(n.Input)}
	case *Distinct:
		return &jsonNode{Step: "distinct", By: list(n.Columns), Input: jsonOf(n.Input)}
	case *Limit:
		by := []string{operand(n.Count)}
		if n.Offset != nil {
			by = append(by, "offset "+operand(*n.Offset))
		}
		if n.All {
			by = append(by, "all counted")
		}
		return &jsonNode{Step: "limit", By: by, Input: jsonOf(n.Input)}
	case *Project:
		return &jsonNode{Step: "drop hidden columns", Input: jsonOf(n.Input)}
	case *Workspace:
		return jsonOfWorkspace(n)
	case *Choice:
		return jsonOfChoice(n)
	case *Broadcast:
		return jsonOfBroadcast(n)
	case *Sort:
		return &jsonNode{Step: "sort", By: list(n.Order), Input: jsonOf(n.Input)}
	case *ChangeRows:
		return jsonOfChangeRows(n)
	case *RowByRow:
		return &jsonNode{Step: "row by row", Write: true, Tables: []string{n.Table.Database + "." + n.Table.Name}}
	case *InsertRows:
		return &jsonNode{Step: "insert rows", Write: true, Copies: n.Same, SQL: n.Before.String() + "..." + n.After.String(),
			By: list(n.Key), Tables: []string{n.Table.Database + "." + n.Table.Name}}
	}
	return nil
}

func list[T interface{ String() string }](of []T) (s []string) {
	for _, x := range of {
		s = append(s, x.String())
	}
	return s
}
