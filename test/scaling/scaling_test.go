package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The formulas agree with the simulation, which knows nothing of them.
func TestFormulasAgreeWithSimulation(t *testing.T) {
	for _, s := range simulations() {
		f, r := s.formula(), s.run()
		require.InEpsilonf(t, f.one, r.one, 0.06, "one group of %+v", s)
		if s.groups > 1 {
			require.InEpsilonf(t, f.all, r.all, 0.12, "all groups of %+v", s)
		}
	}
}

func TestKnownQueues(t *testing.T) {
	one := queue{workers: 1, mean: 2, rate: 0.25} // M/M/1: mean / (1 - load)
	require.InDelta(t, 0.5, one.waits(), 1e-12)
	require.InDelta(t, 4, one.response(), 1e-12)
	require.InDelta(t, 1-math.Exp(-5./4), one.within(5), 1e-9)
	require.InDelta(t, one.response(), one.slowest(1), 0.02)
	require.InDelta(t, 4*(1+1./2+1./3), one.slowest(3), 0.05) // the slowest of exponential times: harmonic numbers
	require.InDelta(t, 8./15, queue{workers: 2, mean: 1, rate: 4. / 3}.waits(), 1e-12)
	require.True(t, math.IsInf(queue{workers: 2, mean: 1, rate: 2}.response(), 1))
}

// What docs/scaling.md shows is what is computed from what was measured.
func TestDocumentIsUpToDate(t *testing.T) {
	root := filepath.Join("..", "..")
	m, err := readMeasured(filepath.Join(root, measuredFile))
	require.NoError(t, err)
	doc, err := os.ReadFile(filepath.Join(root, "docs", "scaling.md"))
	require.NoError(t, err)
	text, pictures, err := compute(m, doc)
	require.NoError(t, err)
	require.Equal(t, string(doc), string(text), "make scaling")
	for name, svg := range pictures {
		have, err := os.ReadFile(filepath.Join(root, "docs", name))
		require.NoError(t, err)
		require.Equal(t, string(have), svg, "make scaling")
	}
}
