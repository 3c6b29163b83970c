// Package chaos runs clusters of real servers and proxy processes and kills them, at every step of a commit and at
// random, while clients work; in the end nothing may be torn or missing.
package chaos

import (
	"testing"

	"skarv/pkg/server"
	"skarv/pkg/txn"
	"skarv/test/process"
)

func TestMain(m *testing.M) {
	process.Main(m, func(hit func(point string)) server.Options {
		return server.Options{Failpoint: func(point string, _ txn.ID) error {
			hit(point)
			return nil
		}}
	})
}
