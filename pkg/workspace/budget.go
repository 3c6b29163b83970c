package workspace

import (
	"fmt"
	"sync/atomic"

	"skarv/pkg/sqlerr"
)

// Limits bound what is copied.
type Limits struct {
	Rows  int64 // of one statement
	Bytes int64 // of one statement, as the servers send them
	Total int64 // bytes of all statements at once
}

// Budget is the limits of a process and what of them is used. It is safe for concurrent use.
type Budget struct {
	limits Limits
	used   atomic.Int64
}

// NewBudget returns a Budget of which nothing is used.
func NewBudget(l Limits) *Budget { return &Budget{limits: l} }

// Used is the number of bytes in all workspaces.
func (b *Budget) Used() int64 { return b.used.Load() }

// take counts one more row of a statement.
func (w *Workspace) take(size int64) error {
	l := &w.budget.limits
	if w.rows++; w.rows > l.Rows {
		return tooLarge("workspace.max_rows", l.Rows)
	}
	return w.takeBytes(size)
}

// takeBytes counts bytes of a statement.
func (w *Workspace) takeBytes(size int64) error {
	l := &w.budget.limits
	if w.bytes+size > l.Bytes {
		return tooLarge("workspace.max_bytes", l.Bytes)
	}
	if w.budget.used.Add(size) > l.Total {
		w.budget.used.Add(-size)
		return tooLarge("workspace.total_bytes", l.Total)
	}
	w.bytes += size
	return nil
}

func tooLarge(limit string, n int64) error {
	return sqlerr.Unsupported(fmt.Sprintf("a query over several node groups that has to copy more than %s (%d)", limit, n),
		"add conditions or the distribution key, or raise the limit")
}
