package server

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/placement"
	adminv1 "skarv/proto/admin/v1"
)

// partitionLoad is the load of this process's statements, with cluster of those of all processes. missing are the processes that
// do not answer.
func (s *Server) partitionLoad(ctx context.Context, cluster bool) (rates []float64, all float64, missing []string, err error) {
	rates = make([]float64, placement.Partitions)
	if l := s.load.Load(); l != nil {
		rates, all = l.Rates()
	}
	if !cluster {
		return rates, all, nil, nil
	}
	members, err := peers{s}.others(ctx)
	if err != nil {
		return nil, 0, nil, err
	}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(maxPeerCalls)
	for _, m := range members {
		g.Go(func() error {
			var r *adminv1.PartitionLoadResponse
			err := s.ask(m, func(c adminv1.AdminClient) (err error) {
				r, err = c.PartitionLoad(ctx, &adminv1.PartitionLoadRequest{})
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || len(r.GetRates()) != len(rates) {
				missing = append(missing, m.AdminAddr)
				return nil //nolint:nilerr // told as missing
			}
			for p, n := range r.GetRates() {
				rates[p] += n
			}
			all += r.GetScattered()
			return nil
		})
	}
	_ = g.Wait() // none returns an error
	slices.Sort(missing)
	return rates, all, missing, nil
}
