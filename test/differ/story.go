package differ

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// A story is a file of statements that two servers are played, and what they say is compared. Each ends with a semicolon at the end
// of a line. Lines before a statement that begin with "-- " mark it, or are remarks:
//
//	-- refused: why        the cluster must refuse it with error 1235; the other server skips it
//	-- gap: why            it differs for a known reason; it is a fault once it does not
//	-- only: mariadb       it is for that kind of server
//	-- story: mariadb      all of the story is
//	-- skip-prepared       it is run as text only
//	-- args: [1, "x"]      it is always prepared, with these parameters; once, and run with each list, if there are several such lines
//	-- file: "1\tx\n"      it reads this by LOCAL INFILE 'Reader::story'
//	-- joins: first        it is run with that skarv_joins on the cluster, as are those behind it
//	-- auto: why           it is not run where skarv_joins is set from outside
//	-- sent: length, why   of what comes beside rows this may differ (see CompareSent)
//	-- as: account         it is run on new connections of this account, whose password is its name, without a default database
//	-- as: account, role   and behind SET ROLE
//	-- first of several    it fails for several rows, and may tell of any

// Step is one statement of a story.
type Step struct {
	Line         int
	SQL          string
	Refused, Gap string
	Only         string
	TextOnly     bool
	Args         [][]any
	File         *string
	Joins        string
	As, Role     string
	Auto         bool
	Sent         map[string]bool
	FirstOf      bool
}

// storyFile is the name by which a story's statements call a client's file.
const storyFile = "story"

// ParseStory reads a story for a kind of server. It has no steps if it is for another kind.
func ParseStory(text, engine string) (story []Step, err error) {
	var s Step
	var lines []string
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if len(lines) == 0 {
			if mark, ok := strings.CutPrefix(trimmed, "-- "); ok {
				key, value, _ := strings.Cut(mark, ":")
				value = strings.TrimSpace(value)
				if key == "story" && value != engine {
					return nil, nil
				}
				if err := s.mark(key, value); err != nil {
					return nil, fmt.Errorf("line %d: %w", i+1, err)
				}
				continue
			}
			if trimmed == "" {
				continue
			}
			s.Line = i + 1
		}
		lines = append(lines, line)
		if strings.HasSuffix(trimmed, ";") {
			s.SQL = strings.TrimSuffix(strings.TrimSpace(strings.Join(lines, "\n")), ";")
			if s.Only == "" || s.Only == engine {
				story = append(story, s)
			}
			s, lines = Step{}, nil
		}
	}
	if len(lines) > 0 {
		return nil, errors.New("the last statement has no end")
	}
	return story, nil
}

// mark takes a line before the statement; what it does not know is a remark.
func (s *Step) mark(key, value string) error {
	switch key {
	case "refused":
		s.Refused = value
	case "gap":
		s.Gap = value
	case "only":
		s.Only = value
	case "joins":
		s.Joins = value
	case "as":
		s.As, s.Role, _ = strings.Cut(value, ", ")
	case "auto":
		s.Auto = true
	case "skip-prepared":
		s.TextOnly = true
	case "sent":
		what, _, _ := strings.Cut(value, ",")
		if s.Sent == nil {
			s.Sent = map[string]bool{}
		}
		s.Sent[what] = true
	case "first of several":
		s.FirstOf = true
	case "file":
		return json.Unmarshal([]byte(value), &s.File)
	case "args":
		args, err := arguments(value)
		s.Args = append(s.Args, args)
		return err
	}
	return nil
}

