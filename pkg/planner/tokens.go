package planner

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/function"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// tokenRules is the list for rows statements without a syntax tree.
func tokenRules() []Rule {
	return []Rule{
		{"RelayByTokens", `The scanner is sure to have found every table of the statement. If all of them are reference tables
(for reading), or all of them single or reference tables that lie together on one group, that group alone can run
the text as it is: nothing about it needs to be known.`, relayByTokens},
	}
}

func relayByTokens(b *build) (bool, error) {
	refs, sure := b.st.Tables()
	refuse := b.refuseForm()
	if !sure {
		return false, refuse
	}
	var groups []placement.NodeGroupID
	write := b.plan.Kind != plan.Select
	var tables []*catalog.Table
	system := false
	for _, r := range refs {
		db, err := b.defaulted(r.DB)
		if err != nil {
			return false, err
		}
		switch systemSchema(db) {
		case virtualSchema:
			return false, refuse
		case informationSchema:
			if r.Write {
				return false, refuse
			}
			if !strings.EqualFold(db, "information_schema") {
				b.access(plan.Access{Database: db, Table: r.Name, Privilege: catalog.MaySuper}) // as in analysis.base
			}
			system = true
			continue
		}
		t, err := b.table(db, r.Name)
		if err != nil {
			return false, err
		}
		need := catalog.MaySelect
		if r.Write {
			need = b.writes()
		}
		b.needs(t, need)
		switch {
		case t.Kind == catalog.Single:
			if !slices.Contains(groups, t.Group) {
				groups = append(groups, t.Group)
			}
		case t.Kind == catalog.Reference && !r.Write:
		default:
			return false, refuse
		}
		tables = append(tables, t)
	}
	for _, t := range b.reads {
		switch {
		case t.Kind == catalog.Single && !slices.Contains(groups, t.Group):
			groups = append(groups, t.Group)
		case t.Kind == catalog.Sharded:
			return false, refuse
		}
	}
	if len(groups) > 1 || system && len(tables) > 0 || write && len(groups) == 0 {
		return false, refuse
	}
	f := b.fragment(plan.Target{Kind: plan.AnyGroup})
	if len(groups) == 1 {
		f.Target = plan.Target{Kind: plan.OneGroup, Group: groups[0]}
	} else if system {
		f.Target = b.metadataTarget()
		b.plan.Topic = plan.Metadata
	}
	f.Tables, f.Write = tables, write || b.callsOthers()
	b.plan.Relay, b.done = f, true
	return true, nil
}

// callsOthers reports that a statement without a tree may call a function that is not the servers' own, which may write.
func (b *build) callsOthers() bool {
	toks := b.st.Tokens()
	var before, prev sqlparse.Token
	for {
		t := toks.Next()
		if t.Kind == sqlparse.EOF {
			return false
		}
		if t.Kind == sqlparse.Op && b.st.Is(t, "(") && (prev.Kind == sqlparse.Word || prev.Kind == sqlparse.QuotedName) && !b.st.Is(before, "{") {
			name := strings.ToLower(string(b.st.Text(prev.Span)))
			if b.st.Is(before, ".") || !function.Builtin(name) && !function.OfServer(name) && !function.OfUserLocks(name) && !function.IsWord(name) {
				return true
			}
		}
		before, prev = prev, t
	}
}

// refuseForm words the refusal of a form without a tree by what is known to be in it.
func (b *build) refuseForm() error {
	u := b.st.Uses()
	switch {
	case u&sqlparse.Pipes != 0 && b.st.Mode()&sqlparse.PipesAsConcat != 0:
		return sqlerr.Unsupported("|| as concatenation over sharded tables", "use CONCAT()")
	case u&sqlparse.Not != 0 && b.st.Mode()&sqlparse.HighNotPrecedence != 0:
		return sqlerr.Unsupported("NOT with sql_mode HIGH_NOT_PRECEDENCE over sharded tables", "use parentheses and the default sql_mode")
	case u&sqlparse.Returning != 0:
		return sqlerr.Unsupported("RETURNING on sharded tables", "select the rows in a transaction with FOR UPDATE, then write")
	case u&sqlparse.Foreign != 0:
		return b.refuseKind()
	}
	toks := b.st.Tokens()
	for {
		t := toks.Next()
		if t.Kind == sqlparse.EOF {
			break
		}
		for _, w := range [...]string{"EXCEPT", "INTERSECT"} {
			if isWord(b.st, t, w) {
				return sqlerr.Unsupported(w+" over sharded tables", "use EXISTS, NOT EXISTS or joins")
			}
		}
	}
	return b.syntaxOrForm()
}

// syntaxOrForm is for text that is a syntax error, or a form neither the parser nor this file knows.
func (b *build) syntaxOrForm() error {
	return &unread{sqlerr.Unsupported("this form of statement over sharded tables",
		"write it with plain SELECT, JOIN, WHERE, GROUP BY, ORDER BY, LIMIT")}
}

func isWord(st *sqlparse.Statement, t sqlparse.Token, w string) bool {
	return t.Kind == sqlparse.Word && st.Is(t, w)
}

func lowerText(st *sqlparse.Statement, t sqlparse.Token) string {
	b := slices.Clone(st.Text(t.Span))
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
