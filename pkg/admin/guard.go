package admin

import (
	"context"
	"log/slog"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// guarded are the options of a server that outlives a panic of a call, as it does one of a client's session: the process has other
// clients.
func guarded(log *slog.Logger) []grpc.ServerOption {
	caught := func(method string, err *error) {
		if p := recover(); p != nil {
			log.Error("a call of the admin API panicked", "method", method, "panic", p, "stack", string(debug.Stack()))
			*err = status.Error(codes.Internal, "the call panicked: the process's log says where")
		}
	}
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, i *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (_ any, err error) {
			defer caught(i.FullMethod, &err)
			return handler(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, i *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
			defer caught(i.FullMethod, &err)
			return handler(srv, s)
		}),
	}
}
