package planner

import (
	"slices"
	"strings"
	"unicode/utf8"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// ruleLists are all lists of rules.
func ruleLists() [][]Rule {
	return [][]Rule{selectRules(), unionRules(), workspaceRules(), viewRules(), waysRules(), waysWithoutTreeRules(), insertRules(), stageRules(), modifyRules(), modifyCopiesRules(), tokenRules()}
}

// RuleNames are the names of all rules, sorted: what plans may say in Rules.
func RuleNames() (names []string) {
	for _, list := range ruleLists() {
		for _, r := range list {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxName is how many characters a name has at most.
const maxName = 64

// databaseName returns a server's error for a name that no database can have.
func (b *build) databaseName(name string) error { return b.objectName(name, sqlerr.WrongDatabaseName) }

// tableName returns a server's error for a name that no table can have.
func (b *build) tableName(name string) error { return b.objectName(name, sqlerr.WrongTableName) }

func (b *build) objectName(name string, wrong sqlerr.Code) error {
	long := utf8.RuneCountInString(name) > maxName
	switch {
	case long && b.snap.Flavor == catalog.MySQL:
		return sqlerr.TooLongName.New(name)
	case long, name == "", strings.HasSuffix(name, " "):
		return wrong.New(name)
	}
	return nil
}
