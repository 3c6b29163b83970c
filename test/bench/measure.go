package main

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// median is that of v, without the best and the worst where there are five or more.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	if len(v) >= 5 {
		v = v[1 : len(v)-1]
	}
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// percentile is the value below which the share p of v lies.
func percentile(v []time.Duration, p float64) time.Duration {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[min(len(v)-1, int(float64(len(v))*p))]
}

// cpuTime is the user and system time a process has used; 0 for no process.
func cpuTime(pid int) (time.Duration, error) {
	if pid == 0 {
		return 0, nil
	}
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is not as expected", pid)
	}
	ticks := 0
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux architecture Go runs on
	return time.Duration(ticks) * tick, nil
}

// contextSwitches is how often the threads of a process have given way to others, of their own accord or not; 0 for no process.
// What threads did that have ended is not in it.
func contextSwitches(pid int) (n float64) {
	if pid == 0 {
		return 0
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, t := range tasks {
		b, err := os.ReadFile(t)
		if err != nil {
			continue // the thread has ended
		}
		for _, m := range regexp.MustCompile(`voluntary_ctxt_switches:\s+(\d+)`).FindAllStringSubmatch(string(b), -1) {
			v, _ := strconv.ParseFloat(m[1], 64)
			n += v
		}
	}
	return n
}

// memory is a figure of /proc/PID/status in bytes: VmRSS, or VmHWM for the highest since resetPeak.
func memory(pid int, field string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	kb := number(string(b), field+`:\s+(\d+) kB`)
	return int64(kb) << 10, nil
}

// resetPeak makes VmHWM start again from what is used now.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// number is what the first group of pattern matches in text, 0 if nothing does.
func number(text, pattern string) float64 {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	return v
}

// inTurn gives each of n in every round, one round after the other to and fro: nobody always comes behind the same one, with what that has
// left of the processors' caches and of the server's work.
func inTurn(rounds, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for round := range rounds {
			for i := range n {
				if round%2 == 1 {
					i = n - 1 - i
				}
				if !yield(i) {
					return
				}
			}
		}
	}
}
