package backend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// orphan is a connection that was closed while its server may have been running a statement of it: nobody waits for the
// answer any more, and the statement may still commit.
type orphan struct {
	group  placement.NodeGroupID
	thread uint32
	number uint64 // of its login
	user   string
	pool   *pool
}

// orphans are those that are not known to have ended.
type orphans struct {
	mu     sync.Mutex
	list   []orphan
	change chan struct{} // closed and replaced when list changes
}

func (o *orphans) add(x orphan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, x)
	o.signal()
}

// signal tells that list has changed; mu is held.
func (o *orphans) signal() {
	close(o.change)
	o.change = make(chan struct{})
}

func (o *orphans) remove(x orphan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.list, x); i >= 0 {
		o.list = slices.Delete(o.list, i, i+1)
		o.signal()
	}
}

func (o *orphans) snapshot() ([]orphan, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.list), o.change
}

// AwaitOrphans returns when no statement can be running on the servers of groups any more whose connection this process has
// closed without waiting for the end.
func (p *Pools) AwaitOrphans(ctx context.Context, groups []placement.NodeGroupID) error {
	for {
		list, change := p.orphans.snapshot()
		if !slices.ContainsFunc(list, func(o orphan) bool { return slices.Contains(groups, o.group) }) {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Orphans is the number of connections that were closed while their server was busy with them, and are not known to have
// ended there.
func (p *Pools) Orphans() int {
	list, _ := p.orphans.snapshot()
	return len(list)
}

// orphanRetry is the pause before a server that could not be asked is asked again.
const orphanRetry = 200 * time.Millisecond

// endOrphans kills orphans on their servers until ctx ends.
func (p *Pools) endOrphans(ctx context.Context) {
	for {
		list, change := p.orphans.snapshot()
		left := 0
		for _, o := range list {
			if ctx.Err() != nil {
				return
			}
			if p.endOrphan(ctx, o) {
				p.orphans.remove(o)
			} else {
				left++
			}
		}
		if left == 0 {
			if now, _ := p.orphans.snapshot(); len(now) > 0 {
				continue
			}
			select {
			case <-change:
			case <-ctx.Done():
				return
			}
			continue
		}
		if pause.For(ctx, orphanRetry) != nil {
			return
		}
	}
}

// endOrphan reports whether o is known to have ended.
func (p *Pools) endOrphan(ctx context.Context, o orphan) bool {
	current := p.pool(o.group)
	if current == nil {
		return true // the group is no part of the cluster any more
	}
	if current.group.Primary.Addr != o.pool.group.Primary.Addr {
		return true // its server is not the group's primary any more: see AwaitRest
	}
	if o.pool.reused(o) {
		return true // by a later connection of ours: the server was restarted
	}
	if current.down.Load() != nil && current.serves(o.pool.group) {
		return false // it cannot be asked; trying would hold up the others
	}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.DialTimeout)
	defer cancel()
	c, err := o.pool.dial(ctx, Profile{NoDB: true})
	if err != nil {
		return false
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, c.Interrupt)
	defer stop()
	for {
		// Only under the same name: after a restart of the server the number may be another's.
		there, does, err := listed(c, o)
		if err != nil || !there {
			return err == nil
		}
		if does == commits && !strings.Contains(c.ServerVersion(), "MariaDB") {
			// A KILL would end it no sooner, and where it waits for space on a full disk make a failed write to the binary log of it, for
			// which MySQL ends itself (binlog_error_action).
			return false
		}
		if _, err := c.Exec(fmt.Sprint("KILL ", o.thread)); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
			return false
		}
		if pause.For(ctx, 2*time.Millisecond) != nil {
			return false
		}
	}
}

// doing is what a server does on a connection.
type doing string

const (
	nothing doing = "nothing"
	commits doing = "commits" // or prepares to
	another doing = "another"
)

// listed reports whether o is in the server's list of connections, and what is done on it there.
func listed(c *mysqlconn.Conn, o orphan) (there bool, does doing, err error) {
	rows, err := mysqlconn.Processes(c, "user, IF(state = '"+longCommit+"' OR info LIKE 'XA PREPARE%' OR info LIKE 'XA COMMIT%', '"+string(commits)+
		"', IF(command = 'Sleep', '"+string(nothing)+"', '"+string(another)+"'))", fmt.Sprint("id = ", o.thread), 1)
	if len(rows) == 0 || string(rows[0][0]) != o.user {
		return false, nothing, err
	}
	return true, doing(rows[0][1]), err
}

// reused reports whether a connection of the pool that logged in later has the number of an orphan.
func (p *pool) reused(o orphan) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.all {
		if c.ThreadID() == o.thread && c.number > o.number {
			return true
		}
	}
	return false
}
