package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAsksSequence(t *testing.T) {
	for expr, asks := range map[string]bool{
		"nextval(`d`.`s`)":             true,
		"LASTVAL(`d`.`s`) + 1":         true,
		"(setval(`d`.`s`,5,1,0))":      true,
		"concat('it''s',nextval(`s`))": true,
		"concat('\\'',nextval(`s`))":   true,
		"'nextval('":                   false,
		"concat('\\'nextval(',`a`)":    false,
		"`nextval(`":                   false,
		"current_timestamp()":          false,
	} {
		table := Table{Columns: []Column{{Name: "a"}, {Name: "b", HasDefault: true, Default: expr}}}
		require.Equal(t, asks, table.AsksSequence() == "b", expr)
	}
}
