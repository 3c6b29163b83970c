package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Faults of the configuration name no types of the program.
func TestPlainFaults(t *testing.T) {
	for text, want := range map[string]string{
		"mysql: 3":                    "`3` stands where settings must be",
		"mysql: [a]":                  "a list stands where settings must be",
		"mysql: {max_connections: x}": "`x` stands where a number must be",
		"etcd: {endpoints: 5}":        "`5` stands where a list must be",
		"http: {profiles: maybe}":     "`maybe` stands where true or false must be",
	} {
		_, err := ParseConfig("c.yaml", []byte(text))
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "server.", text)
	}
}
