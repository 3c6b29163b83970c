package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// ackTimeout bounds how long a change waits for proxies that do not follow; one that hangs is taken for dead when its
// lease runs out.
const ackTimeout = 8 * time.Second

// noLeaderTimeout is how long a request waits for a controller to be elected.
const noLeaderTimeout = 10 * time.Second

// Client asks the controller, wherever it runs. It may be used concurrently.
type Client struct {
	Store    *topology.Store
	Follower *topology.Follower // run by the caller
	Servers  schema.Dialer
	Log      *slog.Logger
	// Member is what the process is announced as: schema changes that it has asked for are not begun when it is gone.
	Member string
	// LockHolders names the clients of the cluster that have user-level locks, as far as is known. It may be nil.
	LockHolders func(context.Context) []string
	// Reaches names the processes for which a node group's server answers, as far as is known. It may be nil.
	Reaches func(context.Context, placement.NodeGroupID) []string

	patience time.Duration // noLeaderTimeout, shorter in tests
}

// DDL has the controller run a statement that changes the schema. When it returns without error, this process's
// snapshot and those of all other live proxies show the change. The error is an *sqlerr.Error, as a server would
// report it. When ctx ends first, the change may still happen.
func (c *Client) DDL(ctx context.Context, req DDLRequest) (DDLResult, error) {
	j, err := c.request(ctx, &job{DDL: &req, From: c.Member})
	if err != nil {
		return DDLResult{}, clientError(err)
	}
	c.Await(ctx, j.revision) // also of one that failed: its tables are open again
	if j.Error != nil {
		return j.Result, j.Error
	}
	return j.Result, nil
}

// clientError is an error of the way to the controller as a client may see it.
func clientError(err error) error {
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return sqlerr.QueryInterrupted.New()
	case errors.Is(err, topology.ErrUnavailable):
		return sqlerr.UnknownError.New("the schema cannot be changed now: " + err.Error())
	default:
		return sqlerr.UnknownError.New(err.Error())
	}
}

// request puts a job into the queue and waits for its end. An error that does not say otherwise means that nobody has begun it, nor will.
//
//	look      etcd answers: what is written while it does not may be found by a controller much later
//	write     its answer may be lost, and it may arrive late
//	wait      for the job's end, or for as long as the caller does
//	withdraw  of what is not begun, and of what may not be written yet
//
// Whoever leads begins a job by a change of its record as it was when it was queued: that, or withdrawing it, succeeds.
func (c *Client) request(ctx context.Context, j *job) (*job, error) {
	j.ID, j.State, j.Created = newJobID(time.Now()), queued, time.Now().UTC()
	data, err := j.encode()
	if err != nil {
		return nil, err
	}
	if _, _, err := c.Store.Leader(ctx, Role); err != nil {
		return nil, err
	}
	_, err = c.Store.Change(nil).PutRecord(topology.DDLJobs, j.ID, data, topology.Absent).Commit(ctx)
	switch {
	case errors.Is(err, topology.ErrFull):
		return nil, err
	case err != nil:
		begun, werr := c.withdraw(ctx, j.ID)
		switch {
		case werr != nil:
			return nil, unknown(ctx, j.ID, werr)
		case begun: // its answer only was lost
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, topology.ErrUnavailable): // which says that nothing is known
			return nil, topology.ErrUnavailable
		default:
			return nil, err
		}
	}
	for {
		last, err := c.wait(ctx, j.ID)
		switch {
		case err == nil:
			return last, nil
		case ctx.Err() != nil:
			begun, werr := c.withdraw(ctx, j.ID)
			switch {
			case werr != nil:
				return nil, unknown(ctx, j.ID, werr)
			case begun:
				return nil, goesOn(ctx.Err(), j.ID)
			}
			return nil, ctx.Err()
		case !errors.Is(err, errNoLeader):
			return nil, unknown(ctx, j.ID, err)
		}
		if _, led, err := c.Store.Leader(ctx, Role); err == nil && !led {
			if begun, err := c.withdraw(ctx, j.ID); err == nil && !begun {
				return nil, sqlerr.UnknownError.New("no controller is running: start a skarv process with the controller role")
			}
		}
	}
}

