package planner

// Rule is one named step of planning. Rules are tried in the order of the list they stand in; a rule looks at what is
// known of the statement and either does nothing (fired is false) or contributes to the plan. Names are what plans,
// EXPLAIN and golden tests (expect=Name) show.
type Rule struct {
	Name string
	// Doc is the argument why the rule is correct, and when it must not fire.
	Doc string
	// Apply reports whether the rule fired. After an error, or once build.done is set, no further rule is tried.
	Apply func(b *build) (fired bool, err error)
}

// run applies the rules of a list in order and notes those that fired.
func run(b *build, rules []Rule) error {
	for i := range rules {
		fired, err := rules[i].Apply(b)
		if err != nil {
			return err
		}
		if fired {
			b.plan.Rules = append(b.plan.Rules, rules[i].Name)
		}
		if b.done {
			return nil
		}
	}
	return nil
}
