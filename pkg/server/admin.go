package server

import "context"

// runAdmin serves the admin API until ctx ends.
func (s *Server) runAdmin(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
