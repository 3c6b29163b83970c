package logic

import (
	"context"
	"regexp"
	"strings"

	"skarv/test/differ"
)

// A SELECT has one answer, whatever plan a server makes for it. Where it has not, that is the server's fault: MariaDB 10.11 loses rows
// of a RIGHT JOIN in a common table expression that is read twice. Of two servers with the same rows and other statistics one may answer
// so and the other otherwise; so may the cluster. On MySQL 9.7 a column that WITH ROLLUP shows is CHAR(5) or VARCHAR(5), depending on whether IN (SELECT ...) is made a join. That this is the reason is not assumed: the one server itself must give the
// cluster's answer when its optimizer is kept from one thing.

// planSettings are variables that keep the server's optimizer from something, each with its assignment back.
func planSettings(mysql bool) (settings [][2]string) {
	switches := []string{"derived_merge", "derived_with_keys", "condition_pushdown_for_derived", "condition_pushdown_for_subquery",
		"condition_pushdown_from_having", "split_materialized", "semijoin", "materialization", "exists_to_in", "outer_join_with_cache", "table_elimination",
		"orderby_uses_equalities", "rowid_filter", "extended_keys", "index_condition_pushdown", "index_merge"}
	others := [][2]string{{"join_cache_level = 0", "join_cache_level = DEFAULT"}}
	if mysql {
		switches = []string{"derived_merge", "derived_condition_pushdown", "semijoin", "materialization", "duplicateweedout", "firstmatch", "loosescan",
			"block_nested_loop", "index_condition_pushdown", "index_merge", "use_index_extensions", "condition_fanout_filter", "prefer_ordering_index", "skip_scan"}
		others = [][2]string{{"optimizer_switch = 'hypergraph_optimizer=on'", "optimizer_switch = 'hypergraph_optimizer=off'"}}
	}
	for _, s := range switches {
		settings = append(settings, [2]string{"optimizer_switch = '" + s + "=off'", "optimizer_switch = '" + s + "=on'"})
	}
	return append(append(settings, others...), [2]string{"optimizer_search_depth = 1", "optimizer_search_depth = DEFAULT"})
}

// byAnotherPlan reports whether the one server gives got, the cluster's answer to list i of a SELECT's arguments, by some plan.
func (r *runner) byAnotherPlan(ctx context.Context, s *statement, i int, got differ.Outcome) bool {
	if s.writes {
		return false
	}
	alike := func(s *statement, how string) bool {
		o := s.afresh(ctx, r.one, i)
		if lost(o) {
			r.checkEnded()
		}
		if r.compare(s, o, got) != "" {
			return false
		}
		if !r.quiet {
			r.t.Logf("one server answers as the cluster does with %s:\n%s", how, plain(s.marked))
		}
		return true
	}
	if text, ok := strings.CutPrefix(s.marked, "SELECT "); ok { // groups are found by sorting, not in a temporary table
		sorting := *s
		if sorting.marked = "SELECT SQL_BIG_RESULT " + text; alike(&sorting, "SQL_BIG_RESULT") {
			return true
		}
	}
	if text, ok := strings.CutPrefix(s.marked, "SELECT DISTINCT "); ok && strings.Contains(text, " GROUP BY ") { // MariaDB loses rows of groups that show alike
		apart := *s
		if apart.marked = "SELECT DISTINCT * FROM (SELECT " + text + ") AS shown"; alike(&apart, "the groups in a derived table") {
			return true
		}
	}
	for _, v := range planSettings(r.mysql) {
		if differ.Run(ctx, r.one, "SET SESSION "+v[0], false).Errno != 0 {
			continue
		}
		same := alike(s, v[0])
		if back := differ.Run(ctx, r.one, "SET SESSION "+v[1], false); back.Errno != 0 {
			r.checkEnded()
		}
		if same {
			return true
		}
	}
	return false
}

// joinedNames are the names that the tables of an UPDATE or DELETE with joins have in it.
var joinedNames = regexp.MustCompile(`(?:^UPDATE|IGNORE|FROM|JOIN) t\d+ (\w+)`)

// faultOfAnotherPlan reports whether the one server, which has done a write with joins, finds the cluster's fault in it when another table is read
// first: on MySQL a value of one table that cannot be looked for in a key of another fails the write, which does not happen where the other
// table is read first. No row fits such a value. What this does is undone.
func (r *runner) faultOfAnotherPlan(ctx context.Context, text string, want, got differ.Outcome) bool {
	names := joinedNames.FindAllStringSubmatch(text, -1)
	if !r.mysql || want.Errno != 0 || rowErrors[got.Errno] == nil || len(names) < 2 {
		return false
	}
	begin, undo := r.undone()
	run := func(sql string) differ.Outcome { return differ.Run(ctx, r.one, sql, false) }
	for _, name := range names {
		if run(begin).Errno != 0 {
			return false
		}
		o := run(verb.ReplaceAllString(text, "$1 /*+ JOIN_PREFIX("+name[1]+") */$2 "))
		if run(undo).Errno != 0 {
			return false
		}
		if o.Errno == got.Errno {
			return true
		}
	}
	return false
}

// undone are the statements around others of the one server that are to leave nothing.
func (r *runner) undone() (begin, undo string) {
	if r.within {
		return "SAVEPOINT faults", "ROLLBACK TO faults"
	}
	return "BEGIN", "ROLLBACK"
}

// whenPrepared reports whether a statement has several faults, of which the one server tells the cluster's when the statement is prepared,
// and another one when it is run as text: x'00ff' among strings, and a mix of collations. The cluster has a server look at
// a statement first, by preparing it.
func (r *runner) whenPrepared(ctx context.Context, s *statement, want, got differ.Outcome) bool {
	if want.Errno == 0 || got.Errno == 0 {
		return false
	}
	text := strings.NewReplacer("'", "''", `\`, `\\`).Replace(plain(s.marked))
	return differ.Run(ctx, r.one, "PREPARE looked FROM '"+text+"'", false).Errno == got.Errno
}
