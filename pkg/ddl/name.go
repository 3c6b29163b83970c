package ddl

import (
	"regexp"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/routine"
	"skarv/pkg/sqltypes"
)

// Object names a table, a view, a stored program or, without a Name, a database.
type Object struct {
	DB   string `json:"db"`
	Name string `json:"name"`
	// Kind is that of a stored program; "" for tables and views.
	Kind routine.Kind `json:"kind,omitempty"`
}

func (o Object) String() string { return o.DB + "." + o.Name }

// SQL is the name as statements have it.
func (o Object) SQL() string { return sqltypes.QuoteIn(o.DB, o.Name) }

// Table names a table of the catalog.
func Table(t *catalog.Table) Object { return Object{DB: t.Database, Name: t.Name} }

// Name is an Object as a statement names it, at a place of its text.
type Name struct {
	Object
	start, end int
}

// As is the edit by which the statement is about another object.
func (n Name) As(o Object) Edit { return Edit{start: n.start, end: n.end, with: o.SQL()} }

// listedName is a name in a list, quoted or not, with what stands around it.
var listedName = regexp.MustCompile("\\s*(?:`(?:[^`]|``)+`|[^,]+)")

// SplitNames reads a list of names that are separated by commas, quoted as in statements or not.
func SplitNames(list string) []string {
	var out []string
	for _, n := range listedName.FindAllString(list, -1) {
		if n = strings.TrimSpace(n); strings.HasPrefix(n, "`") && strings.HasSuffix(n, "`") && len(n) > 2 {
			n = strings.ReplaceAll(n[1:len(n)-1], "``", "`")
		}
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}
