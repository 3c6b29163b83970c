package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// watch probes the server over a connection of its own until ctx ends, or the pool is closed and its last connection
// has come back, and trims idle connections.
//
// A server that refuses a connection or resets one is noticed by the statements themselves. The probe is for one
// that says nothing: paused, cut off, out of disk. After FailAfter of silence it is down: statements in flight are
// interrupted, new ones refused at once, until a probe succeeds.
func (p *pool) watch(ctx context.Context) {
	var probe *mysqlconn.Conn
	defer func() {
		if probe != nil {
			_ = probe.Close()
		}
	}()
	answered := time.Now()
	tick := time.NewTicker(p.cfg.ProbeInterval)
	defer tick.Stop()
	fast := time.NewTicker(adaptInterval)
	defer fast.Stop()
	fast.Stop() // until it is needed
	calm := time.Time{}
	suspected := false
	for {
		p.probes.Add(1)
		readOnly := !p.health().ReadOnly.IsZero()
		if (suspected || readOnly) && probe != nil { // what is at the group's address by now?
			_ = probe.Close()
			probe = nil
		}
		err := p.probeAgain(ctx, &probe)
		if ctx.Err() != nil {
			return
		}
		if err == nil || refused(err) {
			answered = time.Now()
			p.setUp()
		} else {
			p.noteSilent()
		}
		if err != nil {
			if probe != nil {
				_ = probe.Close()
				probe = nil
			}
			if time.Since(answered) >= p.cfg.FailAfter {
				p.setDown(err)
			} else {
				p.note(err)
			}
		}
		if now := time.Now(); probe != nil && !p.replica && (suspected || readOnly || now.Sub(p.looked) >= stallInterval) {
			p.looked = now
			p.lookForStalls(ctx, probe)
		}
		if suspected {
			p.renew(false)
			suspected = false
		}
		if now := time.Now(); probe != nil && !p.replica && now.Sub(p.tried) >= loginInterval {
			p.tried = now
			if p.tryLogin(ctx) {
				_ = probe.Close()
				probe = nil
			}
		}
		p.endReplaced()
		if p.trim() {
			return
		}
		if p.adapt(ctx, probe) {
			calm = time.Now()
			fast.Reset(adaptInterval)
		}
	wait:
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				select {
				case <-p.suspect:
					suspected = true
				default:
				}
				break wait
			case <-p.pressed:
				calm = time.Now()
				fast.Reset(adaptInterval)
			case <-fast.C:
				switch {
				case p.adapt(ctx, probe):
					calm = time.Now()
				case time.Since(calm) >= calmAfter:
					fast.Stop()
				}
			}
		}
	}
}

const (
	// adaptInterval is how often the limit of a group under pressure is looked at, and calmAfter when that ends.
	adaptInterval = 100 * time.Millisecond
	calmAfter     = 5 * time.Second
	// askInterval is how often a server under pressure is asked for its row lock waits.
	askInterval = 500 * time.Millisecond
)

// adapt lets the gate follow what the server can do. It reports whether the group is under pressure.
func (p *pool) adapt(ctx context.Context, probe *mysqlconn.Conn) bool {
	p.mu.Lock()
	pressed := p.gate.pressed()
	idle := 0
	if p.gate.held > 0 {
		for c := range p.all {
			if !c.idle && c.claim.Held && !c.busy.Load() {
				idle++
			}
		}
	}
	p.mu.Unlock()
	locked := 0
	if pressed && probe != nil && p.down.Load() == nil {
		if now := time.Now(); now.Sub(p.asked) >= askInterval {
			p.locked, p.asked = p.rowLockWaits(ctx, probe), now
		}
		locked = p.locked
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate.adapt(time.Now(), idle, locked)
	return pressed
}

// rowLockWaits is how many statements of the server wait for a row lock; 0 if it does not say.
func (p *pool) rowLockWaits(ctx context.Context, probe *mysqlconn.Conn) int {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.FailAfter)
	defer cancel()
	stop := context.AfterFunc(ctx, probe.Interrupt)
	defer stop()
	_, rows, err := probe.QueryAll("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'", 1)
	if err != nil || len(rows) != 1 || len(rows[0]) != 2 {
		return 0
	}
	n, _ := strconv.Atoi(string(rows[0][1]))
	return n
}

