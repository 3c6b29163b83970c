package planner

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// placeRules begin every list for what yields rows: where the statement's tables lie.
func placeRules() []Rule {
	return []Rule{
		{"Virtual", `Tables of the database skarv are made by the session from the snapshot. They cannot be mixed with
others, for no server has them.`, virtual},
		{"System", `information_schema and the servers' own schemas are alike on every group, the definitions of single
tables excepted: if all single tables lie on one group, that group knows every table.`, system},
		{"RelayAny", `A statement without tables, or over reference tables only, gives the same on every group: each has
all the rows.`, relayAny},
		{"RelaySingle", `All rows of the single tables lie on one group, and all rows of reference tables lie there too.`,
			relaySingle},
		{"RelayByKey", `Every sharded table in the statement, at any depth, either has each column of its distribution key
equal to a value by usable facts, or is attached to one that has. Rows of such tables on other groups cannot
matter. If all the values lead to one group, that group has every row that matters and its answer is the
answer, whatever the statement computes. A fact about a column of a union is one about the column of each of its parts, if these have one type: see
unioncolumns.go.`, relayByKey},
		{"PushJoin", `Several references to sharded tables go down as one fragment: one of them (the root) is in every
result row exactly once, and the rows of all others that can matter to a row of the root have the same
distribution key, hence lie in the same group. So the result is the sum of the groups' results. It must not fire
when the root stands on the side of an outer join that may be missing: a row of the other side has to know of
all groups whether it matched.`, pushJoin},
	}
}

// selectRules is the list for SELECT and WITH ... SELECT.
func selectRules() []Rule {
	return slices.Concat(placeRules(), []Rule{
		{"Scatter", `One fragment to every group that may have rows; without more, the result is the concatenation.`,
			scatterAll},
		{"RouteByIndex", `Every row of the result comes from a row of one table, and what must be true for that row gives all columns of
a unique key of it a value. At most one row has it, and the key's global index tells on which group it lies. It must not
fire for an index that is being built, which does not know all rows yet.`, routeByIndex},
		{"PushGroup", `GROUP BY with the whole distribution key (columns equal to it by facts count): all rows of a group lie
on one node group, so aggregates, HAVING and what else is computed per group is computed where the rows are.
WITH ROLLUP adds rows over all groups: it must not fire then.`, pushGroup},
		{"PartialAggregate", `COUNT adds up, SUM adds up, MIN and MAX are those of the parts, AVG is the sum of SUMs over the
sum of COUNTs. With GROUP BY, each node group sends its groups sorted by the grouping columns, and equal ones
become one while streams merge; if ORDER BY is by an aggregate, they are sorted anew. DISTINCT inside an aggregate adds up only if the argument is the distribution
key (equal values then lie in one group); MIN and MAX do not care. HAVING must not look at aggregates, nor tell equal strings of a group apart.`,
			partialAggregate},
		{"PushDistinct", `DISTINCT over a list that has the whole distribution key: equal rows lie on one node group.`,
			pushDistinct},
		{"MergeDistinct", `Each group sends its distinct rows sorted by all columns; equal neighbours become one while merging.`,
			mergeDistinct},
		{"PushWindow", `A window function whose PARTITION BY has the whole distribution key sees all its rows on one group.`,
			pushWindow},
		{"MergeSorted", `Every group sorts its rows by the client's ORDER BY; merging sorted streams by the same comparison gives
the sorted whole. Sort keys that are not in the result are added as hidden columns and dropped again.`,
			mergeSorted},
	}, lastRules())
}

// lastRules end the lists of scatters.
func lastRules() []Rule {
	return []Rule{
		{"PushLimit", `The first n+m rows of the whole are among the first n+m rows of each group. With SQL_CALC_FOUND_ROWS each group gives all its rows, and the
proxy counts what it does not pass on.`, pushLimit},
		{"CutKeyList", `Of an IN list on the distribution key only the group's own values can match there.`, cutKeyList},
		{"Assemble", `Puts the nodes together.`, assemble},
	}
}

func virtual(b *build) (bool, error) {
	if !b.a.virtual {
		return false, nil
	}
	if len(b.a.tables()) > 0 || b.a.system {
		return false, sqlerr.Unsupported("tables of the database skarv together with others", "select from them alone")
	}
	b.plan.Kind, b.plan.Topic, b.done = plan.Show, plan.ShowSkarv, true
	b.needsIn(catalog.VirtualDB, catalog.MaySuper)
	return true, nil
}

// locate finds the places of the statement's tables, once.
func (b *build) locate() *places {
	if b.places == nil {
		b.places = b.a.place()
	}
	return b.places
}

