package diagnostics

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"

	"skarv/pkg/sqlerr"
)

// Area is what the last statement of a session has left. The zero value is that of a session that has run none.
type Area struct {
	Conditions []Condition // those that are kept, in the order in which they were raised
	RowCount   int64       // ROW_COUNT()

	leftOut       int // conditions that there were beside those that max_error_count keeps
	leftOutBefore int // of the statement before the one at hand
}

// Begin is called when a statement begins; asks: it asks what the one before has left.
func (a *Area) Begin(asks bool) {
	if a.leftOutBefore = a.leftOut; !asks {
		a.leftOut = 0
	}
}

// End is called when a statement is answered that says that it had so many warnings: none, if those that there are are of the one before. most is
// max_error_count.
func (a *Area) End(warnings uint16, most int) {
	if len(a.Conditions) > 0 {
		a.Cut(most)
		if warnings == 0 {
			a.leftOut = max(a.leftOut, a.leftOutBefore)
		}
	}
	a.leftOut = max(a.leftOut, int(warnings)-len(a.Conditions))
}

// Fail makes the conditions those of a statement that has failed with e, which servers may have told with others.
func (a *Area) Fail(e *sqlerr.Error, told []Condition, most int) {
	a.Conditions, a.leftOut = a.Conditions[:0], 1
	if most == 0 {
		return
	}
	a.leftOut = 0
	at := slices.IndexFunc(told, func(c Condition) bool { return c.Level == Error && c.Code == e.Code && c.Message == e.Message })
	if at < 0 {
		a.Conditions = append(a.Conditions, Of(Error, e))
		return
	}
	a.Conditions = append(a.Conditions, told...)
	a.Conditions[at].State = e.State
}

// Clear forgets the conditions.
func (a *Area) Clear() { a.Conditions = a.Conditions[:0] }

// Take returns the conditions, and forgets them: they are the caller's.
func (a *Area) Take() []Condition {
	taken := a.Conditions
	a.Conditions = nil
	return taken
}

// Add appends conditions.
func (a *Area) Add(c ...Condition) { a.Conditions = append(a.Conditions, c...) }

// Replace makes the conditions those given.
func (a *Area) Replace(c ...Condition) { a.Conditions = append(a.Conditions[:0], c...) }

// Cut leaves as many conditions as are kept.
func (a *Area) Cut(most int) { a.Conditions = a.Conditions[:min(len(a.Conditions), most)] }

// Clone is a copy that nothing changes any more.
func (a *Area) Clone() Area {
	c := *a
	c.Conditions = slices.Clone(a.Conditions)
	return c
}

// Counted notes how many warnings the statement had, kept or not.
func (a *Area) Counted(warnings uint16) { a.leftOut = max(0, int(warnings)-len(a.Conditions)) }

// Keep notes that the statement leaves what the one before has left.
func (a *Area) Keep() { a.leftOut = a.leftOutBefore }

// Warnings is how many conditions an OK packet tells of.
func (a *Area) Warnings() uint16 { return uint16(min(len(a.Conditions), math.MaxUint16)) }

// Count is @@warning_count.
func (a *Area) Count() int { return len(a.Conditions) + a.leftOut }

// Errors is @@error_count.
func (a *Area) Errors() (n int) {
	for i := range a.Conditions {
		if a.Conditions[i].Level == Error {
			n++
		}
	}
	return n
}

// item is a statement information item of GET DIAGNOSTICS as a literal.
func (a *Area) item(name string) (literal string, ok bool) {
	switch name {
	case "NUMBER":
		return fmt.Sprintf("CAST(%d AS UNSIGNED)", len(a.Conditions)), true
	case "ROW_COUNT":
		return strconv.FormatInt(a.RowCount, 10), true
	}
	return "", false
}

// text is a string as a literal of the character set and collation that servers give it.
func text(s string) string {
	return "_utf8mb3 x'" + hex.EncodeToString([]byte(s)) + "' COLLATE utf8mb3_general_ci"
}
