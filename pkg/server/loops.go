package server

import (
	"context"
	"log/slog"
	"runtime"

	"skarv/pkg/socket"
)

// autoLoops is mysql.loops where nobody has said how many.
const autoLoops = -1

// openLoops makes the Loops that clients are served on, by the setting mysql.loops. nil: the Go runtime serves them, because
// that is wanted or because the system has no io_uring for this process; many container runtimes forbid it.
func openLoops(n int, log *slog.Logger) *socket.Loops {
	if n == 0 {
		return nil
	}
	complaint := slog.LevelWarn
	if n == autoLoops {
		complaint = slog.LevelInfo // what was not asked for is not missed
		n = max(1, runtime.GOMAXPROCS(0)/2)
	}
	loops, err := socket.NewLoops(n)
	if err != nil {
		log.Log(context.Background(), complaint, "clients are served without io_uring", "error", err)
		return nil
	}
	log.Info("clients are served by io_uring", "loops", n)
	return loops
}
