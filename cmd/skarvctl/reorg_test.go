package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	adminv1 "skarv/proto/admin/v1"
)

func (f *fakeAdmin) Reorganise(_ context.Context, r *adminv1.ReorganiseRequest) (*adminv1.ReorganiseResponse, error) {
	if !r.DryRun {
		f.started = true
	}
	if r.Kind == "move" && r.Partitions == "0" { // is there
		return &adminv1.ReorganiseResponse{}, f.fail
	}
	return &adminv1.ReorganiseResponse{
		Reorganisation: &adminv1.Reorganisation{Id: "r1", Kind: "rebalance", State: "PLANNED", Transfers: []*adminv1.Transfer{{From: 1, To: 2, Partitions: "0-9", Count: 10}}},
		Refusals:       f.refusals, Basis: "as a guess",
	}, f.fail
}

func (f *fakeAdmin) Reorganisations(context.Context, *adminv1.ReorganisationsRequest) (*adminv1.ReorganisationsResponse, error) {
	f.looks++
	return &adminv1.ReorganisationsResponse{Reorganisations: []*adminv1.Reorganisation{f.reorg(f.looks)}}, nil
}

func (f *fakeAdmin) ChangeReorganisation(context.Context, *adminv1.ChangeReorganisationRequest) (*adminv1.ChangeReorganisationResponse, error) {
	return &adminv1.ChangeReorganisationResponse{Reorganisation: &adminv1.Reorganisation{Id: "r1"}}, nil
}

// Who waits is told once what hinders, and whoever stops waiting that the work goes on.
func TestWaiting(t *testing.T) {
	c := newCtl(t)
	c.fake.reorg = func(look int) *adminv1.Reorganisation {
		switch look {
		case 1, 3:
			return &adminv1.Reorganisation{Id: "r1", State: "COPY", Problem: "no luck"}
		case 2:
			return &adminv1.Reorganisation{Id: "r1", State: "COPY"}
		}
		return &adminv1.Reorganisation{Id: "r1", State: "DONE", Outcome: "moved"}
	}
	code, _, errs := c.run("nodegroup", "drain", "a", "--yes", "--wait")
	require.Equal(t, exitOK, code, errs)
	assert.Equal(t, 1, strings.Count(errs, "r1 COPY: no luck"), errs)

	ctx, cancel := context.WithCancel(t.Context())
	c.fake.reorg = func(int) *adminv1.Reorganisation {
		cancel()
		return &adminv1.Reorganisation{Id: "r1", State: "COPY"}
	}
	var out, told bytes.Buffer
	code = run(ctx, []string{"nodegroup", "drain", "a", "--yes", "--wait", "--addr", c.addr}, strings.NewReader(""), &out, &told, func(string) string { return "" })
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "skarvctl: reorganisation r1 goes on; to follow it again: skarvctl reorg show r1 --watch\n", told.String())

	code, _, errs = c.run("reorg", "complete", "--yes")
	assert.Equal(t, exitOK, code, errs)
}

func TestReorganisationInOneLine(t *testing.T) {
	opened := time.Now()
	for want, r := range map[string]reorganisation{
		"r1 PLANNED": {ID: "r1", State: "PLANNED"},
		"r1 COPY [############............]  50% 10 k rows, 20 MB, lag 1.5s, d.t, 1m30s left, waiting: replica lags": {
			ID: "r1", State: "COPY", Progress: &progress{
				Phase: "copying", Rows: 10_000, RowsEstimated: 20_000, Bytes: 20 << 20, LagSeconds: 1.5, Table: "d.t", ETASeconds: 90, Throttled: "replica lags",
			},
		},
		"r1 VERIFY 0 rows, 0 kB, 12 k compared, waiting for the rain to end": {ID: "r1", State: "VERIFY", Progress: &progress{
			Compared: 12_000, Waits: []wait{{"the rain to end", 12}, {"the sun", 11}},
		}},
		"r1 DONE (moved) 12 k rows, 3072 kB, cut over in 18ms": {
			ID: "r1", State: "DONE", Outcome: "moved", Rows: 12_345, Bytes: 3 << 20, Opened: &opened, PauseSeconds: 0.018,
		},
		"r1 DONE (aborted): no luck":     {ID: "r1", State: "DONE", Outcome: "aborted", Problem: "no luck"},
		"r1 REVERSE, cut over in 18ms":   {ID: "r1", State: "REVERSE", Opened: &opened, PauseSeconds: 0.018},
		"r1 CATCHUP paused: is tried so": {ID: "r1", State: "CATCHUP", Paused: true, Problem: "is tried so"},
	} {
		assert.Equal(t, want, r.line())
	}
	assert.Equal(t, "0-9, 12", shortly("0-9,12"))
	assert.True(t, (&reorganisation{State: "REVERSE"}).moved())
	assert.False(t, (&reorganisation{State: "REVERSE", Wish: "rollback"}).moved())
}

// What would be refused is said before anything is begun.
func TestMoveThatWouldBeRefused(t *testing.T) {
	c := newCtl(t)
	c.fake.refusals = []string{"on node groups a, b log_bin is 'OFF'; set log_bin to 'ON'"}
	for _, args := range [][]string{{"rebalance", "--dry-run"}, {"rebalance", "--yes"}, {"nodegroup", "drain", "a", "--dry-run"}, {"move", "--partitions", "1", "--to", "b", "--yes"}} {
		code, out, errs := c.run(args...)
		require.Equal(t, exitFailed, code, args)
		require.Contains(t, out, "REFUSED: on node groups a, b log_bin is 'OFF'")
		require.Contains(t, errs, "cannot be moved as things are")
		require.False(t, c.fake.started)
	}
	c.fake.refusals = nil
	code, _, _ := c.run("rebalance", "--dry-run")
	require.Equal(t, exitOK, code)
	code, out, _ := c.run("rebalance", "--dry-run", "-o", "json")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, `"refusals": []`)
}

// A plan has the same fields when there is nothing to do.
func TestNothingToMove(t *testing.T) {
	c := newCtl(t)
	code, out, _ := c.run("move", "--partitions", "0", "--to", "b", "--yes")
	require.Equal(t, exitOK, code)
	require.Equal(t, "Nothing is to be moved.\n", out)
	code, out, _ = c.run("move", "--partitions", "0", "--to", "b", "--dry-run", "-o", "json")
	require.Equal(t, exitOK, code)
	require.JSONEq(t, `{"rows": 0, "bytes": 0, "seconds": 0, "basis": "", "running": false, "refusals": [], "reorganisation": null}`, out)
}

func TestReasonsOfAProblem(t *testing.T) {
	r := &reorganisation{ID: "r1", State: "DONE", Outcome: "refused", Problem: "one\ntwo"}
	require.Equal(t, "r1 DONE (refused):\n  one\n  two", r.line())
	require.Equal(t, ", see above", because("one", true))
	require.Equal(t, "short", cell("short"))
	require.Equal(t, strings.Repeat("x", mostOfCell)+"...", cell(strings.Repeat("x", 800)))
}
