package binlog

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
)

// GTID names a transaction: on MySQL by Source and Seq, on MariaDB by Domain, Server and Seq.
type GTID struct {
	Source         [16]byte
	Domain, Server uint32
	Seq            uint64
}

// String is the GTID as the servers write it.
func (g GTID) String() string {
	if g.Source != [16]byte{} {
		return fmt.Sprintf("%s:%d", uuidText(g.Source), g.Seq)
	}
	return fmt.Sprintf("%d-%d-%d", g.Domain, g.Server, g.Seq)
}

// Position is a set of transactions: those a reader has behind it. On MySQL it is any set, on MariaDB in each domain all up to one.
// It is immutable.
type Position struct {
	flavor  catalog.Flavor
	sources []source // MySQL: sorted by id
	domains []GTID   // MariaDB: the last of each domain, sorted by domain
}

// source is the transactions of one MySQL server.
type source struct {
	id     [16]byte
	ranges []seqRange // rising, with gaps between them
}

// seqRange is the transactions from..to, both included.
type seqRange struct{ from, to uint64 }

// ParsePosition reads the text of a position: gtid_executed of MySQL, gtid_binlog_pos of MariaDB. The empty text is the empty position.
func ParsePosition(flavor catalog.Flavor, text string) (Position, error) {
	p := Position{flavor: flavor}
	text = strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\r' || r == '\t' {
			return -1
		}
		return r
	}, text)
	if text == "" {
		return p, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		var err error
		if flavor == catalog.MariaDB {
			err = p.parseDomain(part)
		} else {
			err = p.parseSource(part)
		}
		if err != nil {
			return Position{}, err
		}
	}
	return p, nil
}

func (p *Position) parseDomain(text string) error {
	var n [3]uint64
	fields := strings.Split(text, "-")
	if len(fields) != 3 {
		return fmt.Errorf("%q is no GTID of MariaDB", text)
	}
	for i, f := range fields {
		bits := 32
		if i == 2 {
			bits = 64
		}
		v, err := strconv.ParseUint(f, 10, bits)
		if err != nil {
			return fmt.Errorf("%q is no GTID of MariaDB", text)
		}
		n[i] = v
	}
	g := GTID{Domain: uint32(n[0]), Server: uint32(n[1]), Seq: n[2]}
	at, found := slices.BinarySearchFunc(p.domains, g.Domain, byDomain)
	if found {
		return fmt.Errorf("domain %d is in the position twice", g.Domain)
	}
	p.domains = slices.Insert(p.domains, at, g)
	return nil
}

func byDomain(g GTID, domain uint32) int { return int(int64(g.Domain) - int64(domain)) }

func (p *Position) parseSource(text string) error {
	id, rest, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(raw) != 16 {
		return fmt.Errorf("%q is no GTID set of MySQL", text)
	}
	g := GTID{Source: [16]byte(raw)}
	for r := range strings.SplitSeq(rest, ":") {
		first, last, isRange := strings.Cut(r, "-")
		from, err := strconv.ParseUint(first, 10, 63)
		to := from
		if err == nil && isRange {
			to, err = strconv.ParseUint(last, 10, 63)
		}
		if err != nil || from == 0 || to < from {
			return fmt.Errorf("%q is no GTID set of MySQL that can be read here (tags are not supported)", text)
		}
		*p = p.withRange(g, from, to)
	}
	return nil
}

