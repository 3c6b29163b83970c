package server

import (
	"context"
	"fmt"

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
	missing, err = askOthers(ctx, s, func(api adminv1.AdminClient) (*adminv1.PartitionLoadResponse, error) {
		r, err := api.PartitionLoad(ctx, &adminv1.PartitionLoadRequest{})
		if n := len(r.GetRates()); err == nil && n != len(rates) {
			err = fmt.Errorf("the load of %d partitions, not of %d", n, len(rates))
		}
		return r, err
	}, func(r *adminv1.PartitionLoadResponse) {
		for p, n := range r.GetRates() {
			rates[p] += n
		}
		all += r.GetScattered()
	})
	if err != nil {
		return nil, 0, nil, err
	}
	return rates, all, missing, nil
}
