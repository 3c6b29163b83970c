package reorg

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/mover"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
)

// plainMover is a mover that copies everything while the partitions are frozen. It is right, and as slow as one copy; the
// steps around it are what is tested with it.
type plainMover struct {
	move   mover.Move
	copied chan struct{}
	faults *faults
}

// faults are what plainMovers are to fail with, by name of the method; guarded by mu.
type faults struct {
	mu     sync.Mutex
	errs   map[string]error
	report mover.Report
	calls  []string
	held   map[string]bool // cuts that are neither cancelled nor published; on the servers, as it were
	runs   int             // movers that run
}

func (f *faults) call(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, name)
	return f.errs[name]
}

func (f *faults) set(name string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.errs == nil {
		f.errs = map[string]error{}
	}
	f.errs[name] = err
}

func (p *plainMover) Check(context.Context) ([]mover.Problem, error) {
	return nil, p.faults.call("check")
}
func (p *plainMover) Prepare(ctx context.Context, _ bool) error {
	if err := p.faults.call("prepare"); err != nil || p.move.Follow {
		return err
	}
	for g := range p.move.Targets {
		if err := p.Clean(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func (p *plainMover) Run(ctx context.Context) error {
	count := func(n int) {
		p.faults.mu.Lock()
		defer p.faults.mu.Unlock()
		p.faults.runs += n
	}
	count(1)
	defer count(-1)
	if err := p.faults.call("run"); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// hold notes that a cut is to be decided on, or that it is.
func (p *plainMover) hold(epoch uint64, held bool) {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	if p.faults.held == nil {
		p.faults.held = map[string]bool{}
	}
	p.faults.held[fmt.Sprint(p.move.Reorg, " ", p.move.Source.Group, " ", epoch)] = held
}

func (p *plainMover) Progress() mover.Progress {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	for cut, held := range p.faults.held {
		if held && strings.HasPrefix(cut, fmt.Sprint(p.move.Reorg, " ", p.move.Source.Group, " ")) {
			return mover.Progress{Phase: mover.Cutting}
		}
	}
	return mover.Progress{Phase: mover.Following, Table: "d.t"}
}

func (p *plainMover) Lag(context.Context) (time.Duration, error) { return 0, p.faults.call("lag") }
func (p *plainMover) Copied() <-chan struct{}                    { return p.copied }
func (p *plainMover) Verify(context.Context) (mover.Report, error) {
	err := p.faults.call("verify")
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return p.faults.report, err
}

func (p *plainMover) Cancel(_ context.Context, epoch uint64) error {
	p.hold(epoch, false)
	return p.faults.call("cancel")
}

func (p *plainMover) Opened(_ context.Context, epoch uint64) error {
	p.hold(epoch, false)
	return p.faults.call("opened")
}

func (p *plainMover) Forget(context.Context) error { return p.faults.call("forget") }

func (p *plainMover) Cut(ctx context.Context, epoch uint64) error {
	p.hold(epoch, true)
	if err := p.faults.call("cut"); err != nil {
		return err
	}
	for g := range p.move.Targets {
		if err := p.Clean(ctx, g); err != nil {
			return err
		}
		if err := p.copyTo(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// condition is that a row of t is one of those that go to g; 0: to any group.
func (p *plainMover) condition(t *catalog.Table, g placement.NodeGroupID) string {
	var list []string
	for part, to := range p.move.Partitions {
		if g == 0 || to == g {
			list = append(list, fmt.Sprint(part))
		}
	}
	var columns []string
	for _, c := range t.Distribution {
		columns = append(columns, "`"+t.Columns[c].Name+"`")
	}
	return t.Key.SQLExpr(columns) + " IN (" + strings.Join(list, ",") + ")"
}

func (p *plainMover) Clean(ctx context.Context, on placement.NodeGroupID) error {
	if err := p.faults.call("clean"); err != nil {
		return err
	}
	server, which := p.move.Source, placement.NodeGroupID(0)
	if on != server.Group {
		server, which = p.move.Targets[on], on
	}
	c, err := mysqlconn.Dial(ctx, server.Conn)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, t := range p.move.Tables { // with an integer as primary key
		name, key := "`"+t.Database+"`.`"+t.Name+"`", "`"+t.Columns[t.Primary[0]].Name+"`"
		_, rows, err := c.QueryAll("SELECT "+key+" FROM "+name+" WHERE "+p.condition(t, which), 1<<20)
		if err != nil {
			return err
		}
		// One by one: for a long list the server goes through all rows, and waits for those that a transaction has locked which waits
		// for the cutover.
		for _, r := range rows {
			if _, err := c.Exec("DELETE FROM " + name + " WHERE " + key + " = " + string(r[0])); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *plainMover) copyTo(ctx context.Context, g placement.NodeGroupID) error {
	from, err := mysqlconn.Dial(ctx, p.move.Source.Conn)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := mysqlconn.Dial(ctx, p.move.Targets[g].Conn)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, t := range p.move.Tables {
		name := "`" + t.Database + "`.`" + t.Name + "`"
		_, rows, err := from.QueryAll("SELECT * FROM "+name+" WHERE "+p.condition(t, g), 1<<20)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			continue
		}
		var all []string
		for _, r := range rows {
			var values []string
			for _, v := range r {
				if v == nil {
					values = append(values, "NULL")
				} else {
					values = append(values, "'"+strings.ReplaceAll(string(v), "'", "''")+"'")
				}
			}
			all = append(all, "("+strings.Join(values, ",")+")")
		}
		if _, err := to.Exec("INSERT INTO " + name + " VALUES " + strings.Join(all, ",")); err != nil {
			return err
		}
	}
	return nil
}
