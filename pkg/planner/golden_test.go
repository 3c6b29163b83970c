package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// TestGolden plans the statements of testdata and compares with the plans written there. Rewrite with
//
//	go test ./pkg/planner -run TestGolden -rewrite
//
// and read the difference.
//
// Commands: schema (adds tables), trigger TABLE before|after EVENT, reader FUNCTION TABLE..., security NAME DEFINER [invoker], flavor mysql|mariadb, plan [expect=Rule] [expect-not=Rule] [db=name] [latin1]
// [mode=ansi_quotes,...].
//
// Every rule must be shown to fire, and not to fire where it comes near.
func TestGolden(t *testing.T) {
	fires, spares := map[string]bool{}, map[string]bool{}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := newTestSchema(t)
		p, err := New()
		require.NoError(t, err)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "schema":
				s.add(t, d.Input)
				return ""
			case "trigger", "fired": // table, before or after, event: one that sessions run, or that servers fire
				tab := s.snap.Table(s.db, d.CmdArgs[0].Key)
				tr := catalog.Trigger{Name: "tr", Before: d.CmdArgs[1].Key == "before", Event: strings.ToUpper(d.CmdArgs[2].Key)}
				if d.Cmd == "trigger" {
					tr.Program = &catalog.TriggerProgram{}
				}
				tab.Triggers = append(tab.Triggers, tr)
				return ""
			case "reader", "by-value", "by-query": // function, tables that it reads, and how
				r := &catalog.Routine{Database: s.db, Name: d.CmdArgs[0].Key, Function: true}
				for _, a := range d.CmdArgs[1:] {
					r.Reads = append(r.Reads, catalog.TableName{Database: s.db, Name: a.Key})
				}
				switch d.Cmd {
				case "by-value":
					r.Values = r.Reads
				case "by-query":
					r.Queries = r.Reads
				}
				if s.snap.Routines == nil {
					s.snap.Routines = map[catalog.RoutineKey]*catalog.Routine{}
				}
				s.snap.Routines[r.Key()] = r
				return ""
			case "security": // view or function, definer, and invoker if it is whoever uses it
				security := catalog.Security{Definer: catalog.AccountName(d.CmdArgs[1].Key), Invoker: len(d.CmdArgs) > 2}
				if r := s.snap.Routine(s.db, d.CmdArgs[0].Key, true); r != nil {
					r.Security = security
				} else {
					s.snap.Table(s.db, d.CmdArgs[0].Key).Security = security
				}
				return ""
			case "flavor":
				s.snap.Flavor = catalog.Flavor(d.CmdArgs[0].Key)
				return ""
			case "access":
				return accessGolden(t, d, p, s)
			case "open":
				st := sqlparse.NewDialect(s.snap.Flavor == catalog.MariaDB, s.snap.ServerVersion).NewStatement()
				require.NoError(t, st.Scan([]byte(d.Input), 0))
				return string(p.OpenViews(st, s.db, s.snap, SessionInfo{UTF8Results: true}))
			case "plan":
				for _, a := range d.CmdArgs {
					for _, rule := range a.Vals {
						fires[rule] = fires[rule] || a.Key == "expect"
						spares[rule] = spares[rule] || a.Key == "expect-not"
					}
				}
				return golden(t, d, p, s)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
	for _, list := range ruleLists() {
		for _, r := range list {
			if !slices.Contains(silentRules, r.Name) {
				assert.True(t, fires[r.Name], "no statement of testdata says expect=%s", r.Name)
				assert.True(t, spares[r.Name], "no statement of testdata says expect-not=%s", r.Name)
			}
		}
	}
}

// accessGolden tells what an account needs for each line of the input, and whether it is refused.
func accessGolden(t *testing.T, d *datadriven.TestData, p *Planner, s *testSchema) string {
	var out strings.Builder
	st := sqlparse.NewDialect(s.snap.Flavor == catalog.MariaDB, s.snap.ServerVersion).NewStatement()
	for line := range strings.SplitSeq(d.Input, "\n") {
		require.NoError(t, st.Scan([]byte(line), 0))
		pl, err := p.Build(st, s.db, s.snap, SessionInfo{UTF8Results: true})
		fmt.Fprintf(&out, "%s\n", line)
		if err != nil {
			fmt.Fprintf(&out, "  %v\n", err)
			continue
		}
		for _, a := range pl.Access {
			what := a.Privilege.String()
			if a.Privilege == 0 {
				what = "anything"
			}
			name := a.Database + "." + a.Table
			if a.Table == "" {
				name = a.Database + ".*"
			}
			if a.Routine != "" {
				name = "program " + a.Database + "." + a.Routine
			}
			if a.As != "" {
				what += " by " + a.As.String()
			}
			if a.View != nil {
				what += " behind " + a.View.Name
			}
			if a.Tells {
				what += ", to be told"
			}
			fmt.Fprintf(&out, "  %s: %s\n", name, what)
		}
		if pl.Refuse != nil {
			fmt.Fprintf(&out, "  refused\n")
		}
	}
	return out.String()
}

// silentRules decide nothing that a plan names: they are the frame of those that do, or refuse.
var silentRules = []string{"Assemble", "InsertTarget", "KeepKey", "LeaveKeys", "ModifyTarget"}

func golden(t *testing.T, d *datadriven.TestData, p *Planner, s *testSchema) string {
	db := s.db
	d.MaybeScanArgs(t, "db", &db)
	if db == "none" {
		db = ""
	}
	sess := SessionInfo{UTF8Results: !d.HasArg("latin1"), NoAutoValueOnZero: d.HasArg("no-zero")}
	sess.ForValue = d.HasArg("for-value")
	if d.HasArg("ansi_quotes") {
		sess.Mode |= sqlparse.ANSIQuotes
	}
	if d.HasArg("pipes") {
		sess.Mode |= sqlparse.PipesAsConcat
	}
	st := sqlparse.NewDialect(s.snap.Flavor == catalog.MariaDB, s.snap.ServerVersion).NewStatement()
	require.NoError(t, st.Scan([]byte(d.Input), sess.Mode))
	pl, err := p.Build(st, db, s.snap, sess)
	if err != nil {
		var e *sqlerr.Error
		require.True(t, errors.As(err, &e))
		if d.HasArg("expect") {
			t.Errorf("%s: %s: expected a plan, got %v", d.Pos, d.Input, err)
		}
		return e.Error()
	}
	if pl.Judge {
		if d.HasArg("expect") {
			t.Errorf("%s: %s: expected a plan, got %v", d.Pos, d.Input, pl.Refuse)
		}
		return "judge, else " + pl.Refuse.Error()
	}
	for _, a := range d.CmdArgs {
		for _, rule := range a.Vals {
			switch a.Key {
			case "expect":
				if !slices.Contains(pl.Rules, rule) {
					t.Errorf("%s: %s: rule %s did not fire (%s)", d.Pos, d.Input, rule, strings.Join(pl.Rules, " "))
				}
			case "expect-not":
				if slices.Contains(pl.Rules, rule) {
					t.Errorf("%s: %s: rule %s fired", d.Pos, d.Input, rule)
				}
			}
		}
	}
	return pl.String()
}
