package session

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"skarv/pkg/rowset"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// writeOK answers with an OK packet.
func (s *Session) writeOK(ok wire.OK) error {
	if s.capture != nil {
		ok.Info = bytes.Clone(ok.Info) // it may be in the buffer of a server's connection, which is asked more
		s.capture.ok = ok
	}
	if s.swallows() {
		return nil
	}
	return s.conn.WriteOK(ok)
}

// send answers with t.
func (s *Session) send(t *rowset.Table) error {
	out := s.newOutput()
	if err := out.Columns(t.ColumnsOf(s.cfg.Dialect.MariaDB())); err != nil {
		return err
	}
	var packet []byte
	for _, row := range t.Rows {
		packet = rowset.AppendRow(packet[:0], row)
		if err := out.Row(packet); err != nil {
			return err
		}
	}
	s.diagnostics.RowCount = -1
	s.foundRows = uint64(len(t.Rows))
	return out.end(0)
}

// output writes a result set row by row to the client; it implements exec.Sink. Rows come in the text protocol's
// form and leave in that of the client's command.
type output struct {
	s       *Session
	columns []sqltypes.Column
	binary  bool
	fields  [][]byte
	rows    uint64
	bytes   uint64
	limit   uint64 // rows behind it are dropped
}

func (s *Session) newOutput() *output {
	s.out = output{s: s, binary: s.binary, fields: s.out.fields[:0], limit: math.MaxUint64}
	return &s.out
}

// Columns starts the result.
func (o *output) Columns(cols []sqltypes.Column) error {
	if o.s.fromReplica && !o.s.cfg.Replicas.Alive() {
		return errOutdated
	}
	if j := o.s.judged; j != nil && len(j.columns) == len(cols) {
		var same bool
		if cols, same = j.of(cols); !same {
			return errAnotherWay
		}
	}
	if len(o.s.derivedFrom) > 0 {
		cols = slices.Clone(cols)
		for i := range cols {
			if from := o.s.derivedFrom[strings.ToLower(cols[i].Table)]; from != "" {
				cols[i].OrgTable, cols[i].OrgName = from, strings.ToUpper(cols[i].OrgName)
			}
		}
	}
	if len(o.s.variableColumns) > 0 && o.s.capture == nil {
		cols = slices.Clone(cols)
		for at, as := range o.s.variableColumns {
			if at < len(cols) {
				c := &cols[at]
				c.Type, c.Flags, c.Charset, c.Length, c.Decimals = as.Type, as.Flags, as.Charset, as.Length, as.Decimals
				c.OrgName, c.Extended = as.Name, as.Extended
			}
		}
	}
	o.columns = cols
	if o.s.capture != nil {
		return o.s.capture.start(cols)
	}
	c := o.s.conn
	if o.s.calls != nil && len(o.s.calls.firing) > 0 {
		return sqlerr.NoResultSetInProgram.New("trigger")
	}
	if o.s.calls != nil && !c.Capabilities().Has(wire.CapMultiResults) {
		a := o.s.caller()
		return sqlerr.NoResultSetHere.New(a.routine.Database, a.routine.Name)
	}
	if o.s.calls != nil {
		o.s.calls.open = true
	}
	if err := c.EndPacket(wire.AppendColumnCount(c.BeginPacket(), len(cols))); err != nil {
		return err
	}
	for i := range cols {
		if err := c.EndPacket(wire.AppendColumn(c.BeginPacket(), &cols[i], c.Capabilities())); err != nil {
			return err
		}
	}
	return c.WriteEOF(wire.EOF{Status: o.s.status()})
}

// judgement is what a server says of the columns of the client's statement, while it runs over copies, perhaps in another text.
type judgement struct {
	columns []sqltypes.Column
	// queries: it runs over copies of queries. A number computed from their columns may have another type, or more digits, than one that is
	// computed from what they are made of.
	queries bool
	unknown []int // columns whose types parameters have a part in
}

// of are the columns of the other text as the client is to see them; same is false where their types are not those of the client's.
func (j *judgement) of(cols []sqltypes.Column) (_ []sqltypes.Column, same bool) {
	cols = slices.Clone(cols)
	for i := range cols {
		c, as := &cols[i], &j.columns[i]
		c.Name = as.Name // what has none may be named by its text
		if as.OrgTable != as.Table || strings.HasPrefix(c.OrgTable, "skarv_") {
			// A copy has another name than the table; but before it runs MariaDB looks less deep into derived tables.
			c.Schema, c.Table, c.OrgTable, c.OrgName = as.Schema, as.Table, as.OrgTable, as.OrgName
		}
		if c.Table == as.Table && as.Schema == "" {
			c.Schema = "" // what a view computes
		}
		if c.OrgName == as.OrgName && c.OrgName != "" {
			// Keys of a copy are others than the table's, and so is what its columns have by them.
			const keys = sqltypes.FlagPrimaryKey | sqltypes.FlagUniqueKey | sqltypes.FlagMultipleKey | sqltypes.FlagPartOfKey | sqltypes.FlagAutoIncrement | sqltypes.FlagNoDefault
			c.Flags = c.Flags&^keys | as.Flags&keys
			c.Extended = as.Extended
		}
		known := j.queries && !slices.Contains(j.unknown, i)
		if known && (c.Type != as.Type || c.Type == sqltypes.TypeNewDecimal && c.Decimals != as.Decimals) {
			return nil, false
		}
		// What MariaDB says before it runs is right of these types only.
		if c.Type == as.Type && (c.Type == sqltypes.TypeLongLong || known && (c.Type == sqltypes.TypeNewDecimal || c.Type == sqltypes.TypeVarString)) {
			c.Length = as.Length
		}
	}
	return cols, true
}

// Row sends one row.
func (o *output) Row(row []byte) (err error) {
	if o.rows >= o.limit {
		return nil
	}
	o.rows++
	o.bytes += uint64(len(row))
	if o.s.capture != nil {
		return o.s.capture.row(row)
	}
	if !o.binary {
		return o.s.conn.WritePacket(row)
	}
	if o.fields, err = wire.ParseTextRow(row, o.fields[:0]); err != nil {
		return err
	}
	packet, err := wire.AppendBinaryRow(o.s.conn.BeginPacket(), o.columns, o.fields)
	if err != nil {
		return err
	}
	return o.s.conn.EndPacket(packet)
}

// end ends the result.
func (o *output) end(warnings uint16) error {
	if o.s.capture != nil {
		return nil
	}
	if o.s.calls != nil {
		o.s.calls.open = false
	}
	return o.s.conn.WriteEnd(wire.OK{Status: o.s.status(), Warnings: warnings + uint16(len(o.s.beforehand))})
}

// endOpen ends a result of a procedure that has failed behind its columns, with the rows so far, before the handler that took the error runs.
func (s *Session) endOpen() {
	if s.calls.open {
		s.calls.open = false
		_ = s.conn.WriteEnd(wire.OK{Status: s.status()}) // a client that is gone is found out by what follows
	}
}
