package main

import (
	"container/heap"
	"math/rand/v2"
)

// simulation is a cluster of groups, event by event: statements arrive at random, each needs one group or all of them, every
// group has some workers and a queue, and a statement ends when its last part does. What the formulas leave out is in it: that
// the parts of one statement arrive everywhere at the same moment.
type simulation struct {
	groups, workers int
	mean            float64 // service time of a part
	rate            float64 // statements per unit of that time
	all             float64 // share of statements that need all groups
	statements      int     // how many, the first tenth of which is not counted
}

// simulated is what came out.
type simulated struct {
	one, all float64 // mean response of statements of one group, and of all
}

// job is a statement.
type job struct {
	arrived float64
	parts   int
	wide    bool
	counted bool
}

// event is an arrival (group < 0) or the end of a part.
type event struct {
	at    float64
	group int
	job   *job
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// run is the same for the same simulation.
func (s simulation) run() simulated {
	r := rand.New(rand.NewPCG(1, 2))
	busy := make([]int, s.groups)
	waiting := make([][]*job, s.groups)
	var pending events
	var sum simulated
	var ones, alls int
	heap.Push(&pending, event{at: r.ExpFloat64() / s.rate, group: -1})
	begin := func(now float64, g int, j *job) {
		heap.Push(&pending, event{now + r.ExpFloat64()*s.mean, g, j})
	}
	enter := func(now float64, g int, j *job) {
		if busy[g] < s.workers {
			busy[g]++
			begin(now, g, j)
		} else {
			waiting[g] = append(waiting[g], j)
		}
	}
	for arrived := 0; pending.Len() > 0; {
		e := heap.Pop(&pending).(event)
		if e.group < 0 {
			j := &job{arrived: e.at, parts: 1, counted: arrived >= s.statements/10}
			if r.Float64() < s.all {
				j.parts, j.wide = s.groups, true
				for g := range s.groups {
					enter(e.at, g, j)
				}
			} else {
				enter(e.at, r.IntN(s.groups), j)
			}
			if arrived++; arrived < s.statements {
				heap.Push(&pending, event{at: e.at + r.ExpFloat64()/s.rate, group: -1})
			}
			continue
		}
		if e.job.parts--; e.job.parts == 0 && e.job.counted {
			if e.job.wide {
				sum.all += e.at - e.job.arrived
				alls++
			} else {
				sum.one += e.at - e.job.arrived
				ones++
			}
		}
		if q := waiting[e.group]; len(q) > 0 {
			waiting[e.group] = q[1:]
			begin(e.at, e.group, q[0])
		} else {
			busy[e.group]--
		}
	}
	return simulated{sum.one / float64(max(1, ones)), sum.all / float64(max(1, alls))}
}

// formula is what the model says of the same.
func (s simulation) formula() simulated {
	perGroup := s.rate * ((1-s.all)/float64(s.groups) + s.all)
	q := queue{s.workers, s.mean, perGroup}
	return simulated{q.response(), q.slowest(s.groups)}
}