// stallInterval is how often a server is asked whether its disk is full, or it is locked: it answers probes then, and statements that write wait.
const stallInterval = 5 * time.Second

// loginInterval is how often Skarv's own account is tried: the connections that there are, and those of the proxies' accounts, work on when it has
// another password.
const loginInterval = 30 * time.Second

// tryLogin notes whether the server refuses Skarv's own account, and reports whether the group's address leads to another one than the probe is
// connected to.
func (p *pool) tryLogin(ctx context.Context) (replaced bool) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.FailAfter)
	defer cancel()
	c, err := p.dial(ctx, Profile{NoDB: true})
	switch {
	case err == nil:
		defer c.Close()
		defer context.AfterFunc(ctx, c.Interrupt)()
		p.noteBarred("")
		if _, rows, err := c.QueryAll("SELECT "+identity, 1); err == nil && len(rows) == 1 {
			return p.noteServer(string(rows[0][0]))
		}
	case refused(err) && !sqlerr.HasCode(err, sqlerr.TooManyConnections, sqlerr.TooManyUserConns):
		p.noteBarred(err.Error())
	}
	return false
}

// identity tells a server from its replicas.
const identity = "CONCAT(@@server_id, ' ', @@hostname, ':', @@port)"

// noteServer notes which server is at the group's address, and reports whether it is another one than before.
func (p *pool) noteServer(server string) (replaced bool) {
	if replaced = p.server != "" && server != p.server; replaced {
		p.cfg.Log.Warn("a node group has another primary", "group", p.group.ID, "addr", p.group.Primary.Addr, "was", p.server, "is", server)
		p.renew(true)
	}
	p.server = server
	return replaced
}

// noteBarred notes why the server refuses Skarv's own account, "" if it does not.
func (p *pool) noteBarred(why string) {
	p.mu.Lock()
	was := p.barred
	p.barred = why
	if !p.closed { // else the metrics are another pool's
		p.metrics.barred.Set(oneIf(why != ""))
	}
	p.mu.Unlock()
	switch {
	case why != "" && was == "":
		p.cfg.Log.Error("a server refuses Skarv's own account", "group", p.group.ID, "addr", p.group.Primary.Addr, "error", why)
	case why == "" && was != "":
		p.cfg.Log.Info("a server takes Skarv's own account again", "group", p.group.ID, "addr", p.group.Primary.Addr)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// noteSince notes in since whether something is so, and in gauge, and reports whether it has become so or has ended just now.
func (p *pool) noteSince(since *time.Time, gauge prometheus.Gauge, is bool) (began, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := !since.IsZero()
	switch {
	case !is:
		*since = time.Time{}
	case !was:
		*since = time.Now()
	}
	if !p.closed { // else the metrics are another pool's
		gauge.Set(oneIf(is))
	}
	return is && !was, was && !is
}

// noteReadOnly notes whether read_only is set on the server.
func (p *pool) noteReadOnly(set bool) {
	switch began, ended := p.noteSince(&p.readOnly, p.metrics.readOnly, set); {
	case began:
		p.cfg.Log.Error("a server is read-only", "group", p.group.ID, "addr", p.group.Primary.Addr)
		p.renew(false) // another one may be the primary by now
	case ended:
		p.cfg.Log.Info("a server is not read-only any more", "group", p.group.ID, "addr", p.group.Primary.Addr)
	}
}

// longCommit is the state of those that commit on MySQL, also while the one that writes for all of them waits for space.
const longCommit = "waiting for handler commit"

// toldFull reports whether a MySQL server that keeps commits waiting has told in its log that a disk is full, as it does every ten minutes.
func toldFull(c *mysqlconn.Conn) bool {
	const diskFull = "MY-000035"
	_, rows, err := c.QueryAll("SELECT 1 FROM performance_schema.error_log WHERE error_code = '"+diskFull+"' AND logged > NOW() - INTERVAL 11 MINUTE LIMIT 1", 1)
	return err == nil && len(rows) > 0
}

// lookForStalls notes whether statements of the server wait for space on its disk, or for the end of a lock of all of it, and whether it is
// read-only, which one it is, and what its clock shows. What it does not say is as it was.
func (p *pool) lookForStalls(ctx context.Context, probe *mysqlconn.Conn) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.FailAfter)
	defer cancel()
	stop := context.AfterFunc(ctx, probe.Interrupt)
	defer stop()
	full := []string{"Waiting for someone to free space", "Waiting for disk space"} // MariaDB's, MySQL's
	locked := []string{"Waiting for backup lock", "Waiting for global read lock", "Waiting for commit lock"}
	states := "'" + strings.Join(slices.Concat(full, locked), "', '") + "'"
	rows, err := mysqlconn.Processes(probe, "DISTINCT state", "state IN ("+states+") OR state = '"+longCommit+"' AND time >= 5", len(full)+len(locked)+1)
	if noSpace(err) {
		p.noteFull(true)
	}
	if err != nil {
		return
	}
	shows := func(list []string) bool {
		return slices.ContainsFunc(rows, func(r [][]byte) bool { return slices.Contains(list, string(r[0])) })
	}
	p.noteFull(shows(full) || shows([]string{longCommit}) && toldFull(probe))
	p.noteLocked(shows(locked))
	asked := time.Now()
	if _, rows, err := probe.QueryAll("SELECT @@GLOBAL.read_only, UNIX_TIMESTAMP(), "+identity, 1); err == nil && len(rows) == 1 {
		p.noteServer(string(rows[0][2]))
		value := string(rows[0][0])
		p.noteReadOnly(value != "0" && value != "OFF")
		if now, err := strconv.ParseInt(string(rows[0][1]), 10, 64); err == nil && time.Since(asked) < time.Second {
			p.noteClock(time.Duration(now-asked.Unix()) * time.Second)
		}
	}
}

