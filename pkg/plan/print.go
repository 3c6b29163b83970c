package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints the plan for people, logs and golden tests: the relay if there is one, then, after "else" if both are
// there, the tree for several groups with its root first. Arguments are printed as ?1, ?2, ... in order of appearance.
func (p *Plan) String() string {
	var w strings.Builder
	p.print(&w)
	return strings.TrimRight(w.String(), "\n")
}

func (p *Plan) print(w *strings.Builder) {
	if p.Inner != nil {
		fmt.Fprintf(w, "explain %s\n", p.Topic)
		p.Inner.print(w)
		return
	}
	if p.Relay != nil {
		w.WriteString("relay ")
		printNode(w, p.Relay, 0)
	}
	switch {
	case p.Root != nil:
		if p.Relay != nil {
			w.WriteString("else\n")
		}
		printNode(w, p.Root, 0)
	case p.Relay == nil:
		w.WriteString(p.session() + "\n")
	}
	if p.Refuse != nil {
		if p.Relay != nil {
			w.WriteString("else ")
		}
		fmt.Fprintf(w, "refuse %s\n", p.Refuse.Message)
	}
	for _, g := range p.Guards {
		fmt.Fprintf(w, "guard %s = %s\n", argName(g.Arg), g.Text)
	}
	if p.Unseen {
		w.WriteString("shown to a server first\n")
	}
	if u := p.Uses.String(); u != "" {
		fmt.Fprintf(w, "uses %s\n", u)
	}
}

// topic is what refines the plan's Kind.
func (p *Plan) topic() string {
	if p.Kind == DDL && p.Change != (Change{}) {
		return p.Change.String()
	}
	return string(p.Topic)
}

// session describes a plan without nodes.
func (p *Plan) session() string {
	words := []string{"session", p.Kind.String()}
	if t := p.topic(); t != "" {
		words = append(words, t)
	}
	switch {
	case p.Database != "":
		words = append(words, p.Database+"."+p.Name)
	case p.Name != "":
		words = append(words, p.Name)
	}
	if p.Kind == Kill {
		words = append(words, operand(p.Operand))
	}
	if t := p.Txn; t != nil {
		for _, f := range []struct {
			on   bool
			word string
		}{{t.ReadOnly, "read only"}, {t.ReadWrite, "read write"}, {t.Snapshot, "snapshot"}, {t.Chain, "chain"},
			{t.NoChain, "no chain"}, {t.Release, "release"}, {t.NoRelease, "no release"}, {t.RollbackTo, "rollback to"}} {
			if f.on {
				words = append(words, f.word)
			}
		}
	}
	return strings.Join(words, " ")
}

func indent(w *strings.Builder, depth int) {
	for range depth {
		w.WriteString("  ")
	}
}

func printNode(w *strings.Builder, n Node, depth int) {
	indent(w, depth)
	switch n := n.(type) {
	case *Fragment:
		fmt.Fprintf(w, "fragment #%d %s", n.ID, n.Target.String())
		if n.Write {
			w.WriteString(" write")
		}
		if n.Same {
			w.WriteString(" same")
		}
		if n.Brief {
			w.WriteString(" brief")
		}
		w.WriteString("\n")
		if n.Text != nil {
			printText(w, n.Text, depth)
		}
	case *Merge:
		if len(n.Order) == 0 {
			w.WriteString("concatenate\n")
		} else {
			fmt.Fprintf(w, "merge by %s\n", orders(n.Order))
		}
		printNode(w, n.Input, depth+1)
	case *Aggregate:
		w.WriteString("aggregate")
		for i, c := range n.Columns {
			sep := ", "
			if i == 0 {
				sep = " "
			}
			w.WriteString(sep + c.String())
		}
		if len(n.GroupBy) > 0 {
			fmt.Fprintf(w, " group by %s", orders(n.GroupBy))
		}
		w.WriteString("\n")
		printNode(w, n.Input, depth+1)
	case *Distinct:
		fmt.Fprintf(w, "distinct %s\n", orders(n.Columns))
		printNode(w, n.Input, depth+1)
	case *Limit:
		fmt.Fprintf(w, "limit %s", operand(n.Count))
		if n.Offset != nil {
			fmt.Fprintf(w, " offset %s", operand(*n.Offset))
		}
		if n.All {
			w.WriteString(", all counted")
		}
		w.WriteString("\n")
		printNode(w, n.Input, depth+1)
	case *Project:
		fmt.Fprintf(w, "keep %d columns\n", n.Keep)
		printNode(w, n.Input, depth+1)
	case *InsertRows:
		n.print(w, depth)
	case *ChangeRows:
		n.print(w, depth)
	case *Workspace:
		n.print(w, depth)
	case *Choice:
		n.print(w, depth)
	case *RowByRow:
		n.print(w, depth)
	case *Broadcast:
		n.print(w, depth)
	case *Sort:
		fmt.Fprintf(w, "sort by %s\n", orders(n.Order))
		printNode(w, n.Input, depth+1)
	}
}

