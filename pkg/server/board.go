package server

import "context"

// board shows waiting transactions with the process's announcement in etcd.
type board struct{ s *Server }

// Show implements txn.Board.
func (b board) Show(waiters []byte) { b.s.presence.ShowWaits(waiters) }

// Others implements txn.Board.
func (b board) Others(ctx context.Context) ([][]byte, error) {
	members, err := b.s.store.Members(ctx)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for _, m := range members {
		if m.ID != b.s.id && len(m.Waits) > 0 {
			all = append(all, m.Waits)
		}
	}
	return all, nil
}
