package control

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

func isCrash(err error) bool { return errors.Is(err, errCrash) }

func TestDDL(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.session.DB = ""
	f.must("CREATE DATABASE d")
	f.session.DB = "d"
	f.must("CREATE TABLE customer (id BIGINT PRIMARY KEY, name VARCHAR(64), region VARCHAR(16), KEY (name))")
	c := f.table("customer")
	require.Equal(t, catalog.Sharded, c.Kind)
	require.Equal(t, []int{0}, c.Distribution)
	for _, s := range servers {
		require.Equal(t, "3", s.value(t, "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema='d' AND table_name='customer'"))
	}
}
