package main

import (
	"context"
	"fmt"
	"io"

	"skarv/pkg/wire"
)

const (
	largeRows    = 100_000
	largeRow     = 200
	largeQueries = 40 // of one sample
)

// largeResult asks for one long answer again and again: what counts is the work per byte, and that memory does not grow.
func (b *bench) largeResult(ctx context.Context) error {
	targets := b.targets()
	for _, t := range targets {
		if t.user == "root" { // through Skarv, which has to know the table
			if err := execute(ctx, t, "CREATE TABLE "+t.db+".large (id INT PRIMARY KEY, c CHAR(200) NOT NULL)"); err != nil {
				return err
			}
		} else if err := execute(ctx, b.direct, "CREATE TABLE IF NOT EXISTS "+t.db+".large (id INT PRIMARY KEY, c CHAR(200) NOT NULL)"); err != nil {
			return err
		}
		// With one node group every row belongs to it, so that the server can fill the table itself.
		if err := execute(ctx, b.direct, fmt.Sprintf("INSERT INTO %s.large SELECT seq, REPEAT(CHAR(65 + seq MOD 26), %d) FROM %s.seq_1_to_%d",
			t.db, largeRow, t.db, largeRows)); err != nil {
			return err
		}
	}
	cpu := make([][]float64, len(targets))
	speed := make([][]float64, len(targets))
	grown := make([]int64, len(targets))
	for i := range inTurn(b.rounds, len(targets)) {
		s, err := readLarge(ctx, targets[i])
		if err != nil {
			return fmt.Errorf("%s: %w", targets[i].name, err)
		}
		cpu[i], speed[i] = append(cpu[i], s.cpu), append(speed[i], s.speed)
		grown[i] = max(grown[i], s.grown)
	}
	b.report.head("through", "MB/s", "proxy CPU seconds/GB", "ratio to haproxy", "memory grows by at most")
	defer b.report.end()
	relay := median(cpu[1])
	for i, t := range targets {
		if t.pid == 0 {
			b.report.row(t.name, fmt.Sprintf("%.0f", median(speed[i])), "", "", "")
			continue
		}
		b.report.row(t.name, fmt.Sprintf("%.0f", median(speed[i])), fmt.Sprintf("%.2f", median(cpu[i])),
			fmt.Sprintf("%.2f", median(cpu[i])/relay), fmt.Sprintf("%.1f MB", float64(grown[i])/(1<<20)))
	}
	b.report.goal("CPU per GB of a large result", "at most 1.2 x haproxy's", "%.2f x", median(cpu[2])/relay)
	b.report.goal("memory during a large result", "flat", "grows by %.1f MB for %d MB", float64(grown[2])/(1<<20), largeQueries*largeRows*largeRow>>20)
	return nil
}

type largeSample struct {
	cpu, speed float64 // seconds a GB, MB/s
	grown      int64   // bytes
}

// readLarge reads the table of t largeQueries times, decoding nothing.
func readLarge(ctx context.Context, t target) (s largeSample, err error) {
	c, err := dial(ctx, t)
	if err != nil {
		return s, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Interrupt)()
	var memoryBefore int64
	if t.pid != 0 {
		if err := resetPeak(t.pid); err != nil {
			return s, err
		}
		if memoryBefore, err = memory(t.pid, "VmHWM"); err != nil {
			return s, err
		}
	}
	before, err := cpuTime(t.pid)
	if err != nil {
		return s, err
	}
	request, buf := query("SELECT c FROM "+t.db+".large"), make([]byte, 256<<10)
	clock := newClock()
	var bytes uint64
	for range largeQueries {
		sum, err := c.Relay(request, wire.ComQuery, io.Discard, buf)
		switch {
		case err != nil:
			return s, err
		case sum.Failed():
			return s, fmt.Errorf("error %d", sum.ErrCode)
		case sum.Rows != largeRows:
			return s, fmt.Errorf("%d rows instead of %d", sum.Rows, largeRows)
		}
		bytes += sum.Bytes
	}
	took := clock()
	after, err := cpuTime(t.pid)
	if err != nil {
		return s, err
	}
	if t.pid != 0 {
		peak, err := memory(t.pid, "VmHWM")
		if err != nil {
			return s, err
		}
		s.grown = peak - memoryBefore
	}
	s.cpu = (after - before).Seconds() / (float64(bytes) / 1e9)
	s.speed = float64(bytes) / 1e6 / took.Seconds()
	return s, nil
}

// query is a COM_QUERY as it stands on the wire.
func query(sql string) []byte {
	var seq byte
	return wire.AppendPacket(nil, &seq, append([]byte{byte(wire.ComQuery)}, sql...))
}
