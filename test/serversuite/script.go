package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// step is one thing a script does.
type step struct {
	file string
	line int
	sql  string // a statement, if not empty
	// What else a step can be.
	connect    string // opens a connection of that name, "" if not
	account    bool   // of connect: it logs in as somebody else than root
	database   string // of connect
	connection string // goes on with that connection
	disconnect string
	// unstable: its rows are not the same each time.
	unstable bool
}

// script is what a file of tests does, as far as it can be played.
type script struct {
	steps   []step
	skipped int // statements in blocks and commands that are not played
}

// reader reads the language of mysqltest: SQL statements that end with a delimiter, and commands between them.
type reader struct {
	root  string // of the suite: where include/ and main/ are
	out   script
	delim string
	vars  map[string]string
	depth int
}

// read reads a script.
func read(root, file string) (*script, error) {
	r := &reader{root: root, delim: ";", vars: map[string]string{}}
	err := r.file(file)
	return &r.out, err
}

var (
	word       = regexp.MustCompile(`^[A-Za-z_0-9]+`)
	reference  = regexp.MustCompile(`\$[A-Za-z_][A-Za-z_0-9]*`)
	assignment = regexp.MustCompile(`(?s)^\$?([A-Za-z_][A-Za-z_0-9]*)\s*=\s*(.*)$`)
	// left out are files of these names: they ask what the server has, and wait for what only replication does
	included = regexp.MustCompile(`have_|not_|hypergraph|elide_costs|get_handler_status|search_pattern|force_myisam|grep_pattern|default_|count_sessions|wait_|analyze-format|_engine|restart|kill|show_|check|assert|diff_tables|maybe|big_test|add_|grant_cache|no_`)
)

func (r *reader) file(file string) error {
	text, err := os.ReadFile(filepath.Join(r.root, file))
	if err != nil {
		return err
	}
	if r.depth++; r.depth > 8 {
		return nil
	}
	defer func() { r.depth-- }()
	s := &source{text: text, line: 1}
	var next step // marks for the next statement
	for {
		s.space()
		if s.at >= len(s.text) {
			return nil
		}
		line := s.line
		var text string
		command := false
		switch c := s.text[s.at]; {
		case c == '#':
			s.restOfLine()
			continue
		case c == '-' && bytes.HasPrefix(s.text[s.at:], []byte("--")):
			text = strings.TrimSpace(strings.TrimLeft(s.restOfLine(), "-"))
			command = true
		case c == '}':
			s.at++
			continue
		default:
			if w := strings.ToLower(word.FindString(string(s.text[s.at:min(len(s.text), s.at+20)]))); w == "if" || w == "while" {
				if r.skipBlock(s) {
					continue
				}
			}
			text = s.statement(r.delim)
		}
		if text == "" {
			continue
		}
		verb := strings.ToLower(word.FindString(text))
		rest := strings.TrimSpace(text[len(verb):])
		switch verb {
		case "delimiter":
			r.delim = strings.TrimSpace(strings.TrimSuffix(rest, r.delim))
			if r.delim == "" {
				r.delim = ";"
			}
		case "let":
			if m := assignment.FindStringSubmatch(rest); m != nil {
				if strings.HasPrefix(m[2], "`") || strings.HasPrefix(m[2], "query_get_value") {
					delete(r.vars, m[1])
				} else {
					r.vars[m[1]] = r.expand(m[2])
				}
			}
		case "source":
			name := strings.TrimSuffix(rest, ";")
			if included.MatchString(filepath.Base(name)) || strings.Contains(name, "$") {
				continue
			}
			for _, dir := range []string{"", filepath.Dir(file) + "/"} {
				if _, err := os.Stat(filepath.Join(r.root, dir+name)); err == nil {
					if err := r.file(dir + name); err != nil {
						return err
					}
					break
				}
			}
		case "connect":
			args := strings.Split(strings.Trim(rest, "();"), ",")
			for i := range args {
				args[i] = strings.TrimSpace(args[i])
			}
			st := step{file: file, line: line, connect: args[0], account: len(args) > 2 && args[2] != "root" && args[2] != ""}
			if len(args) > 4 {
				st.database = strings.Trim(args[4], "*'\"")
			}
			if st.database == "" {
				st.database = "test"
			}
			r.out.steps = append(r.out.steps, st)
		case "connection":
			r.out.steps = append(r.out.steps, step{file: file, line: line, connection: strings.TrimSuffix(rest, ";")})
		case "disconnect":
			r.out.steps = append(r.out.steps, step{file: file, line: line, disconnect: strings.TrimSuffix(rest, ";")})
		case "replace_column", "replace_regex", "replace_result", "replace_numeric_round", "disable_result_log":
			next.unstable = true
		case "perl", "write_file", "append_file":
			s.skipTo("EOF")
		case "exit":
			return nil
		default:
			switch {
			case sends(verb):
				text = rest
				if strings.Contains(verb, "eval") {
					if text = r.expand(rest); reference.MatchString(text) {
						r.out.skipped++
						continue
					}
				}
			case command, ignored(verb):
				continue
			}
			next.file, next.line, next.sql = file, line, strings.TrimSuffix(strings.TrimSpace(text), ";")
			if next.sql != "" {
				r.out.steps = append(r.out.steps, next)
			}
			next = step{}
		}
	}
}

