package planner

import "slices"

// RuleNames are the names of all rules, sorted: what plans may say in Rules.
func RuleNames() (names []string) {
	for _, list := range [][]Rule{selectRules(), workspaceRules(), waysRules(), insertRules(), stageRules(), modifyRules(), modifyCopiesRules(), tokenRules()} {
		for _, r := range list {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