// noteClock notes how far the server's clock is ahead of ours.
func (p *pool) noteClock(ahead time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock = ahead
	if !p.closed { // else the metrics are another pool's
		p.metrics.clock.Set(ahead.Seconds())
	}
}

// noSpace reports whether a server could not even answer for want of space: its temporary tables are on the disk that is full.
func noSpace(err error) bool {
	const writeFailed, diskFull, tableFull = 3, 1021, 1114
	return !mysqlconn.IsLost(err) && (sqlerr.HasCode(err, writeFailed) || sqlerr.HasCode(err, diskFull) || sqlerr.HasCode(err, tableFull))
}

// noteFull notes whether the server's disk is full.
func (p *pool) noteFull(full bool) {
	switch began, ended := p.noteSince(&p.full, p.metrics.full, full); {
	case began:
		p.cfg.Log.Error("a server's disk is full, and statements that write wait for space there", "group", p.group.ID, "addr", p.group.Primary.Addr)
	case ended:
		p.cfg.Log.Info("a server's disk is not full any more", "group", p.group.ID, "addr", p.group.Primary.Addr)
	}
}

// noteLocked notes whether the server is locked. That is nothing to be logged: backups do it for moments.
func (p *pool) noteLocked(locked bool) { p.noteSince(&p.lockedSince, p.metrics.locked, locked) }

// refused reports whether err is the server's own answer: it is there, if only to say that it has too many connections
// or knows another password. Statements in flight are none the worse for it.
func refused(err error) bool {
	_, told := errors.AsType[*sqlerr.Error](err)
	return told && !mysqlconn.IsLost(err)
}

func (p *pool) probe(ctx context.Context, probe **mysqlconn.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.FailAfter)
	defer cancel()
	if *probe == nil {
		c, err := p.dial(ctx, Profile{NoDB: true})
		if err != nil {
			return err
		}
		*probe = c
	}
	c := *probe
	stop := context.AfterFunc(ctx, c.Interrupt)
	defer stop()
	_, err := c.Exec("DO 1")
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer for %v", p.cfg.FailAfter)
	}
	return err
}

// probeAgain is probe for when the connection of the last one has failed: its server may have been restarted meanwhile.
func (p *pool) probeAgain(ctx context.Context, probe **mysqlconn.Conn) error {
	used := *probe != nil
	began := time.Now()
	err := p.probe(ctx, probe)
	if err == nil || !used || time.Since(began) >= p.cfg.FailAfter || ctx.Err() != nil {
		return err
	}
	_ = (*probe).Close()
	*probe = nil
	return p.probe(ctx, probe)
}