// unknown tells a client that it cannot be said what becomes of what it has asked for.
func unknown(ctx context.Context, id string, why error) error {
	says := fmt.Sprintf("it is not known whether the change is made (%v): it is job %s, of which skarvctl status tells until it has ended", why, id)
	if errors.Is(ctx.Err(), context.Canceled) {
		e := sqlerr.QueryInterrupted.New()
		e.Message += "; " + says
		return e
	}
	return sqlerr.UnknownError.New(says)
}

// goesOn tells a client that waits no more that what it has asked for has begun all the same.
func goesOn(why error, id string) error {
	job := fmt.Sprintf("goes on as job %s: skarvctl status tells of it", id)
	if errors.Is(why, context.DeadlineExceeded) {
		return sqlerr.UnknownError.New("the schema change takes longer than a client waits, and " + job)
	}
	e := sqlerr.QueryInterrupted.New()
	e.Message += "; the schema change has begun and " + job
	return e
}

// wait returns the job when it has ended, or errNoLeader after a while without news.
func (c *Client) wait(ctx context.Context, id string) (last *job, err error) {
	patience := c.patience
	if patience == 0 {
		patience = noLeaderTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errNoLeader)
	defer cancel()
	err = c.Store.AwaitRecord(ctx, topology.DDLJobs, id, func(r topology.Record) (bool, error) {
		if r.Value == nil {
			return false, errors.New("the request was removed before it was run")
		}
		if last, err = decodeJob(r); err != nil {
			return false, err
		}
		return last.ended(), nil
	})
	if err != nil && context.Cause(ctx) == errNoLeader {
		return nil, errNoLeader
	}
	return last, err
}

var errNoLeader = errors.New("no controller took the request")

// withdrawTime bounds one try to withdraw a request, and withdrawEvery is the pause between two.
const (
	withdrawTime  = 2 * time.Second
	withdrawEvery = 100 * time.Millisecond
)

// withdraw takes a request back. It tries for as long as the caller waits, and once if he does not; when it fails it is not known what becomes of the
// request. begun: that came too late.
func (c *Client) withdraw(ctx context.Context, id string) (begun bool, err error) {
	for {
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
		begun, err = c.tryWithdraw(try, id)
		cancel()
		if err == nil || !errors.Is(err, topology.ErrUnavailable) || pause.For(ctx, withdrawEvery) != nil {
			return begun, err
		}
	}
}

func (c *Client) tryWithdraw(ctx context.Context, id string) (begun bool, err error) {
	for {
		j, err := storedJob(ctx, c.Store, id)
		if err != nil {
			return false, err
		}
		change := c.Store.Change(nil)
		switch {
		case j == nil: // it has ended and is forgotten, or it may be on its way to etcd still, which finds the place taken then
			last, at, err := lastForgotten(ctx, c.Store)
			if err != nil {
				return false, err
			}
			if id <= last {
				return false, errors.New("it may have ended")
			}
			data, err := (&job{ID: id, State: withdrawn, Created: time.Now().UTC()}).encode()
			if err != nil {
				return false, err
			}
			change.PutRecord(topology.DDLJobs, id, data, topology.Absent).ExpectRecord(topology.DDLForgotten, forgottenID, at)
		case j.State == queued:
			change.DeleteRecord(topology.DDLJobs, id, j.revision)
		default:
			return j.State != withdrawn, nil
		}
		if _, err := change.Commit(ctx); !errors.Is(err, topology.ErrConflict) {
			return false, err
		}
	}
}

// Await waits, bounded, until the catalog of revision is used here and by every live proxy. Whether the change of that revision was one
// of the catalog does not matter.
func (c *Client) Await(ctx context.Context, revision int64) {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	snap, err := c.Follower.Reach(ctx, revision)
	if err != nil {
		c.log().Warn("this process does not see the new catalog yet", "revision", revision, "error", err)
		return
	}
	revision = min(revision, snap.Revision)
	if behind, err := c.Store.WaitAcked(ctx, revision); err != nil {
		c.log().Warn("proxies do not use the new catalog yet", "revision", revision, "proxies", behind, "error", err)
	}
}

func (c *Client) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}
