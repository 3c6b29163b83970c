package backend

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Profile is what is agreed at login and changes the bytes of answers: a client's answer can only be relayed from
// a connection of the client's own profile.
type Profile struct {
	Caps wire.Capability // of ProfileCaps only
	// NoDB: the session has no default database, and a server cannot be told to forget one.
	NoDB bool
}

// ProfileCaps are the capabilities that belong to a Profile.
const ProfileCaps = wire.CapDeprecateEOF | wire.CapFoundRows | wire.CapSessionTrack | wire.CapMariaExtendedTypes

// Variable is one session variable and the SQL of its value.
type Variable struct {
	Name  string // "@@session.sql_mode" or "@`name`"
	Value string // a literal
}

// State is the session state a statement needs on its connection: what a client has changed since login. It is
// immutable once made and shared by everything that uses it. Equal IDs mean equal states.
type State struct {
	ID StateID
	DB string
	// Collation is that of the database, which a server gives the session when it enters it; "": not known.
	Collation string
	Vars      []Variable // sorted by Name
}

// StateID is the SHA-256 of a state. Clients write what goes into it, and a statement is scanned by its own session's sql_mode: if a client
// could make two states with one ID, a server would read a statement otherwise than Skarv has read it and judged it.
type StateID [sha256.Size]byte

// NewState makes a State of a default database and variables, which it keeps and sorts.
func NewState(db string, vars []Variable) *State { return newState(db, "", vars) }

func newState(db, collation string, vars []Variable) *State {
	slices.SortFunc(vars, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	text := make([]byte, 0, 1024)
	add := func(s string) {
		text = binary.LittleEndian.AppendUint32(text, uint32(len(s)))
		text = append(text, s...)
	}
	add(db)
	add(collation)
	for _, v := range vars {
		add(v.Name)
		add(v.Value)
	}
	return &State{ID: sha256.Sum256(text), DB: db, Collation: collation, Vars: vars}
}

// Get returns the value of the variable called name.
func (s *State) Get(name string) (string, bool) {
	i, ok := slices.BinarySearchFunc(s.Vars, name, func(v Variable, n string) int { return strings.Compare(v.Name, n) })
	if !ok {
		return "", false
	}
	return s.Vars[i].Value, true
}

// In returns s with another default database, of a collation.
func (s *State) In(db, collation string) *State { return newState(db, collation, slices.Clone(s.Vars)) }

// With returns s with the default database db and the given variables set; an empty Value removes a variable.
func (s *State) With(db string, set ...Variable) *State {
	vars := slices.Clone(s.Vars)
	for _, v := range set {
		vars = slices.DeleteFunc(vars, func(o Variable) bool { return o.Name == v.Name })
		if v.Value != "" {
			vars = append(vars, v)
		}
	}
	if db != s.DB {
		return NewState(db, vars)
	}
	return newState(db, s.Collation, vars)
}

// difference is what must be sent to bring a connection from one state to another.
type difference struct {
	reset  bool // COM_RESET_CONNECTION first
	initDB bool
	set    string // one SET statement, or empty
}

// afterReset is what brings a connection to want whatever state it has.
func afterReset(want *State) difference {
	d := diff(&State{}, want)
	d.reset = true
	return d
}

// diff compares the state a connection has with the one wanted. Variables can be added and changed in place; one
// that is to go back to its default needs a reset, which also drops the connection's prepared statements.
func diff(have, want *State) difference {
	var d difference
	for _, v := range have.Vars {
		if _, ok := want.Get(v.Name); !ok {
			d.reset = true
			break
		}
	}
	d.initDB = want.DB != "" && (want.DB != have.DB || want.Collation != have.Collation || d.reset)
	var set strings.Builder
	for _, v := range want.Vars {
		if !d.reset {
			if old, ok := have.Get(v.Name); ok && old == v.Value {
				continue
			}
		}
		if set.Len() == 0 {
			set.WriteString("SET ")
		} else {
			set.WriteString(", ")
		}
		set.WriteString(v.Name)
		set.WriteString(" = ")
		set.WriteString(sqltypes.Introduced(v.Value))
	}
	d.set = set.String()
	return d
}

// timeLimit is how long a statement may take by the session's own settings, 0 without a limit: max_statement_time is
// MariaDB's, in seconds, max_execution_time MySQL's, in milliseconds.
func (s *State) timeLimit() time.Duration {
	for _, v := range [...]struct {
		name string
		unit float64
	}{{"@@session.`max_statement_time`", 1e9}, {"@@session.`max_execution_time`", 1e6}} {
		if text, ok := s.Get(v.name); ok {
			if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 {
				return time.Duration(n * v.unit)
			}
		}
	}
	return 0
}
