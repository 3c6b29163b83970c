package main

import (
	"math"
)

// service is how much work statements are, in microseconds of one processor; measure.go measures it.
type service struct {
	Point     float64 `json:"point"`      // a select by key, on its node group
	Proxy     float64 `json:"proxy"`      // the same, in the proxy
	Fragment  float64 `json:"fragment"`   // one node group's part of a statement over several, in the proxy
	Write     float64 `json:"write"`      // a transaction that changes two rows of one node group, there
	CrossPart float64 `json:"cross_part"` // one node group's part of a transaction that changes a row in each of two
	CopyPart  float64 `json:"copy_part"`  // one node group's part of a change of a reference table
	Commit    float64 `json:"commit"`     // a transaction over two node groups, in the proxy; over one it is Proxy, thrice
}

// mix is a workload: shares of statements. What is left are selects by key.
type mix struct {
	name     string
	Scatter  float64 // statements that need every node group
	Copies   float64 // changes of a reference table: every node group changes its copy
	Transfer float64 // transactions that change two rows, each anywhere
}

// machine is how many processors the machines have: an assumption, not a measurement.
type machine struct{ group, proxy int }

// demand is the work that one statement of the mix is in the mean, in microseconds: for each of n node groups, and for the proxies
// together.
func (s service) demand(m mix, n int) (group, proxy float64) {
	groups := float64(n)
	point := 1 - m.Scatter - m.Copies - m.Transfer
	alone := 1 / groups // the chance that both rows of a transfer are in one group
	group = point*s.Point/groups + m.Scatter*s.Point + m.Copies*s.part(n) +
		m.Transfer*(alone*s.Write/groups+(1-alone)*2*s.CrossPart/groups)
	proxy = point*s.Proxy + (m.Scatter+m.Copies)*(s.Proxy+groups*s.Fragment) +
		m.Transfer*(alone*3*s.Proxy+(1-alone)*s.Commit)
	return group, proxy
}

// part is a group's part of a change of a reference table: a plain statement if there is only one group.
func (s service) part(n int) float64 {
	if n == 1 {
		return s.Write
	}
	return s.CopyPart
}

// peak is the throughput, statements a second, at which the first of the stations is busy all the time: node groups whose
// partitions are used alike, or proxies among which clients are spread alike. No station can do more: the operational law of
// utilisation (P. Denning, J. Buzen, Computing Surveys 10(3), 1978).
func (s service) peak(m mix, n, proxies int, on machine) (perSecond float64, proxyBound bool) {
	group, proxy := s.demand(m, n)
	byGroup := float64(on.group) * 1e6 / group
	byProxy := float64(proxies*on.proxy) * 1e6 / proxy
	return min(byGroup, byProxy), byProxy < byGroup
}

// queue is a station with a number of workers, statements that arrive at random and take random, exponentially distributed times:
// M/M/c.
type queue struct {
	workers int
	mean    float64 // service time
	rate    float64 // arrivals per unit of that time
}

// waits is the probability that whoever arrives must wait: Erlang's C (A. K. Erlang, 1917), by the recursion for his B.
func (q queue) waits() float64 {
	load := q.rate * q.mean
	if load >= float64(q.workers) {
		return 1
	}
	b := 1.0
	for k := 1; k <= q.workers; k++ {
		b = load * b / (float64(k) + load*b)
	}
	rho := load / float64(q.workers)
	return b / (1 - rho*(1-b))
}

// response is the mean time from arrival to the end of service.
func (q queue) response() float64 {
	free := float64(q.workers)/q.mean - q.rate // by which the queue shrinks
	if free <= 0 {
		return math.Inf(1)
	}
	return q.mean + q.waits()/free
}

// within is the probability that the response comes within t: service alone, or a wait, exponentially distributed too, and
// service.
func (q queue) within(t float64) float64 {
	mu, free, c := 1/q.mean, float64(q.workers)/q.mean-q.rate, q.waits()
	served := 1 - math.Exp(-mu*t)
	if math.Abs(free-mu) < 1e-9*mu {
		return (1-c)*served + c*(1-math.Exp(-mu*t)*(1+mu*t))
	}
	both := 1 - (free*math.Exp(-mu*t)-mu*math.Exp(-free*t))/(free-mu)
	return (1-c)*served + c*both
}

// slowest is the mean time until the last of n such queues has answered, as if they knew nothing of each other: the
// integral of 1 - within(t)^n.
func (q queue) slowest(n int) float64 {
	if math.IsInf(q.response(), 1) {
		return math.Inf(1)
	}
	step := q.mean / 200
	sum := 0.0
	for t := 0.0; ; t += step {
		left := 1 - math.Pow(q.within(t+step/2), float64(n))
		sum += left * step
		if left < 1e-7 {
			return sum
		}
	}
}
