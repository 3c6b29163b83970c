package plancache

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

func scan(t *testing.T, sql string) *sqlparse.Statement {
	st := sqlparse.NewDialect(true, "10.11.6").NewStatement()
	t.Cleanup(st.Done)
	require.NoError(t, st.Scan([]byte(sql), 0))
	return st
}

func TestPlansAreFoundByTheirGuards(t *testing.T) {
	c := New(10)
	g := c.At(1)
	key := Key{DB: "d"}
	require.Nil(t, g.Get(key))
	guarded := func(text string) *plan.Plan { return &plan.Plan{Guards: []plan.Guard{{Arg: 0, Text: text}}} }
	one, two := guarded("1"), guarded("2")
	g.Put(key, one)
	before := g.Get(key)
	g.Put(key, two)
	e := g.Get(key)
	require.Same(t, one, e.Match(scan(t, "SELECT 1")))
	require.Same(t, two, e.Match(scan(t, "SELECT 2")))
	require.Nil(t, e.Match(scan(t, "SELECT 3")))
	require.Nil(t, before.Match(scan(t, "SELECT 2")), "an entry does not change")
	require.Nil(t, g.Get(Key{DB: "other"}))
	for i := range maxVariants {
		g.Put(key, guarded(fmt.Sprint(10+i)))
	}
	require.Nil(t, g.Get(key).Match(scan(t, "SELECT 1")), "the oldest goes")
	require.Same(t, one, Alone(key, one).Match(scan(t, "SELECT 1")))
}

func TestAChangeOfTheSchemaEmptiesTheCache(t *testing.T) {
	c := New(1)
	old := c.At(1)
	old.Put(Key{DB: "a"}, &plan.Plan{})
	require.Same(t, old, c.At(1))
	require.NotNil(t, c.At(2))
	require.Nil(t, c.At(1), "who still has the old schema plans for itself")
	require.Nil(t, c.At(2).Get(Key{DB: "a"}))
}

func TestTheCacheIsEmptiedWhenItIsFull(t *testing.T) {
	c := New(1)
	g := c.At(1)
	g.Put(Key{DB: "a"}, &plan.Plan{})
	g.Put(Key{DB: "b"}, &plan.Plan{})
	require.NotSame(t, g, c.At(1))
	require.Nil(t, c.At(1).Get(Key{DB: "a"}))
}
