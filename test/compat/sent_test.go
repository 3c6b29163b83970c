package compat

import (
	"regexp"
	"slices"
	"strings"

	"skarv/test/differ"
)

// allowance is a difference in what comes beside rows that is none, or is written down in docs/compatibility.md.
type allowance struct {
	name, why string
	holds     func(s *differ.Step, d *differ.Difference) bool
}

// allowed is the allowance by which a difference is none; "" if there is none. The flags of a column may differ by several.
func allowed(s *differ.Step, d differ.Difference) string {
	if s.Sent[d.What] {
		return "marked in the story"
	}
	if d.What == "flags" && flagsAlike(&d) {
		return "flags"
	}
	for _, a := range allowances() {
		if a.holds(s, &d) {
			return a.name
		}
	}
	return ""
}

// flagsAlike reports whether flags differ by no more than a server's own plan makes them differ:
//
//   - A temporary table of the server's own, by which it sorts or groups, loses the flags of keys; the cluster says them as the table has them.
//     The cluster may say them where one server does not, never the other way round.
//   - PART_KEY alone is of an index that a server has made itself, over a derived table.
//   - NUM is what MariaDB calls a column of its own temporary table that it groups by.
//   - BINARY of a number says that a temporary table did not hold it. It means something of strings only.
func flagsAlike(d *differ.Difference) bool {
	set := func(s string) []string {
		return slices.DeleteFunc(strings.Fields(strings.Trim(s, "[]")), func(f string) bool {
			return f == "NUM" || f == "BINARY" && slices.Contains(numbers(), d.Type)
		})
	}
	want, got := set(d.Want), set(d.Got)
	keys := []string{"PRI_KEY", "UNIQUE_KEY", "MULTIPLE_KEY", "PART_KEY"}
	own := !slices.ContainsFunc(want, func(f string) bool { return f != "PART_KEY" && slices.Contains(keys, f) })
	for _, f := range want {
		if !slices.Contains(got, f) && !(f == "PART_KEY" && own) {
			return false
		}
	}
	for _, f := range got {
		if !slices.Contains(want, f) && !slices.Contains(keys, f) {
			return false
		}
	}
	return true
}

func numbers() []string {
	return []string{"TINY", "SHORT", "LONG", "FLOAT", "DOUBLE", "LONGLONG", "INT24", "YEAR", "NEWDECIMAL"}
}