// String is the text ParsePosition reads.
func (p Position) String() string {
	var parts []string
	for _, g := range p.domains {
		parts = append(parts, g.String())
	}
	for _, s := range p.sources {
		text := uuidText(s.id)
		for _, r := range s.ranges {
			text += ":" + strconv.FormatUint(r.from, 10)
			if r.to > r.from {
				text += "-" + strconv.FormatUint(r.to, 10)
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}

func uuidText(id [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// Empty reports whether nothing is in p.
func (p Position) Empty() bool { return len(p.sources) == 0 && len(p.domains) == 0 }

// Contains reports whether g is in p.
func (p Position) Contains(g GTID) bool {
	if p.flavor == catalog.MariaDB {
		at, found := slices.BinarySearchFunc(p.domains, g.Domain, byDomain)
		return found && p.domains[at].Seq >= g.Seq
	}
	at, found := slices.BinarySearchFunc(p.sources, g.Source, bySource)
	if !found {
		return false
	}
	return slices.ContainsFunc(p.sources[at].ranges, func(r seqRange) bool { return r.from <= g.Seq && g.Seq <= r.to })
}

func bySource(s source, id [16]byte) int { return slices.Compare(s.id[:], id[:]) }

// Covers reports whether p has all of q.
func (p Position) Covers(q Position) bool { return p.Union(q).String() == p.String() }

// With returns p and g.
func (p Position) With(g GTID) Position {
	if p.flavor == catalog.MariaDB {
		at, found := slices.BinarySearchFunc(p.domains, g.Domain, byDomain)
		p.domains = slices.Clone(p.domains)
		if !found {
			p.domains = slices.Insert(p.domains, at, g)
		} else if p.domains[at].Seq < g.Seq {
			p.domains[at] = g
		}
		return p
	}
	return p.withRange(g, g.Seq, g.Seq)
}

func (p Position) withRange(g GTID, from, to uint64) Position {
	at, found := slices.BinarySearchFunc(p.sources, g.Source, bySource)
	p.sources = slices.Clone(p.sources)
	if !found {
		p.sources = slices.Insert(p.sources, at, source{id: g.Source})
	}
	ranges := append(slices.Clone(p.sources[at].ranges), seqRange{from, to})
	slices.SortFunc(ranges, func(a, b seqRange) int { return cmp.Compare(a.from, b.from) })
	joined := ranges[:1]
	for _, r := range ranges[1:] {
		if last := &joined[len(joined)-1]; r.from <= last.to+1 {
			last.to = max(last.to, r.to)
		} else {
			joined = append(joined, r)
		}
	}
	p.sources[at].ranges = joined
	return p
}

// Without returns p without g. It serves MySQL only, whose positions may have gaps.
func (p Position) Without(g GTID) Position {
	at, found := slices.BinarySearchFunc(p.sources, g.Source, bySource)
	if !found {
		return p
	}
	p.sources = slices.Clone(p.sources)
	var ranges []seqRange
	for _, r := range p.sources[at].ranges {
		if g.Seq < r.from || r.to < g.Seq {
			ranges = append(ranges, r)
			continue
		}
		if r.from < g.Seq {
			ranges = append(ranges, seqRange{r.from, g.Seq - 1})
		}
		if g.Seq < r.to {
			ranges = append(ranges, seqRange{g.Seq + 1, r.to})
		}
	}
	p.sources[at].ranges = ranges
	if len(ranges) == 0 {
		p.sources = slices.Delete(p.sources, at, at+1)
	}
	return p
}

// Intersect returns what is in both p and q.
func (p Position) Intersect(q Position) Position {
	both := Position{flavor: p.flavor}
	for _, g := range p.domains {
		if at, found := slices.BinarySearchFunc(q.domains, g.Domain, byDomain); found {
			if q.domains[at].Seq < g.Seq {
				g = q.domains[at]
			}
			both.domains = append(both.domains, g)
		}
	}
	for _, s := range p.sources {
		at, found := slices.BinarySearchFunc(q.sources, s.id, bySource)
		if !found {
			continue
		}
		var ranges []seqRange
		for _, a := range s.ranges {
			for _, b := range q.sources[at].ranges {
				if from, to := max(a.from, b.from), min(a.to, b.to); from <= to {
					ranges = append(ranges, seqRange{from, to})
				}
			}
		}
		if len(ranges) > 0 {
			both.sources = append(both.sources, source{s.id, ranges})
		}
	}
	return both
}

// Union returns what is in p or in q.
func (p Position) Union(q Position) Position {
	for _, g := range q.domains {
		p = p.With(g)
	}
	for _, s := range q.sources {
		for _, r := range s.ranges {
			p = p.withRange(GTID{Source: s.id}, r.from, r.to)
		}
	}
	return p
}

// encode is a MySQL position as COM_BINLOG_DUMP_GTID wants it.
func (p Position) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(p.sources)))
	for _, s := range p.sources {
		b = append(b, s.id[:]...)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s.ranges)))
		for _, r := range s.ranges {
			b = binary.LittleEndian.AppendUint64(b, r.from)
			b = binary.LittleEndian.AppendUint64(b, r.to+1)
		}
	}
	return b
}
