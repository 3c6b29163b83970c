package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
)

// sessions is how many connections the clients have together. A statement for which none is free is lost to them.
const sessions = 800

// deadline is what a client waits for an answer; a later one is of no use.
const deadline = time.Second

// clients is sessions of one proxy.
type clients struct{ free chan *mysqlconn.Conn }

func connect(ctx context.Context, addr string) (*clients, error) {
	c := &clients{free: make(chan *mysqlconn.Conn, sessions)}
	var g errgroup.Group
	g.SetLimit(8)
	for range sessions {
		g.Go(func() error {
			conn, err := dial(ctx, addr)
			if err == nil {
				c.free <- conn
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close ends all sessions; none may be in use.
func (c *clients) close() {
	close(c.free)
	for conn := range c.free {
		_ = conn.Close()
	}
}

// statement is one to be offered.
type statement struct {
	sql   string
	group int // whose answers it counts among
}

// outcome is what became of the statements of one group.
type outcome struct {
	offered, good, late, refused, lost int
	errors                             map[string]int
	took                               []time.Duration // of those that were answered
}

func (o *outcome) quantile(q float64) time.Duration {
	if len(o.took) == 0 {
		return 0
	}
	slices.Sort(o.took)
	return o.took[int(q*float64(len(o.took)-1))].Round(time.Millisecond)
}

// trouble names the errors that should not be.
func (o *outcome) trouble() string {
	for text, n := range o.errors {
		return fmt.Sprintf(" (%d other errors: %s)", n, text)
	}
	return ""
}

// offer sends perSecond statements in the mean, at random times, for length, and returns when all have been answered.
func (c *clients) offer(ctx context.Context, perSecond float64, length time.Duration, next func(*rand.Rand) statement) []outcome {
	out := make([]outcome, groups)
	var mu sync.Mutex
	var wg sync.WaitGroup
	r := rand.New(rand.NewPCG(1, 2))
	began := time.Now()
	// Times are drawn ahead: when this goroutine is late it catches up, as clients that know nothing of each other would.
	for at := time.Duration(0); at < length && ctx.Err() == nil; at += time.Duration(r.ExpFloat64() / perSecond * 1e9) {
		if wait := at - time.Since(began); wait > 0 {
			time.Sleep(wait)
		}
		s := next(r)
		o := &out[s.group]
		var conn *mysqlconn.Conn
		select {
		case conn = <-c.free:
		default:
		}
		mu.Lock()
		o.offered++
		if conn == nil {
			o.lost++
		}
		mu.Unlock()
		if conn == nil {
			continue
		}
		wg.Go(func() {
			sent := time.Now()
			_, _, err := conn.QueryAll(s.sql, 100)
			took := time.Since(sent)
			mu.Lock()
			defer mu.Unlock()
			var e *sqlerr.Error
			switch {
			case err == nil && took <= deadline:
				o.good++
				o.took = append(o.took, took)
			case err == nil:
				o.late++
				o.took = append(o.took, took)
			case sqlerr.HasCode(err, sqlerr.TooManyUserConns):
				o.refused++
			default:
				if o.errors == nil {
					o.errors = map[string]int{}
				}
				if errors.As(err, &e) {
					o.errors[e.Message]++
				} else {
					o.errors[err.Error()]++
				}
			}
			c.free <- conn
		})
	}
	wg.Wait()
	return out
}