// relayTo makes the whole statement the fragment that t names.
func (b *build) relayTo(t plan.Target) {
	b.plan.Relay = b.fragment(t)
	b.plan.Relay.Brief = b.brief(t)
}

// editList appends the statement's text from the beginning to the end of the select list.
func (b *build) editList(e *editor) {
	if b.part {
		e.span(0, b.cut.List.End)
	} else {
		e.asWritten(0, b.cut.List.End)
	}
}

func system(b *build) (bool, error) {
	if !b.a.system {
		return false, nil
	}
	if len(b.a.tables()) > 0 {
		return false, sqlerr.Unsupported("system tables together with users' tables", "query them one after the other")
	}
	b.done = true
	b.plan.Topic = plan.Metadata
	b.relayTo(b.metadataTarget())
	return true, nil
}

// metadataTarget is a group that knows every table's definition.
func (b *build) metadataTarget() plan.Target {
	t := plan.Target{Kind: plan.AnyGroup}
	for _, db := range b.snap.Databases {
		for _, tab := range db.Tables {
			if tab.Kind == catalog.Single {
				if t.Kind == plan.OneGroup && t.Group != tab.Group {
					return plan.Target{Kind: plan.AnyGroup}
				}
				t = plan.Target{Kind: plan.OneGroup, Group: tab.Group}
			}
		}
	}
	return t
}

func relayAny(b *build) (bool, error) {
	p := b.locate()
	if p.sharded > 0 || len(p.singles) > 0 {
		return false, nil
	}
	b.done = true
	b.relayTo(plan.Target{Kind: plan.AnyGroup})
	return true, nil
}

func relaySingle(b *build) (bool, error) {
	p := b.locate()
	if p.sharded > 0 {
		return false, nil
	}
	t, ok := p.relayTarget()
	if !ok {
		return false, sqlerr.Unsupported("single tables of different node groups in one statement",
			"query them one after the other, or place them on the same group")
	}
	b.done = true
	b.relayTo(t)
	return true, nil
}

func relayByKey(b *build) (bool, error) {
	p := b.locate()
	t, ok := p.relayTarget()
	if !ok {
		return false, nil
	}
	b.relayTo(t)
	if len(t.Also) > 0 {
		b.plan.Refuse = sqlerr.Unsupported("a statement whose tables are located on different node groups by their keys",
			"use the same distribution key values for all of them, or one statement for each")
		b.done = true
	}
	return true, nil
}

// refuseScatter ends planning: what is relayed to one group stays, and is refused for more; what is not is refused now.
func (b *build) refuseScatter(what, how string) error {
	e := sqlerr.Unsupported(what, how)
	if b.plan.Relay == nil {
		return e
	}
	b.plan.Refuse = e
	b.plan.Root = nil
	b.done = true
	return nil
}

func pushJoin(b *build) (bool, error) {
	p := b.places
	if b.a.whole != nil {
		if b.plan.Relay == nil {
			return false, b.a.whole
		}
		b.plan.Refuse, b.done = b.a.whole, true
		return false, nil
	}
	if len(p.singles) > 0 {
		return false, b.refuseScatter("single tables together with sharded tables of several node groups",
			"give the distribution key, or make the table a reference table (COMMENT 'skarv:reference')")
	}
	if b.query.block == nil {
		return false, nil // see unionRules
	}
	if p.root == nil {
		return false, b.refuseScatter(b.whyNoRoot())
	}
	return p.joined, nil
}

// whyNoRoot words the refusal of tables that do not go down together.
func (b *build) whyNoRoot() (what, how string) {
	if b.places.sharded == 1 {
		for _, in := range b.a.insts {
			if !in.sharded() {
				continue
			}
			for _, top := range b.query.block.insts {
				if top == in {
					return "an outer join that keeps the rows of a reference table and looks for matches in the sharded table '" +
							in.table.Name + "'",
						"join from the sharded table, or give its distribution key"
				}
			}
			return "the sharded table '" + in.table.Name + "' in a subquery or derived table that needs rows of all node groups",
				"give its distribution key, or equate it with that of the outer query"
		}
	}
	if b.plan.Uses&plan.Matches != 0 {
		return "MATCH in a statement that joins sharded tables other than by all columns of their distribution keys, which needs copies of them, that have no FULLTEXT keys",
			"select the keys of the rows that MATCH finds first, then join by them"
	}
	return "joining sharded tables other than by all columns of their distribution keys (of the same type and collation)",
		"equate the distribution keys, give their values, or make one a reference table (COMMENT 'skarv:reference')"
}
