package sharding

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/planner"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
)

// FunctionFacts notes in r what statements have to know of a function. The error says what it may not touch.
func FunctionFacts(snap *catalog.Snapshot, prog *routine.Program, r *catalog.Routine) error {
	t, err := prog.Plain("stored functions")
	if err != nil {
		return err
	}
	r.Volatile = t.Volatile || callsVolatile(snap, t.Calls, r.Database)
	r.Reads, r.Calls = nil, nil
	for _, n := range t.Reads {
		if n.DB == "" {
			n.DB = r.Database
		}
		if snap.LowerCaseTableNames != 0 {
			n.DB, n.Name = strings.ToLower(n.DB), strings.ToLower(n.Name)
		}
		if catalog.KindOf(n.DB) != catalog.UserDatabase {
			return sqlerr.Unsupported("the system table "+n.DB+"."+n.Name+" in stored functions", "read it in the statement")
		}
		if t := snap.Table(n.DB, n.Name); t != nil && t.Kind == catalog.View {
			return sqlerr.Unsupported("the view "+n.Name+" in stored functions", "read its tables")
		}
		r.Reads = append(r.Reads, catalog.TableName{Database: n.DB, Name: n.Name})
	}
	for _, n := range ownCalls(t.Calls, r.Database) {
		r.Calls = append(r.Calls, catalog.NewRoutineKey(n.DB, n.Name, true))
	}
	return nil
}

// ownCalls are those of calls that are none of the servers' own functions, qualified by their databases.
func ownCalls(calls []routine.Name, db string) (list []routine.Name) {
	for _, n := range calls {
		if n.DB == "" && planner.Known(n.Name) {
			continue
		}
		if n.DB == "" {
			n.DB = db
		}
		list = append(list, n)
	}
	return list
}

// callsVolatile reports whether one of the functions is stored and volatile, or not known.
func callsVolatile(snap *catalog.Snapshot, calls []routine.Name, db string) bool {
	return slices.ContainsFunc(ownCalls(calls, db), func(n routine.Name) bool {
		f := snap.Routine(n.DB, n.Name, true)
		return f == nil || f.Volatile
	})
}