func allowances() []allowance {
	lines := func(s string) []string { return strings.Split(s, "\n") }
	return []allowance{
		{"decimals of strings", `Strings have none: 39 says that a value was computed, 0 that a temporary table held it, which depends on the plan.`,
			func(s *differ.Step, d *differ.Difference) bool {
				return d.What == "decimals" && strings.HasSuffix(d.Type, "STRING") || d.What == "decimals" && strings.HasSuffix(d.Type, "BLOB")
			}},
		{"original name of what is computed", `It has none, or the name of the column of a temporary table that held it, which depends on the plan.`,
			func(s *differ.Step, d *differ.Difference) bool {
				_, name, _ := strings.Cut(d.Column, " ")
				return d.What == "original name" && (d.Want == "" && d.Got == name || d.Got == "" && d.Want == name)
			}},
		{"table behind a view", `The rows of a view that is copied come from the copy, which has the view's name; those of one that is planned as its SELECT from
its tables, where a server may keep them in a table of the view's name.`,
			func(s *differ.Step, d *differ.Difference) bool {
				return d.What == "original table" && d.Want == "v3" ||
					(d.What == "original table" || d.What == "schema") && slices.Contains([]string{"vp", "l", "v", "e", "priced", "over_view", "lv", "v_join"}, d.Got) ||
					d.What == "schema" && d.Want == "" && d.Got == "compat"
			}},
		{"each node group warns", `What is wrong with a constant each node group finds; rows are looked at by another plan, and come group by group.`,
			func(s *differ.Step, d *differ.Difference) bool {
				if !overGroups.MatchString(s.SQL) {
					return false
				}
				switch d.What {
				case "warning count", "information":
					return true // the list says more
				case "warnings":
					w, g := lines(atRow.ReplaceAllString(d.Want, "")), lines(atRow.ReplaceAllString(d.Got, ""))
					slices.Sort(w)
					slices.Sort(g)
					return slices.Equal(slices.Compact(w), slices.Compact(g))
				}
				return false
			}},
		{"the first of several", `Of several rows that are wrong another one may be met first.`,
			func(s *differ.Step, d *differ.Difference) bool {
				return (d.What == "message" || d.What == "warnings") && s.FirstOf && value.ReplaceAllString(d.Want, "") == value.ReplaceAllString(d.Got, "")
			}},
		{"event scheduler", `The cluster's is on from the start; that of the one server is off, and it warns of that.`,
			func(s *differ.Step, d *differ.Difference) bool {
				const off = "Warning 1105 Event scheduler is switched off, use SET GLOBAL event_scheduler=ON to enable it."
				return (strings.Contains(s.SQL, "CREATE EVENT") || strings.HasPrefix(s.SQL, "EXECUTE ")) && (d.What == "warning count" || d.What == "warnings" &&
					strings.Join(slices.DeleteFunc(lines(d.Want), func(l string) bool { return l == off }), "\n") == d.Got)
			}},
		{"where in a program", `MariaDB notes where in which program an error came up.`,
			func(s *differ.Step, d *differ.Difference) bool {
				return d.What == "warnings" && slices.Equal(slices.DeleteFunc(lines(d.Want), func(l string) bool { return strings.HasPrefix(l, "Note 4094 ") }), lines(d.Got))
			}},
		{"beside an error", `What MariaDB says beside an error, of these numbers only: why a foreign key cannot be (150, 1215), that a value which could not be
computed is NULL besides (1048, 1105), an error once more (1062), what a broken view lacks (1054, 1146), that it has looked for a table of a
sequence's name (1146), that what is to be dropped is no view (1347), what is wrong with a time (1292), what it met in its own tables
under LOCK TABLES (1049, 1100, 1405), the condition that RESIGNAL has changed (1062, 1644), a view among tables to be dropped (1051),
NULL for what was truncated (1138), what is lacking behind a view (1142, 1370).`,
			func(s *differ.Step, d *differ.Difference) bool {
				if d.What != "warnings" {
					return false
				}
				beside := []string{"150", "1215", "1048", "1105", "1062", "1054", "1146", "1347", "1292", "1049", "1100", "1405", "1644", "1051", "1138", "1142", "1370", "4094", "1005"}
				got := lines(d.Got)
				rest := slices.DeleteFunc(lines(d.Want), func(l string) bool {
					if i := slices.Index(got, l); i >= 0 {
						got = slices.Delete(got, i, i+1)
						return true
					}
					f := strings.Fields(l)
					return len(f) > 1 && slices.Contains(beside, f[1])
				})
				return len(rest) == 0 && len(got) == 0 && strings.Contains(d.Got, "Error ")
			}},
		{"columns of what the session answers", `The columns of statements that no server answers alone (CHECK TABLE and its like, SHOW WARNINGS) are told when they run.`,
			func(s *differ.Step, d *differ.Difference) bool {
				return d.What == "number of columns, prepared" && d.Got == "0"
			}},
		{"status of a cursor", `MariaDB leaves the flags of a cursor inside of a procedure set in the results behind it.`,
			func(s *differ.Step, d *differ.Difference) bool {
				return d.What == "status" && strings.HasPrefix(s.SQL, "CALL ") && strings.Replace(d.Want, " CURSOR LAST_ROW", "", 1) == d.Got
			}},
		{"counts of rows in CREATE TEMPORARY TABLE", `The rows are inserted by a statement of its own, whose counts are not told.`,
			func(s *differ.Step, d *differ.Difference) bool {
				return d.What == "information" && strings.HasPrefix(s.SQL, "CREATE TEMPORARY TABLE") && d.Got == ""
			}},
		{"words of a message", `Names of the servers' own (of the copy that ALTER TABLE writes, of the variables of a program), the text of a statement in which values stand
for sequences, the row that a variable is not in, whose manual it is, a full stop.`,
			func(s *differ.Step, d *differ.Difference) bool {
				if d.What != "message" && d.What != "warnings" {
					return false
				}
				plain := func(m string) string {
					for _, re := range messages() {
						m = re.with.ReplaceAllString(m, re.by)
					}
					return m
				}
				return plain(d.Want) == plain(d.Got)
			}},
	}
}

type replacement struct {
	with *regexp.Regexp
	by   string
}

func messages() []replacement {
	return []replacement{
		{regexp.MustCompile("`#sql-alter-[^`]*`"), "`late`"},
		{regexp.MustCompile("column (``\\.``|`_skarv`\\.`program_\\d+`)"), "column"},
		{regexp.MustCompile(`at row [01]$`), "at row"},
		{regexp.MustCompile("near '(\\(3 \\+ 2\\)|nothing_\\)).*"), "near"},
		{regexp.MustCompile(`your (MariaDB )?server version`), "your server version"},
		{regexp.MustCompile(`stored function or trigger\.$`), "stored function or trigger"},
		{regexp.MustCompile(`'compat\.nothing,compat\.v1'`), "'compat.v1'"},
		{regexp.MustCompile(`\nError 1051 Unknown table 'compat\.nothing'`), ""},
	}
}

var (
	overGroups = regexp.MustCompile(`(?i)^\s*(SELECT|UPDATE|DELETE|WITH|EXECUTE|INSERT)\b`)
	atRow      = regexp.MustCompile(`(?m) at row \d+$`)
	value      = regexp.MustCompile(`'[^']*'`)
)