func (p *pool) setUp() {
	was := p.down.Swap(nil)
	p.mu.Lock()
	if was != nil {
		p.since = time.Now()
		p.gate.restart()
	}
	p.lastErr, p.silent = "", time.Time{}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return // the metrics are another pool's by now
	}
	p.metrics.up.Set(1)
	if was != nil {
		p.cfg.Log.Info(p.what()+" up", "group", p.group.ID, "addr", p.group.Primary.Addr)
	}
}

func (p *pool) note(err error) {
	p.mu.Lock()
	p.lastErr = err.Error()
	p.mu.Unlock()
}

// noteSilent notes that a probe got no answer.
func (p *pool) noteSilent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent.IsZero() {
		p.silent = time.Now()
	}
}

// Silence is a node group's primary that answers no probe.
type Silence struct {
	Group placement.NodeGroupID
	Addr  string
	Since time.Time
}

// Silences are those of the primaries that answer no probe at present, by node group.
func (p *Pools) Silences() (out []Silence) {
	for _, pl := range *p.pools.Load() {
		if pl == nil {
			continue
		}
		pl.mu.Lock()
		if !pl.silent.IsZero() {
			out = append(out, Silence{pl.group.ID, pl.group.Primary.Addr, pl.silent})
		}
		pl.mu.Unlock()
	}
	return out
}

// what is what the pool's server is, for the log.
func (p *pool) what() string {
	if p.replica {
		return "replica"
	}
	return "node group"
}

func (p *pool) setDown(err error) {
	p.note(err)
	e := sqlerr.ServerLost.New(p.name() + " is down: " + err.Error() + "; statements that need it are refused until it answers again")
	if was := p.down.Swap(e); was != nil {
		return
	}
	p.cfg.Log.Error(p.what()+" down", "group", p.group.ID, "addr", p.group.Primary.Addr, "error", err.Error())
	p.mu.Lock()
	if !p.closed {
		p.metrics.up.Set(0)
	}
	p.since = time.Now()
	conns := make([]*Conn, 0, len(p.all))
	for c := range p.all {
		conns = append(conns, c)
	}
	p.gate.close(e)
	for cancel := range p.dials {
		(*cancel)()
	}
	p.mu.Unlock()
	for _, c := range conns {
		c.InterruptFor(fmt.Errorf("its server is down: %w", err))
	}
}

// trim closes connections that have been idle for too long, and those that broke while idle when the server is down.
// It reports whether the pool is closed and empty.
func (p *pool) trim() (over bool) {
	limit := p.probes.Load() - int64(p.cfg.IdleTimeout/p.cfg.ProbeInterval)
	down := p.down.Load() != nil
	var victims []*Conn
	p.mu.Lock()
	for c := p.idle.front; c != nil; {
		next := c.next
		if down || c.since < limit {
			p.unidle(c)
			delete(p.all, c)
			victims = append(victims, c)
		}
		c = next
	}
	inUse, allowed, queue := p.gate.inUse, p.gate.allowance, p.gate.queue.n
	open := len(p.all)
	closed := p.closed
	p.mu.Unlock()
	if !closed {
		p.metrics.open.Set(float64(open))
		p.metrics.inUse.Set(float64(inUse))
		p.metrics.limit.Set(float64(allowed))
		p.metrics.queue.Set(float64(queue))
	}
	for _, c := range victims {
		_ = c.Close()
	}
	return closed && open == 0
}

func (p *pool) health() Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Health{
		Up: p.down.Load() == nil, Since: p.since, LastError: p.lastErr, Open: len(p.all), InUse: p.gate.inUse,
		Limit: p.gate.allowance, Queue: p.gate.queue.n, Refused: p.gate.refusals,
		Crowded: p.crowded, Full: p.full, Locked: p.lockedSince, ReadOnly: p.readOnly, Barred: p.barred, Clock: p.clock,
		Pressed: p.gate.queue.n > 0 || p.gate.window.waited || p.gate.last.waited,
	}
}
