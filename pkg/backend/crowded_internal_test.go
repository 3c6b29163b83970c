package backend

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// A server whose disk is full answers its probes: operators are told all the same, once.
func TestServerWhoseDiskIsFull(t *testing.T) {
	var log bytes.Buffer
	g := &catalog.NodeGroup{ID: 3}
	p := &pool{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, group: g, metrics: newMetrics(nil).group(g)}
	p.noteFull(false)
	require.Zero(t, p.health().Full)
	p.noteFull(true)
	since := p.health().Full
	require.WithinDuration(t, time.Now(), since, time.Minute)
	p.noteFull(true)
	require.Equal(t, since, p.health().Full)
	p.noteFull(false)
	require.Zero(t, p.health().Full)
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=ERROR")))
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=INFO")))
}

// One that keeps its temporary tables on the disk that is full cannot say who waits for space: that says it.
func TestServerThatHasNoSpaceToAnswer(t *testing.T) {
	full := &sqlerr.Error{Code: 1021, State: "HY000", Message: "Disk got full writing 'information_schema.(temporary)' (Errcode: 28 \"No space left on device\")"}
	require.True(t, noSpace(full))
	require.False(t, noSpace(nil))
	require.False(t, noSpace(sqlerr.LockWaitTimeout.New()))
}

// A server that takes no more connections answers its probes: operators are told all the same, by the log once in a while.
func TestServerWithTooManyConnections(t *testing.T) {
	var log bytes.Buffer
	p := &pool{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, group: &catalog.NodeGroup{ID: 3}}
	require.Zero(t, p.health().Crowded)
	for range 3 {
		p.noteCrowded(sqlerr.TooManyConnections.New())
	}
	require.WithinDuration(t, time.Now(), p.health().Crowded, time.Minute)
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")))
}
