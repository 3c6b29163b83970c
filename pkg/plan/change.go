package plan

import "strings"

// Change is what a DDL does, and to what.
type Change struct {
	Verb      Verb
	Object    Object
	OrReplace bool
	Temporary bool
}

// Verb is what a DDL does.
type Verb uint8

// The verbs.
const (
	VerbCreate Verb = iota + 1
	VerbAlter
	VerbDrop
	VerbRename
	VerbTruncate
)

// Object is the kind of what a DDL creates, alters, drops, renames or truncates.
type Object uint8

// The objects.
const (
	ObjectTable Object = iota + 1
	ObjectView
	ObjectIndex
	ObjectDatabase
	ObjectSequence
	ObjectProcedure
	ObjectFunction
	ObjectTrigger
	ObjectEvent
)

// Is reports whether c does just this to such an object, neither OR REPLACE nor TEMPORARY.
func (c Change) Is(v Verb, o Object) bool { return c == Change{Verb: v, Object: o} }

// Creates reports whether c creates such an object that is not TEMPORARY, with OR REPLACE or without.
func (c Change) Creates(o Object) bool {
	return c.Verb == VerbCreate && c.Object == o && !c.Temporary
}

// String is the first words of the statement, in lower case.
func (c Change) String() string {
	words := []string{c.Verb.String()}
	if c.OrReplace {
		words = append(words, "or replace")
	}
	if c.Temporary {
		words = append(words, "temporary")
	}
	return strings.Join(append(words, c.Object.String()), " ")
}

func (v Verb) String() string {
	switch v {
	case VerbCreate:
		return "create"
	case VerbAlter:
		return "alter"
	case VerbDrop:
		return "drop"
	case VerbRename:
		return "rename"
	case VerbTruncate:
		return "truncate"
	}
	return ""
}

func (o Object) String() string {
	switch o {
	case ObjectTable:
		return "table"
	case ObjectView:
		return "view"
	case ObjectIndex:
		return "index"
	case ObjectDatabase:
		return "database"
	case ObjectSequence:
		return "sequence"
	case ObjectProcedure:
		return "procedure"
	case ObjectFunction:
		return "function"
	case ObjectTrigger:
		return "trigger"
	case ObjectEvent:
		return "event"
	}
	return ""
}
