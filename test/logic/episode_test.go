package logic

import (
	stdjson "encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"skarv/test/cluster"
	"skarv/test/differ"
)

// episode is statements in a row over rows: what a difference needs to be seen again.
type episode struct {
	used  []*table
	rows  tables
	steps []statement
}

// used are the tables of statements, without those that the statements make.
func (r *runner) used(steps []statement) (all []*table) {
	named := map[*table]bool{}
	for _, s := range steps {
		for _, t := range r.involved(s) {
			named[t] = !t.temporary
		}
	}
	for _, t := range r.g.tables {
		if named[t] {
			all = append(all, t)
		}
	}
	return all
}

// story is the episode as a story of package differ.
func (e episode) story() string {
	var b strings.Builder
	for _, t := range e.used {
		b.WriteString(t.create() + ";\n")
		if len(e.rows[t.name]) > 0 {
			b.WriteString("INSERT INTO " + t.name + " (" + names(t) + ") VALUES " + strings.Join(e.rows[t.name], ",") + ";\n")
		}
	}
	joins := "auto"
	for _, s := range e.steps {
		if s.joins != "" && s.joins != joins {
			joins = s.joins
			b.WriteString("-- joins: " + joins + "\n")
		}
		b.WriteString(s.story())
	}
	if !e.steps[len(e.steps)-1].writes {
		return b.String()
	}
	for _, t := range e.used {
		if t.view == "" {
			b.WriteString("SELECT * FROM " + t.name + ";\n")
		}
	}
	return b.String()
}

// textOnly matches what servers cannot prepare.
var textOnly = regexp.MustCompile(`^((CREATE|DROP) (TRIGGER|PROCEDURE|FUNCTION)|LOAD DATA|PREPARE|EXECUTE)`)

// story is the statement with its marks.
func (s *statement) story() string {
	line := func(text string) string {
		text += ";\n"
		if textOnly.MatchString(text) {
			return "-- skip-prepared\n" + text
		}
		return text
	}
	switch {
	case s.file != "":
		file, _ := stdjson.Marshal(s.file)
		return "-- file: " + string(file) + "\n" + line(plain(s.marked))
	case s.mode == parametric || s.mode == again:
		text, args := parameters(s.marked, true)
		var b strings.Builder
		for _, list := range s.lists(args) {
			b.WriteString("-- args: " + jsonList(list) + "\n")
		}
		return b.String() + text + ";\n"
	case s.mode == executed || s.mode == variables:
		var b strings.Builder
		for _, text := range s.withVariables() {
			b.WriteString(line(text))
		}
		return b.String()
	}
	return line(plain(s.marked))
}

// jsonList writes arguments so that a number that is no integer does not look like one.
func jsonList(args []any) string {
	words := make([]string, len(args))
	for i, a := range args {
		if f, ok := a.(float64); ok {
			words[i] = strconv.FormatFloat(f, 'e', -1, 64)
			continue
		}
		word, _ := stdjson.Marshal(a)
		words[i] = string(word)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// land writes a story where test/compat plays it, if a directory is given: make fuzz-sql does.
func (r *runner) land(name, why string, e episode) {
	if r.stories == "" {
		return
	}
	var b strings.Builder
	b.WriteString("-- story: " + string(cluster.TestEngine()) + "\n")
	for line := range strings.Lines(why) {
		b.WriteString("-- found: " + strings.TrimSpace(line) + "\n")
	}
	b.WriteString(e.story())
	file := filepath.Join(r.stories, name)
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		r.t.Errorf("the story of a difference: %v", err)
	}
	if _, err := differ.ParseStory(b.String(), string(cluster.TestEngine())); err != nil {
		r.t.Errorf("%s: %v", file, err)
	}
	r.t.Logf("written to %s", file)
}

// without is the episode without some steps; the last one stays.
func (e episode) without(i, n int) episode {
	e.steps = slices.Delete(slices.Clone(e.steps), i, i+n)
	return e
}

// last is the episode with another last step.
func (e episode) last(s statement) episode {
	e.steps = append(slices.Clone(e.steps[:len(e.steps)-1]), s)
	return e
}

// fewer is the episode without rows i to i+n of a table.
func (e episode) fewer(t *table, i, n int) episode {
	rows := tables{}
	for k, v := range e.rows {
		rows[k] = v
	}
	have := rows[t.name]
	rows[t.name] = append(slices.Clone(have[:i]), have[min(i+n, len(have)):]...)
	e.rows = rows
	return e
}
