package merge

import (
	"io"

	"skarv/pkg/sqlerr"
)

// Sorted merges sources that are each sorted by keys. Rows equal in all keys come in the order of the sources. It ends with an error where
// the servers may not have sorted rows that it has to compare: see Key.Tied.
//
// It is a tree of losers: the leaves are the streams, every inner node remembers the loser of the match played
// there, and the winner of all stands on top. A new row of the winner's stream plays the matches on its way up:
// log2(streams) comparisons per row.
//
//	tree[0] winner of all
//	tree[1] ── tree[2], tree[3]; node n's children are 2n and 2n+1; stream i is the leaf len(streams)+i
type Sorted struct {
	keys    []Key
	streams []stream
	tree    []int32
	fields  [][]byte // scratch of one row
	started bool
	tied    bool // rows were compared that may not be sorted
}

type stream struct {
	source Source
	row    []byte
	done   bool
	heads  []head // the row's values, one for each key
}

type head struct {
	raw   []byte
	float float64 // of Class Float, parsed once
}

// NewSorted returns the sorted merge of sources. It keeps keys.
func NewSorted(sources []Source, keys []Key) *Sorted {
	s := &Sorted{
		keys:    keys,
		streams: make([]stream, len(sources)),
		tree:    make([]int32, max(1, len(sources))),
		fields:  make([][]byte, width(keys)),
	}
	heads := make([]head, len(sources)*len(keys))
	for i := range sources {
		s.streams[i] = stream{source: sources[i], heads: heads[i*len(keys) : (i+1)*len(keys)]}
	}
	return s
}

// Next implements Source: the payload is that of the source it came from, which is not asked again before the next
// call.
func (s *Sorted) Next() ([]byte, error) {
	if len(s.streams) == 0 {
		return nil, io.EOF
	}
	if !s.started {
		s.started = true
		for i := range s.streams {
			if err := s.advance(&s.streams[i]); err != nil {
				return nil, err
			}
		}
		s.tree[0] = s.play(1)
	} else {
		winner := s.tree[0]
		if s.streams[winner].done {
			return nil, io.EOF
		}
		if err := s.advance(&s.streams[winner]); err != nil {
			return nil, err
		}
		for n := (int32(len(s.streams)) + winner) / 2; n > 0; n /= 2 {
			if s.before(s.tree[n], winner) {
				winner, s.tree[n] = s.tree[n], winner
			}
		}
		s.tree[0] = winner
	}
	if s.tied {
		return nil, sqlerr.Unsupported("sorting or grouping rows of several node groups by long strings that differ behind the part that servers sort by",
			"SET max_sort_length to more than twice the characters, sort by the beginning (LEFT(column, 100)), or, if it is NULs at their ends, by HEX(column)")
	}
	top := &s.streams[s.tree[0]]
	if top.done {
		return nil, io.EOF
	}
	return top.row, nil
}

// play plays all matches below node n and returns the winner.
func (s *Sorted) play(n int32) int32 {
	count := int32(len(s.streams))
	if n >= count {
		return n - count
	}
	a, b := s.play(2*n), s.play(2*n+1)
	if s.before(a, b) {
		s.tree[n] = b
		return a
	}
	s.tree[n] = a
	return b
}

// before reports whether the row of stream a comes before that of stream b.
func (s *Sorted) before(a, b int32) bool {
	x, y := &s.streams[a], &s.streams[b]
	if x.done || y.done {
		return !x.done || y.done && a < b
	}
	for i := range s.keys {
		k := &s.keys[i]
		var c int
		if p, q := &x.heads[i], &y.heads[i]; k.Class == Float && p.raw != nil && q.raw != nil {
			switch {
			case p.float < q.float:
				c = -1
			case p.float > q.float:
				c = 1
			}
		} else {
			c = k.compare(p.raw, q.raw)
		}
		if c != 0 {
			s.tied = s.tied || k.Tied != nil && k.Tied(x.heads[i].raw, y.heads[i].raw)
			return c < 0 != k.Desc
		}
	}
	return a < b
}

// advance reads the stream's next row and its key values.
func (s *Sorted) advance(st *stream) error {
	row, err := st.source.Next()
	if err == io.EOF {
		st.done, st.row = true, nil
		return nil
	}
	if err != nil {
		return err
	}
	if err := Split(row, s.fields); err != nil {
		return err
	}
	st.row = row
	for i := range s.keys {
		h := &st.heads[i]
		h.raw = s.fields[s.keys[i].Column]
		if s.keys[i].Class == Float && h.raw != nil {
			h.float = parseFloat(h.raw)
		}
	}
	return nil
}
