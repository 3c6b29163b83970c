package main

import (
	"regexp"
	"slices"
	"strings"
)

// changed holds the names of tables, views, programs and prepared statements that are not the same on both sides any more, since a
// statement that wrote to them had another outcome here than there. What differs about them afterwards tells nothing new.
type changed map[string]bool

var (
	quoted = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"`)
	// prepares has a statement in a string.
	prepares = regexp.MustCompile(`(?is)^\s*(prepare|execute\s+immediate)\b`)
	reads    = regexp.MustCompile(`(?is)^[\s(]*(select|show|desc|describe|with|values|table|check|checksum|explain|call|execute|set|use|begin|start|commit|rollback|savepoint|release|deallocate)\b`)
	// written finds the names behind the words that a written object's name may follow.
	written = regexp.MustCompile("(?i)\\b(?:(?:table|tables|view|procedure|function|trigger|event|sequence|database|schema|into|update|from|join|prepare|if|not|exists|insert|low_priority|ignore|replace|on|to)\\s+)+((?:`?[\\w$]+`?\\s*\\.\\s*)?`?[\\w$]+`?(?:\\s*,\\s*(?:`?[\\w$]+`?\\s*\\.\\s*)?`?[\\w$]+`?)*)")
	// sources begins what a statement only reads.
	sources = regexp.MustCompile(`(?i)\b(select|values?|where|using|begin)\b|['"]`)
	name    = regexp.MustCompile("`([^`]+)`|([A-Za-z_][\\w$]*)")
	within  = regexp.MustCompile("`?[\\w$]+`?\\s*\\.")
	anew    = regexp.MustCompile(`(?is)^\s*(drop|create)\b`)
)

// bare is a statement without its strings, unless one of them is a statement itself.
func bare(stmt string) string {
	if prepares.MatchString(stmt) {
		return stmt
	}
	return quoted.ReplaceAllString(stmt, "''")
}

func names(text string) (all []string) {
	for _, m := range name.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.ToLower(m[1]+m[2]))
	}
	return all
}

// targets are the names of what a statement may write to.
func targets(stmt string) (all []string) {
	if reads.MatchString(stmt) {
		return nil
	}
	if end := sources.FindStringIndex(stmt); end != nil {
		stmt = stmt[:end[0]]
	}
	for _, m := range written.FindAllStringSubmatch(stmt, -1) {
		all = append(all, names(within.ReplaceAllString(m[1], ""))...)
	}
	return all
}

// follow takes a statement's outcome into account, and says whether the statement is about anything that was changed before.
func (c changed) follow(stmt string, equal, failed bool) (behind bool) {
	text := bare(stmt)
	to := targets(text)
	read := false // something changed that it does not write to
	for _, n := range names(text) {
		behind = behind || c[n]
		read = read || c[n] && !slices.Contains(to, n)
	}
	for _, n := range to {
		switch {
		case equal && !failed && !read && anew.MatchString(text):
			delete(c, n)
		case !equal || read && !failed:
			c[n] = true
		}
	}
	return behind
}
