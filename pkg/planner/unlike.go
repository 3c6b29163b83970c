package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/wordlist"
)

// Every group does the same to its copies of reference tables. What it would do in another way is computed once instead: over a copy, or in
// a stage.

// unlikeCopies reports whether the statement has other values on other groups: by chance, by variables of a server, from its own tables, or by
// defaults that differ from row to row.
func (b *build) unlikeCopies(stmt sqlparser.SQLNode) bool {
	if b.plan.Uses&(plan.Nondeterministic|plan.WritesUserVariable|plan.SetsLastInsertID) != 0 || b.a.system || b.a.virtual {
		return true
	}
	volatile := slices.ContainsFunc(b.a.insts, func(in *instance) bool { return in.table != nil && volatileDefault(in.table) })
	if volatile && slices.ContainsFunc(b.a.insts, func(in *instance) bool { return in.inView }) {
		return true // a view may name them
	}
	return unlike(stmt, volatile)
}

// unlikeUpdate reports whether ON DUPLICATE KEY UPDATE of table t gives copies of a row other values.
func (b *build) unlikeUpdate(t *catalog.Table) bool {
	return b.updatesBy(func(n sqlparser.SQLNode) bool {
		switch n := n.(type) {
		case *sqlparser.FuncExpr:
			return b.byChance(n)
		case *sqlparser.CurTimeFuncExpr:
			return n.Name.EqualString("sysdate")
		}
		return false
	}) || slices.ContainsFunc(b.ins.stmt.OnDup, func(u *sqlparser.UpdateExpr) bool { return unlike(u.Expr, volatileDefault(t)) })
}

// seededUpdate reports whether ON DUPLICATE KEY UPDATE has RAND(seed), whose sequence one server goes on with from row to row.
func (b *build) seededUpdate() bool {
	return b.updatesBy(func(n sqlparser.SQLNode) bool {
		f, is := n.(*sqlparser.FuncExpr)
		return is && f.Name.EqualString("rand") && len(f.Exprs) > 0
	})
}

// updatesBy reports whether ON DUPLICATE KEY UPDATE assigns what holds a node that is asked for.
func (b *build) updatesBy(asked func(sqlparser.SQLNode) bool) (found bool) {
	for _, u := range b.ins.stmt.OnDup {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			found = found || asked(n)
			return !found, nil
		}, u.Expr)
	}
	return found
}

// unlike reports whether n reads variables of a server, or the state of one, or with volatile a default.
func unlike(n sqlparser.SQLNode, volatile bool) (found bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Variable:
			found = found || n.Scope != sqlparser.VariableScope && n.Scope != sqlparser.NoScope && !alikeVariable(n.Name.Lowered())
		case *sqlparser.PerformanceSchemaFuncExpr:
			found = found || n.Type != sqlparser.FormatBytesType && n.Type != sqlparser.FormatPicoTimeType
		case *sqlparser.GTIDFuncExpr:
			found = true
		case *sqlparser.Default:
			found = found || volatile
		}
		return !found, nil
	}, n)
	return found
}

// alikeVariable reports whether a variable that statements of applications read is the session's, on all groups.
func alikeVariable(name string) bool {
	return wordlist.Has(` autocommit auto_increment_increment auto_increment_offset character_set_client character_set_connection character_set_database
 character_set_results collation_connection collation_database default_week_format div_precision_increment error_count foreign_key_checks
 group_concat_max_len identity last_insert_id lc_time_names max_sort_length sql_auto_is_null sql_mode sql_safe_updates sql_select_limit
 system_time_zone time_zone timestamp transaction_isolation transaction_read_only tx_isolation tx_read_only unique_checks version warning_count `, name)
}