func (n *InsertRows) print(w *strings.Builder, depth int) {
	fmt.Fprintf(w, "insert %s", n.Table.Name)
	switch {
	case n.Same:
		w.WriteString(" into all groups")
	default:
		w.WriteString(" by (")
		for i, k := range n.Key {
			if i > 0 {
				w.WriteString(", ")
			}
			w.WriteString(k.String())
		}
		w.WriteString(")")
	}
	if n.Sequence {
		if n.AutoIncrement < 0 {
			w.WriteString(" adding the sequence")
		} else {
			fmt.Fprintf(w, " sequence at %d", n.AutoIncrement)
		}
		if n.ZeroIsValue {
			w.WriteString(" zero is a value")
		}
	}
	fmt.Fprintf(w, ", %d values\n", n.Columns)
	printText(w, n.Before, depth)
	for _, r := range n.Row {
		indent(w, depth)
		fmt.Fprintf(w, "     value %s\n", r.String())
	}
	if n.After != nil {
		printText(w, n.After, depth)
	}
	if n.Indexed != nil {
		n.Indexed.print(w, depth)
	}
	if n.Several != nil {
		indent(w, depth)
		fmt.Fprintf(w, "     one group only: %s\n", n.Several.Message)
	}
	for _, g := range n.Given {
		indent(w, depth)
		fmt.Fprintf(w, "     value %d must be %s\n", g.Column, operand(g.Value))
	}
	if n.Reads {
		indent(w, depth)
		w.WriteString("     values from tables\n")
	}
	if n.Else != nil {
		indent(w, depth)
		w.WriteString("     else by a stage\n")
	}
}

func printText(w *strings.Builder, t Text, depth int) {
	indent(w, depth)
	w.WriteString("     " + strings.ReplaceAll(t.String(), "\n", " ") + "\n")
}

// String is where a column's value comes from: "value 0", "default", "sequence".
func (v InsertValue) String() string {
	s := "default"
	if v.Column >= 0 {
		s = "value " + strconv.Itoa(v.Column)
	}
	if v.Sequence {
		if v.Column < 0 {
			return "sequence"
		}
		s += " or sequence"
	} else if v.Column < 0 {
		s += " " + operand(Operand{Arg: NoArg, Const: v.Const})
	}
	return s
}

// String prints the target: any, group 3, all, key(t ?1 ?2).
func (t Target) String() string {
	var s string
	switch t.Kind {
	case AnyGroup:
		s = "any"
	case OneGroup:
		s = "group " + strconv.Itoa(int(t.Group))
	case AllGroups:
		s = "all"
	case ByKey:
		s = "key(" + t.Table.Name
		for _, o := range t.Key {
			s += " " + operand(o)
		}
		s += ")"
	case ByIndex:
		s = "index(" + t.Index.Table.Name + "." + t.Index.Name
		for _, o := range t.Key {
			s += " " + operand(o)
		}
		s += ")"
	}
	for _, a := range t.Also {
		s += " and " + a.String()
	}
	return s
}

func operand(o Operand) string {
	if o.Arg != NoArg {
		return argName(o.Arg)
	}
	if o.Const.IsNull() {
		return "NULL"
	}
	return strconv.Quote(string(o.Const.Raw))
}

// argName is how an argument is printed.
func argName(arg int) string {
	if arg == ArgSelectList {
		return "{select list}"
	}
	if arg <= ArgList {
		return "{values " + strconv.Itoa(ArgList-arg+1) + "}"
	}
	return "?" + strconv.Itoa(arg+1)
}

// String prints the text with its arguments as ?1, sums as ?1+?2, the group's part of a list as ?1part.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.SQL)
		if p.Arg == NoArg && p.Plus == nil {
			continue
		}
		b.WriteString(argName(p.Arg))
		if p.Part {
			b.WriteString("part")
		}
		if p.Plus != nil {
			b.WriteString("+" + operand(*p.Plus))
		}
	}
	return b.String()
}

func orders(list []Order) string {
	var s []string
	for _, o := range list {
		s = append(s, o.String())
	}
	return strings.Join(s, ", ")
}

// String prints a sort key: column number from 1, collation or weight column, direction.
func (o Order) String() string {
	s := strconv.Itoa(o.Column + 1)
	if o.Weight >= 0 {
		s += " (weight " + strconv.Itoa(o.Weight+1) + ")"
	}
	if o.Collation != "" {
		s += " " + o.Collation
	}
	if o.Desc {
		s += " desc"
	}
	return s
}

// String prints the function and its column, from 1.
func (c AggregateColumn) String() string {
	col := strconv.Itoa(c.Column + 1)
	if c.Func == Sum && c.Sum > 0 {
		return fmt.Sprintf("sum(%d = %d)", c.Column+1, c.Sum+1)
	}
	if c.Func == Avg {
		return fmt.Sprintf("%s(%s = %d / %d)", c.Func, col, c.Sum+1, c.Count+1)
	}
	s := c.Func.String() + "(" + col
	if c.Weight >= 0 {
		s += " weight " + strconv.Itoa(c.Weight+1)
	}
	if c.Collation != "" {
		s += " " + c.Collation
	}
	return s + ")"
}

// String is the function's name.
func (f AggregateFunc) String() string {
	return [...]string{"", "first", "sum", "min", "max", "count", "avg"}[f]
}

// String is the kind's name, the value of the label in metrics.
func (k Kind) String() string {
	names := [...]string{"unknown", "select", "insert", "replace", "update", "delete", "ddl", "show", "set", "use", "begin",
		"commit", "rollback", "savepoint", "lock", "unlock", "kill", "explain", "prepared", "call", "compound", "do", "get_diagnostics", "flush",
		"table_admin", "account", "other"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[0]
}

// String lists the bits.
func (u Uses) String() string {
	var s []string
	for i, name := range [...]string{"reads @", "writes @", "last_insert_id", "diagnostics", "locks rows", "calc found rows",
		"sets last_insert_id", "nondeterministic", "clock", "pins session"} {
		if u&(1<<i) != 0 {
			s = append(s, name)
		}
	}
	return strings.Join(s, ", ")
}
