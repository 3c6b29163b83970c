package ddl

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// What servers show of tables, views and programs is a text for servers. Clients get it with what only the cluster knows, and without what it has added.

var autoIncrement = regexp.MustCompile(` AUTO_INCREMENT=[0-9]+`)

// ShownTable is a server's SHOW CREATE TABLE of t as clients get it: whoever runs it gets a table of t's kind. single: tables of its database are single
// unless they say otherwise.
func ShownTable(text string, t *catalog.Table, single bool, flavor catalog.Flavor) string {
	const end = "\n)" // of what it consists of; its options follow
	at := strings.LastIndex(text, end)
	if at < 0 {
		return text
	}
	head, options := text[:at], text[at+len(end):]
	if t.HiddenKey {
		head = withoutHiddenKey(head)
	}
	switch t.Kind {
	case catalog.Sharded:
		options = autoIncrement.ReplaceAllString(options, "") // each group's own counter says nothing
		options = withKey(withPresentKey(options, t), t, single, flavor)
	case catalog.Single:
		foreign := strings.HasPrefix(options, " ENGINE=") && !strings.HasPrefix(options, " ENGINE=InnoDB") // which none but single tables have
		told := single && flavor == catalog.MariaDB                                                        // by its comment, which MySQL's databases have not
		if !told && !foreign && t.Temporary == "" {
			options = withWord(options, "skarv:"+string(t.Kind))
		}
	default:
		options = withWord(options, "skarv:"+string(t.Kind))
	}
	return head + end + options
}

// withoutHiddenKey is a list of columns and keys without the hidden one, which is in quotes as sql_mode and sql_quote_show_create have it.
func withoutHiddenKey(head string) string {
	lines := slices.DeleteFunc(strings.Split(head, "\n"), func(l string) bool {
		l = strings.TrimLeft(l, " ")
		return slices.ContainsFunc([]string{sqltypes.QuoteName(catalog.HiddenKey), `"` + catalog.HiddenKey + `"`, catalog.HiddenKey}, func(name string) bool {
			return strings.HasPrefix(l, name+" ") || strings.HasPrefix(l, "PRIMARY KEY ("+name+")")
		})
	})
	if n := len(lines) - 1; n > 0 {
		lines[n] = strings.TrimSuffix(lines[n], ",")
	}
	return strings.Join(lines, "\n")
}

// withKey makes the options of a table say by which columns it is distributed, unless they do, or any table is without a word: it may have been
// imported, or its comment have been changed.
func withKey(options string, t *catalog.Table, single bool, flavor catalog.Flavor) string {
	byDefault := slices.Equal(t.Distribution, t.DefaultDistribution(flavor))
	switch {
	case byDefault && !single, strings.Contains(options, "skarv:key="):
		return options
	case t.Partitioned: // no table has two clauses
		return withWord(options, keyWord(t))
	case byDefault:
		return options + "\n PARTITION BY KEY ()"
	}
	return options + "\n PARTITION BY KEY (" + strings.Join(t.QuotedColumns(t.Distribution, ""), ",") + ")"
}

// keyWord is the word of a comment that says by which columns t is distributed, in quotes.
func keyWord(t *catalog.Table) string {
	return "skarv:key=" + strings.ReplaceAll(strings.Join(t.QuotedColumns(t.Distribution, ""), ","), "'", "''")
}

var keyInComment = regexp.MustCompile("skarv:key=(?:`(?:[^`'\\\\]|``|'')*`|[^ ;'\t\n\\\\]|'')*")

// withPresentKey makes the comment in the options of a table name the distribution key that it has: a column may have got another name since, or a primary key have
// come.
func withPresentKey(options string, t *catalog.Table) string {
	return keyInComment.ReplaceAllStringFunc(options, func(word string) string {
		said := SplitNames(strings.ReplaceAll(strings.TrimPrefix(word, "skarv:key="), "''", "'"))
		if slices.EqualFunc(said, t.Distribution, func(name string, c int) bool { return strings.EqualFold(name, t.Columns[c].Name) }) {
			return word
		}
		return keyWord(t)
	})
}

// withWord adds the word that makes a table what it is to the comment in a table's options, unless it is there.
func withWord(options, word string) string {
	line, partitions, _ := strings.Cut(options, "\n")
	if strings.Contains(line, word) {
		return options
	}
	if before, comment, found := strings.Cut(line, " COMMENT='"); found {
		line = before + " COMMENT='" + word + " " + comment
	} else {
		line += " COMMENT='" + word + "'"
	}
	if partitions != "" {
		line += "\n" + partitions
	}
	return line
}

// definerInText is the definer that a server shows in the text of a view or program.
var definerInText = regexp.MustCompile("^(CREATE (?:ALGORITHM=\\w+ )?)DEFINER=(?:`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\"|[^@ ]*)@(?:`[^`]*`|\"[^\"]*\"|\\S*) ")

// WithDefiner is a server's text of a view or program with the definer that the cluster knows.
func WithDefiner(text []byte, security catalog.Security) []byte {
	at := definerInText.FindSubmatchIndex(text)
	if at == nil || security.Definer == "" {
		return text
	}
	definer := security.Definer.Quoted()
	if bytes.HasPrefix(text[at[3]:], []byte(`DEFINER="`)) { // as sql_mode has it
		quoted := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
		definer = quoted(security.Definer.User()) + "@" + quoted(security.Definer.Host())
	}
	return slices.Concat(text[:at[3]], []byte("DEFINER="+definer+" "), text[at[1]:])
}
