package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGreeting(t *testing.T) {
	for version, want := range map[string]string{
		"10.11.19-MariaDB-0+deb12u1-log": "5.5.5-10.11.19-MariaDB-0+deb12u1-log",
		"11.8.2-MariaDB":                 "11.8.2-MariaDB",
		"9.7.0":                          "9.7.0",
	} {
		require.Equal(t, want, greeting(version))
	}
}
