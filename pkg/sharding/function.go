package sharding

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/function"
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
	r.Calls = nil
	for _, list := range []struct {
		into  *[]catalog.TableName
		names []routine.Name
	}{{&r.Reads, t.Reads}, {&r.Values, t.Values}, {&r.Queries, t.Queries}} {
		if *list.into, err = readTables(snap, list.names, r.Database); err != nil {
			return err
		}
	}
	for _, n := range ownCalls(t.Calls, r.Database) {
		r.Calls = append(r.Calls, catalog.NewRoutineKey(n.DB, n.Name, true))
	}
	return nil
}

// readTables are the tables that a function of a database reads by names. The error says which of them it may not read.
func readTables(snap *catalog.Snapshot, names []routine.Name, db string) (list []catalog.TableName, err error) {
	for _, n := range names {
		if n.DB == "" {
			n.DB = db
		}
		if snap.LowerCaseTableNames != 0 {
			n.DB, n.Name = strings.ToLower(n.DB), strings.ToLower(n.Name)
		}
		if catalog.KindOf(n.DB) != catalog.UserDatabase {
			return nil, sqlerr.Unsupported("the system table "+n.DB+"."+n.Name+" in stored functions", "read it in the statement")
		}
		if t := snap.Table(n.DB, n.Name); t != nil && t.Kind == catalog.View {
			return nil, sqlerr.Unsupported("the view "+n.Name+" in stored functions", "read its tables")
		}
		list = append(list, catalog.TableName{Database: n.DB, Name: n.Name})
	}
	return list, nil
}

// ownCalls are those of calls that are none of the servers' own functions, qualified by their databases.
func ownCalls(calls []routine.Name, db string) (list []routine.Name) {
	for _, n := range calls {
		if n.DB == "" && function.Known(n.Name) {
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
