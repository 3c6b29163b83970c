package session

import (
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
)

// TestLastValues: what LASTVAL() gives behind statements that fail, and behind very many sequences.
func TestLastValues(t *testing.T) {
	a, b := sequenceName{"d", "a"}, sequenceName{"d", "b"}
	next := func(names ...sequenceName) (calls []sequenceCall) {
		for _, n := range names {
			calls = append(calls, sequenceCall{function: "NEXTVAL", db: n.db, name: n.name})
		}
		return calls
	}
	fails := func(code sqlerr.Code) error { return &sqlerr.Error{Code: code, State: "HY000"} }
	for _, c := range []struct {
		err   error
		calls []sequenceCall
		want  string
	}{
		{fails(sqlerr.SequenceRunOut), next(a), "NULL"},
		{fails(sqlerr.SequenceRunOut), next(a, a), "NULL"},
		{fails(sqlerr.SequenceRunOut), next(a, b), ""},
		{fails(1317), next(a), ""},
		{fails(1969), next(a), ""},
		{errors.New("connection lost"), next(a), ""},
		{fails(sqlerr.ParseError), next(a), "7"},
		{fails(1205), next(a), "7"},
		{fails(4091), next(a, b), "7"},
		{fails(sqlerr.SequenceRunOut), []sequenceCall{{function: "SETVAL", db: "d", name: "a"}}, "7"},
	} {
		s := &Session{}
		s.setLastValue(a, "7")
		s.noValues(c.calls, c.err)
		require.Equal(t, c.want, s.lastValues[a], "%v behind %v", c.calls, c.err)
	}
	s := &Session{}
	_, ok := s.lastValue(a)
	require.False(t, ok)
	s.setLastValue(a, "7")
	for n := range 2 * maxLastValues {
		s.setLastValue(sequenceName{"d", strconv.Itoa(n)}, "1")
		require.LessOrEqual(t, len(s.lastValues), maxLastValues)
	}
	v, ok := s.lastValue(a)
	require.True(t, ok)
	require.Empty(t, v, "not NULL: it is not known")
	s.setLastValue(a, "8")
	v, _ = s.lastValue(a)
	require.Equal(t, "8", v)
}