// arguments reads a list in which 1 is an integer and 1.0 is none.
func arguments(list string) (args []any, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(list)))
	d.UseNumber()
	if err := d.Decode(&args); err != nil {
		return nil, err
	}
	for i, a := range args {
		n, ok := a.(json.Number)
		if !ok {
			continue
		}
		var u uint64
		if v, err := n.Int64(); err == nil {
			args[i] = v
		} else if _, err := fmt.Sscanf(n.String(), "%d", &u); err == nil && fmt.Sprint(u) == n.String() {
			args[i] = u
		} else if args[i], err = n.Float64(); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// Play is how a story is played.
type Play struct {
	Prepared bool   // what a mark does not keep from it is prepared
	Joins    string // skarv_joins of the cluster
	// Watch, not nil, is told what has become of each step on the cluster; before the first one, of nil.
	Watch func(s *Step, got Outcome)
	// As logs an account in, for stories that have some.
	As func(account string) (one, many Conn, end func(), err error)
	// Allowed, not nil, is told what differs beside what Compare compares; the connections are Clients then.
	Allowed func(s *Step, d Difference) bool
}

// Run plays a story, each step on both, in a new database of that name, and gives each fault to tell.
func (p Play) Run(ctx context.Context, one, many Conn, database string, story []Step, tell func(s Step, fault string)) error {
	for _, setup := range []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database, "USE " + database} {
		for _, c := range []Conn{one, many} {
			if _, err := c.ExecContext(ctx, setup); err != nil {
				return fmt.Errorf("%s: %w", setup, err)
			}
		}
	}
	if err := setJoins(ctx, many, p.Joins); err != nil {
		return err
	}
	if p.Watch == nil {
		p.Watch = func(*Step, Outcome) {}
	}
	p.Watch(nil, Outcome{})
	own, owns := one, many
	for n, s := range story {
		if s.Auto && p.Joins != "auto" {
			continue
		}
		if one, many = own, owns; s.As != "" {
			var end func()
			var err error
			if one, many, end, err = p.As(s.As); err != nil {
				return fmt.Errorf("line %d: %w", s.Line, err)
			}
			defer end()
			if s.Role != "" {
				role := Step{SQL: "SET ROLE " + s.Role}
				role.run(ctx, one, false)
				role.run(ctx, many, false)
			}
		}
		if err := setJoins(ctx, many, s.Joins); err != nil {
			return err
		}
		gots := s.run(ctx, many, p.Prepared)
		p.Watch(&s, gots[0])
		if s.Refused != "" { // the other server does not run it either: the story goes on from equal tables
			if gots[0].Errno != 1235 {
				tell(s, fmt.Sprintf("must be refused: %s, got %+v", s.Refused, gots[0]))
			} else if !strings.Contains(gots[0].Err, "; ") {
				tell(s, "a refusal says what is refused, and how to write it instead: "+gots[0].Err)
			}
			continue
		}
		wants := s.run(ctx, one, p.Prepared)
		diff := ""
		for i := range min(len(wants), len(gots)) {
			diff += Compare(wants[i], gots[i])
		}
		if len(wants) != len(gots) {
			diff += fmt.Sprintf("  outcomes: one server %v, cluster %v\n", wants, gots)
		}
		switch {
		case s.Gap != "" && diff == "":
			tell(s, fmt.Sprintf("the gap %q is closed: remove the mark", s.Gap))
		case s.Gap == "" && diff != "":
			tell(s, diff)
		case s.Gap == "" && p.Allowed != nil:
			quiet := n+1 < len(story) && asksCounts.MatchString(story[n+1].SQL)
			p.compareSent(ctx, one.(*Client), many.(*Client), s, wants, gots, !quiet, tell)
		}
	}
	return nil
}

// asksCounts matches statements whose answer depends on the statement before them, be it SHOW WARNINGS.
var asksCounts = regexp.MustCompile(`(?i)ROW_COUNT|FOUND_ROWS`)

// compareSent compares what came beside rows. ask: SHOW WARNINGS may be asked for the last of the outcomes.
func (p Play) compareSent(ctx context.Context, one, many *Client, s Step, wants, gots []Outcome, ask bool, tell func(s Step, fault string)) {
	for i := range wants {
		want, got := &wants[i], &gots[i]
		if ask && i+1 == len(wants) && (want.MayWarn() || got.MayWarn()) {
			want.AskWarnings(ctx, one)
			got.AskWarnings(ctx, many)
		}
		for _, d := range CompareSent(*want, *got) {
			if !p.Allowed(&s, d) {
				tell(s, d.String())
			}
		}
	}
}

func setJoins(ctx context.Context, c Conn, joins string) error {
	if joins == "" {
		return nil
	}
	_, err := c.ExecContext(ctx, "SET skarv_joins = "+joins)
	return err
}

// run runs a step, once for each list of arguments.
func (s Step) run(ctx context.Context, c Conn, prepared bool) (all []Outcome) {
	if s.File != nil {
		return []Outcome{LoadFile(ctx, c, s.SQL, *s.File)}
	}
	if s.Args == nil {
		return []Outcome{Run(ctx, c, s.SQL, prepared && !s.TextOnly)}
	}
	all = Prepared(ctx, c, s.SQL, s.Args...)
	for _, o := range all {
		if !ordered.MatchString(s.SQL) {
			sort.Strings(o.Rows)
		}
	}
	return all
}

// LoadFile runs a LOAD DATA that reads LOCAL INFILE 'Reader::story': a file of that text.
func LoadFile(ctx context.Context, c Conn, stmt, text string) Outcome {
	// The driver knows files by names for all connections, so that each time has a name of its own.
	name := fmt.Sprintf("story%p", &text)
	mysql.RegisterReaderHandler(name, func() io.Reader { return strings.NewReader(text) })
	defer mysql.DeregisterReaderHandler(name)
	return Run(ctx, c, strings.Replace(stmt, "'Reader::"+storyFile+"'", "'Reader::"+name+"'", 1), false)
}