// sends are commands in front of a statement.
func sends(verb string) bool {
	switch verb {
	case "eval", "evalp", "query", "query_vertical", "query_horizontal", "send", "send_eval":
		return true
	}
	return false
}

// ignored are commands of the language that begin a statement without "--".
func ignored(verb string) bool {
	switch verb {
	case "echo", "error", "disable_warnings", "enable_warnings", "disable_query_log", "enable_query_log", "disable_result_log",
		"enable_result_log", "reap", "sleep", "real_sleep", "die", "exec", "system", "remove_file", "copy_file", "file_exists",
		"cat_file", "inc", "dec", "dirty_close", "ping", "enable_info", "disable_info", "enable_metadata", "disable_metadata",
		"sorted_result", "vertical_results", "horizontal_results", "enable_ps_protocol", "disable_ps_protocol", "character_set",
		"sync_slave_with_master", "save_master_pos", "sync_with_master", "mkdir", "rmdir", "list_files", "change_user",
		"reset_connection", "end", "enable_prepare_warnings", "disable_prepare_warnings", "disable_abort_on_error",
		"enable_abort_on_error", "disable_parsing", "enable_parsing", "skip", "shutdown_server", "wait_for_slave_to_stop",
		"chmod", "move_file", "remove_files_wildcard", "lowercase_result", "send_quit", "send_shutdown", "require", "result",
		"assert", "expr", "execw", "force", "copy_files_wildcard", "skip_if_hypergraph", "disable_testcase", "enable_testcase", "query_attributes",
		"disable_reconnect", "enable_reconnect", "enable_session_track_info", "disable_session_track_info", "partially_sorted_result",
		"list_files_write_file", "list_files_append_file", "result_format",
		"output", "enable_connect_log", "disable_connect_log", "optimizer_trace", "diff_files", "start_timer", "end_timer":
		return true
	}
	return false
}

func (r *reader) expand(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		if v, ok := r.vars[ref[1:]]; ok {
			return v
		}
		return ref
	})
}

// skipBlock steps over "if (...) { ... }".
func (r *reader) skipBlock(s *source) bool {
	rest := string(s.text[s.at:])
	open := strings.IndexByte(rest, '{')
	if open < 0 || strings.Contains(strings.TrimSuffix(strings.TrimSpace(rest[:open]), ";"), ";") { // if (...); { is one, too
		return false
	}
	depth := 0
	for i := open; i < len(rest); i++ {
		switch rest[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				s.advance(i + 1)
				r.out.skipped++
				return true
			}
		}
	}
	s.advance(len(rest))
	return true
}

// source is a text and a place in it.
type source struct {
	text []byte
	at   int
	line int
}

func (s *source) advance(n int) {
	s.line += bytes.Count(s.text[s.at:s.at+n], []byte("\n"))
	s.at += n
}

func (s *source) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.advance(1)
	}
}

func (s *source) restOfLine() string {
	n := bytes.IndexByte(s.text[s.at:], '\n')
	if n < 0 {
		n = len(s.text) - s.at
	}
	line := string(s.text[s.at : s.at+n])
	s.advance(n)
	return line
}

func (s *source) skipTo(mark string) {
	for s.at < len(s.text) {
		s.space()
		if strings.HasPrefix(strings.TrimSpace(s.restOfLine()), mark) {
			return
		}
	}
}

// statement returns what stands before the next delimiter that is in no quotes and no comment.
func (s *source) statement(delim string) string {
	var quote byte
	i := s.at
	for ; i < len(s.text); i++ {
		c := s.text[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case bytes.HasPrefix(s.text[i:], []byte(delim)):
			text := string(s.text[s.at:i])
			s.advance(i + len(delim) - s.at)
			return strings.TrimSpace(text)
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '#' && (i == 0 || s.text[i-1] == '\n'), bytes.HasPrefix(s.text[i:], []byte("-- ")):
			for i < len(s.text) && s.text[i] != '\n' {
				i++
			}
		case bytes.HasPrefix(s.text[i:], []byte("/*")):
			if end := bytes.Index(s.text[i:], []byte("*/")); end > 0 {
				i += end + 1
			}
		}
	}
	text := string(s.text[s.at:])
	s.advance(len(s.text) - s.at)
	return strings.TrimSpace(text)
}
