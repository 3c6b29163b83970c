package logic

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// What is made up is counted by kinds, so that one that is never made, or never works, is seen.

type statementKind struct {
	name string
	re   *regexp.Regexp
}

func statementKinds() (kinds []statementKind) {
	for _, k := range [][2]string{{"SELECT", `^\(?SELECT`}, {"joins", `SELECT.* JOIN `}, {"subqueries", `[(=<>] ?\(?SELECT`}, {"views", `\bv\d\b`}, {"WITH", `^WITH \w+ AS`},
		{"WITH RECURSIVE", `^WITH RECURSIVE`}, {"GROUP BY", `GROUP BY`}, {"windows", ` OVER `}, {"frames", `(ROWS|RANGE) (BETWEEN|UNBOUNDED)`}, {"set operations", ` (UNION|EXCEPT|INTERSECT) `},
		{"MATCH", `MATCH \(`}, {"FOR UPDATE", `FOR UPDATE$`}, {"INSERT", `^INSERT INTO`}, {"INSERT IGNORE", `^INSERT IGNORE`}, {"REPLACE", `^REPLACE`}, {"rows", `VALUES \(.*\), \(`},
		{"ON DUPLICATE KEY UPDATE", `ON DUPLICATE KEY`}, {"INSERT ... SELECT", `^(INSERT|REPLACE) .* SELECT`}, {"LOAD DATA", `^LOAD DATA`}, {"UPDATE", `^UPDATE`}, {"DELETE", `^DELETE`},
		{"UPDATE and DELETE with joins", `^(UPDATE|DELETE) .*JOIN`}, {"transactions", `^(BEGIN|START TRANSACTION)$`}, {"ROLLBACK TO", `^ROLLBACK TO`}, {"ALTER TABLE", `^ALTER`},
		{"temporary tables", `^CREATE TEMPORARY`}, {"their use", `\b` + temporaryName + `\b`}, {"triggers", `^CREATE TRIGGER`}, {"functions", `^CREATE FUNCTION`}, {"their calls", functionName + `\(`},
		{"procedures", `^CREATE PROCEDURE`}, {"CALL", `^CALL`}} {
		kinds = append(kinds, statementKind{k[0], regexp.MustCompile(k[1])})
	}
	return kinds
}

// count notes the kinds of a statement that was not refused.
func (r *runner) count(text string, worked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kinds {
		if k.re.MatchString(text) {
			n := r.made[k.name]
			if n.made++; worked {
				n.worked++
			}
			r.made[k.name] = n
		}
	}
}

// tally is how many statements of a kind were made up and not refused, and how many of these were no errors.
type tally struct{ made, worked int }

func (c *campaign) printKinds(t *testing.T) {
	var all []string
	for _, k := range c.kinds {
		all = append(all, fmt.Sprintf("%s %d/%d", k.name, c.made[k.name].worked, c.made[k.name].made))
	}
	t.Log("without error, of those made up and not refused: " + strings.Join(all, ", "))
}
