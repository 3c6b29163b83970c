package catalog

import (
	"slices"

	"skarv/pkg/sqltypes"
)

// Routine is a stored function or procedure. Every node group has it, for definitions are asked of the servers.
type Routine struct {
	Database string `json:"database"`
	Name     string `json:"name"`
	Function bool   `json:"function,omitempty"` // else a procedure
	Security
	// Text is its CREATE statement without a DEFINER, as the client wrote it in SQLMode.
	Text    string `json:"text"`
	SQLMode string `json:"sql_mode"`
	// Collation is the collation_connection of its CREATE, in which it runs; "": that of whoever runs it.
	Collation string `json:"collation,omitempty"`
	// Volatile: two calls of the function with the same arguments may give different values.
	Volatile bool `json:"volatile,omitempty"`
	// Reads are the tables and views that the function itself reads, as often as its text names them, and Calls the stored functions
	// that it calls.
	Reads []TableName  `json:"reads,omitempty"`
	Calls []RoutineKey `json:"calls,omitempty"`
	// Values are those of Reads that its expressions read, and Queries those that its SELECTs and cursors do.
	Values  []TableName `json:"values,omitempty"`
	Queries []TableName `json:"queries,omitempty"`
}

// TableName names a table.
type TableName struct {
	Database string `json:"database"`
	Name     string `json:"name"`
}

// RoutineKey names a routine. Functions and procedures have names of their own, in which neither case nor accents count.
type RoutineKey struct {
	Database, Name string
	Function       bool
}

// NewRoutineKey returns the key of a routine by its name as written.
func NewRoutineKey(db, name string, function bool) RoutineKey {
	return RoutineKey{db, sqltypes.FoldName(name), function}
}

// Key returns the routine's key.
func (r *Routine) Key() RoutineKey { return NewRoutineKey(r.Database, r.Name, r.Function) }

// Routine returns a stored function, or procedure, or nil.
func (s *Snapshot) Routine(db, name string, function bool) *Routine {
	return s.Routines[NewRoutineKey(db, name, function)]
}

// ReadBy lists the tables that stored functions and those they call read, as often as a server opens them: each function's own once, however
// often it is called.
func (s *Snapshot) ReadBy(functions ...*Routine) (list []TableName) {
	for _, f := range s.Called(functions...) {
		list = append(list, f.Reads...)
	}
	return list
}

// Called lists stored functions and those that they call, each once.
func (s *Snapshot) Called(functions ...*Routine) (list []*Routine) {
	for i := 0; i < len(functions); i++ {
		f := functions[i]
		if f == nil || slices.Contains(list, f) {
			continue
		}
		list = append(list, f)
		for _, k := range f.Calls {
			functions = append(functions, s.Routines[k])
		}
	}
	return list
}
