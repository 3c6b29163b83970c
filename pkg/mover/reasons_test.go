package mover

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is the same on several node groups is said once.
func TestReasons(t *testing.T) {
	off := Problem{What: "log_bin is 'OFF'", Fix: "set log_bin to 'ON'"}
	var all []Problem
	for _, g := range []string{"ng1", "ng2", "ng1"} {
		off.Group = g
		all = append(all, off)
	}
	all = append(all, Problem{Table: "d.t", Group: "ng2", What: "it does not exist", Fix: "create it"})
	require.Equal(t, []string{
		"on node groups ng1, ng2: log_bin is 'OFF'; set log_bin to 'ON'",
		"table d.t: on node group ng2: it does not exist; create it",
	}, Reasons(all))
}
