package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

func TestTablesAskSequences(t *testing.T) {
	s := &Session{}
	asks := func(revision int64, table *catalog.Table) bool {
		s.snap = &catalog.Snapshot{SchemaRevision: revision, Databases: map[string]*catalog.Database{"d": {Tables: map[string]*catalog.Table{"t": table}}}}
		return s.tablesAskSequences()
	}
	require.False(t, asks(0, &catalog.Table{Triggers: []catalog.Trigger{{Event: "INSERT"}}}))
	require.True(t, asks(1, &catalog.Table{Triggers: []catalog.Trigger{{Event: "INSERT", Unknown: true}}}), "a trigger that nobody knows")
	require.True(t, asks(1, &catalog.Table{}), "once for each revision")
	require.False(t, asks(2, &catalog.Table{}))
	require.True(t, asks(3, &catalog.Table{Columns: []catalog.Column{{Name: "a", HasDefault: true, Default: "nextval(`d`.`s`)"}}}))
}
