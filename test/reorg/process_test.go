package reorg

import (
	"testing"
	"time"

	"skarv/pkg/mover"
	"skarv/pkg/reorg"
	"skarv/pkg/server"
	"skarv/test/process"
)

// moverPoint begins the names of steps that are a mover's.
const moverPoint = "mover."

func TestMain(m *testing.M) {
	process.Main(m, func(hit func(point string)) server.Options {
		return server.Options{Reorg: func(c *reorg.Config) {
			c.Times = chaosTimes()
			c.Hit = func(point string) error {
				hit(point)
				return nil
			}
			c.NewMover = func(cfg mover.Config, m mover.Move) (reorg.Mover, error) {
				cfg.Hit = func(point string) { hit(moverPoint + point) }
				cfg.ChunkRows = 200 // so that there are several
				return mover.New(cfg, m)
			}
		}}
	})
}

// chaosTimes are for a machine that is busy with everything at once.
func chaosTimes() reorg.Times {
	return reorg.Times{
		Ack: time.Second, Deadline: 4 * time.Second, MaxLag: 2 * time.Second, Retry: 200 * time.Millisecond, Reap: 5 * time.Second,
	}
}
