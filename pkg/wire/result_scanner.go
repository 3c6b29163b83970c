package wire

import (
	"encoding/binary"

	"skarv/pkg/sqlerr"
)

// ResultScanner follows the answer to one command through a stream of bytes that it neither copies nor decodes: it walks
// from packet header to packet header, and reads only the few packets that say how the answer goes on.
//
//	                     ┌──────────────── more results ◄───────────────┐
//	COM_QUERY, EXECUTE ► first ─ OK ────────────────────────────────────┤► done
//	                       ├─ column count ► columns ► (EOF) ► rows ─ EOF┘
//	                       ├─ file request ► done
//	                       └─ ERR ► done (from everywhere)
//	COM_STMT_PREPARE ► prepare ─ OK ► parameters ► (EOF) ► columns ► (EOF) ► done
//	COM_STMT_FETCH ► rows      COM_FIELD_LIST ► list ─ EOF ► done     others ► one packet ► done
//
// The zero value is ready for Reset and can be used again and again.
type ResultScanner struct {
	caps    Capability
	command Command
	state   scanState
	sum     ResultSummary

	skip    int  // bytes of the current packet's payload yet to come
	more    bool // the current packet is full: the next one goes on with its payload
	partial []byte
	want    int // bytes to collect in partial before the packet can be read; 0 when none is being collected
	header  [HeaderLen]byte
	have    int // bytes of header that have come
	first   bool
	pending int    // definitions yet to come
	columns uint16 // COM_STMT_PREPARE: definitions after those of the parameters
}

type scanState uint8

const (
	scanDone scanState = iota
	scanFirst
	scanColumns
	scanColumnsEOF
	scanRows
	scanPrepare
	scanParams
	scanParamsEOF
	scanPrepareColumns
	scanPrepareColumnsEOF
	scanList
	scanOne
	scanText
)

// scanPrefix bounds how much of a packet is collected when it arrives in pieces; nothing read from it lies further in.
const scanPrefix = 4096 + 64

// ResultSummary is what a ResultScanner has learned about an answer. Of several results it describes the last; Rows, Bytes and
// Results count all.
type ResultSummary struct {
	Rows         uint64
	Bytes        uint64
	Results      int // results begun
	AffectedRows uint64
	LastInsertID uint64
	Status       Status // of the last result that ended; not known after an error
	Warnings     uint16
	Columns      int         // of the last result, or of the prepared statement
	Params       int         // of the prepared statement
	Statement    uint32      // the prepared statement's id
	ErrCode      sqlerr.Code // of the ERR packet that ended the answer, 0 for none
	ErrState     [5]byte
	NextSeq      byte // sequence number of the packet that would come next
	// LocalInfile says that the answer has stopped to ask for the file FileName, whose packets, and an empty one, go to the server
	// before the rest comes.
	LocalInfile bool
	FileName    string
}

// Failed reports whether the server ended the answer with an error.
func (r *ResultSummary) Failed() bool { return r.ErrCode != 0 }

// Reset prepares for the answer to command on a connection with caps.
func (s *ResultScanner) Reset(command Command, caps Capability) {
	partial := s.partial[:0]
	*s = ResultScanner{command: command, caps: caps, partial: partial, first: true}
	switch command {
	case ComQuery, ComStmtExecute, ComStmtBulkExecute, ComProcessInfo:
		s.state = scanFirst
	case ComStmtPrepare:
		s.state = scanPrepare
	case ComStmtFetch:
		s.state = scanRows
	case ComFieldList:
		s.state = scanList
	case ComStatistics:
		s.state = scanText
	default:
		s.state = scanOne
		if command.NoAnswer() {
			s.state = scanDone
		}
	}
}

// Expect says which sequence number the answer's first packet has. Without it any is accepted.
func (s *ResultScanner) Expect(seq byte) {
	s.first = false
	s.sum.NextSeq = seq
}

// Summary is what has been learned so far; it changes with the next call of a method.
func (s *ResultScanner) Summary() *ResultSummary { return &s.sum }

// Boundary reports whether what was fed ends where a packet ends.
func (s *ResultScanner) Boundary() bool {
	return s.skip == 0 && s.want == 0 && s.have == 0 && !s.more
}

// Feed takes the next bytes of the stream. used is less than len(chunk) only if the answer ends within chunk (done) or err
// says that the bytes are no answer to the command; then the scanner must be Reset.
func (s *ResultScanner) Feed(chunk []byte) (used int, done bool, err error) {
	b := chunk
	for s.state != scanDone || s.skip > 0 || s.more {
		if s.state == scanRows && s.Boundary() && !s.first {
			b = s.wholeRows(b)
		}
		switch {
		case s.skip > 0:
			n := min(s.skip, len(b))
			if s.want > 0 {
				s.collect(b[:n])
			}
			s.skip -= n
			b = b[n:]
			if s.skip > 0 {
				return s.progress(chunk, b), false, nil
			}
			if s.want > 0 {
				s.want = 0
				if err = s.packet(s.partial, len(s.partial)); err != nil {
					return s.progress(chunk, b), false, err
				}
			}
			continue
		case s.have == 0 && len(b) > HeaderLen:
			copy(s.header[:], b)
			b = b[HeaderLen:]
		default:
			n := copy(s.header[s.have:], b)
			s.have += n
			b = b[n:]
			if s.have < HeaderLen {
				return s.progress(chunk, b), false, nil
			}
		}

		length, seq := Header(s.header[:])
		if length > 0 && len(b) == 0 {
			s.have = HeaderLen // the first byte decides how to go on
			return s.progress(chunk, b), false, nil
		}
		s.have = 0
		if !s.first && seq != s.sum.NextSeq {
			return s.progress(chunk, b), false, malformed("sequence number in an answer")
		}
		s.first = false
		s.sum.NextSeq = seq + 1
		goesOn := s.more
		s.more = length == MaxPacket
		switch {
		case goesOn:
			b = s.pass(b, length)
		case s.state == scanRows && length > 0 && (b[0] < EOFHeader || b[0] == EOFHeader && length == MaxPacket):
			s.sum.Rows++
			b = s.pass(b, length)
		case s.state == scanColumns && length > 0 && b[0] != ErrHeader:
			b = s.pass(b, length)
			s.definition(scanColumnsEOF, scanRows)
		case length <= len(b):
			payload := b[:length]
			b = b[length:]
			if err = s.packet(payload, length); err != nil {
				return s.progress(chunk, b), false, err
			}
		case s.state == scanFirst && length > 9 && b[0] != OKHeader && b[0] != LocalHeader && b[0] != ErrHeader:
			return s.progress(chunk, b), false, malformed("column count") // do not wait for the rest of it
		default:
			s.partial = s.partial[:0]
			s.want = min(length, scanPrefix)
			s.skip = length
		}
	}
	return s.progress(chunk, b), true, nil
}

// wholeRows passes over the rows that b begins with and has to their ends, which most of a result are.
func (s *ResultScanner) wholeRows(b []byte) (rest []byte) {
	rows, next := s.sum.Rows, s.sum.NextSeq
	for len(b) > HeaderLen {
		length, seq := Header(b)
		end := HeaderLen + length
		if length == 0 || length == MaxPacket || end > len(b) || b[HeaderLen] >= EOFHeader || seq != next {
			break // Feed knows what it is
		}
		b = b[end:]
		rows++
		next++
	}
	s.sum.Rows, s.sum.NextSeq = rows, next
	return b
}

func (s *ResultScanner) progress(chunk, rest []byte) int {
	used := len(chunk) - len(rest)
	s.sum.Bytes += uint64(used)
	return used
}

// pass skips a payload of length bytes, of which b may hold only the beginning.
func (s *ResultScanner) pass(b []byte, length int) (rest []byte) {
	n := min(length, len(b))
	s.skip = length - n
	return b[n:]
}

func (s *ResultScanner) collect(p []byte) {
	s.partial = append(s.partial, p[:min(len(p), s.want-len(s.partial))]...)
}

// definition counts one column or parameter definition and reports whether it was the last, after which the state is eof, or
// next when no EOF packet follows definitions.
func (s *ResultScanner) definition(eof, next scanState) (last bool) {
	if s.pending--; s.pending > 0 {
		return false
	}
	s.state = eof
	if s.caps.Has(CapDeprecateEOF) {
		s.state = next
	}
	return true
}

// packet reads a packet that decides how the answer goes on. payload may lack what is beyond scanPrefix.
func (s *ResultScanner) packet(payload []byte, length int) error {
	if s.state == scanText {
		if length > 0 && payload[0] == ErrHeader {
			return s.fail(payload)
		}
		s.state = scanDone
		return nil
	}
	if length == 0 {
		return malformed("empty packet in an answer")
	}
	if payload[0] == ErrHeader {
		return s.fail(payload)
	}
	switch s.state {
	case scanFirst:
		return s.begin(payload)
	case scanOne, scanRows:
		return s.end(payload)
	case scanList:
		if IsEOF(payload, s.caps) {
			return s.end(payload)
		}
		s.sum.Columns++
		return nil
	case scanColumnsEOF:
		e, err := ParseEOF(payload)
		if err != nil {
			return err
		}
		s.state = scanRows
		if e.Status.Has(StatusCursorExists) {
			// The rows wait on the server for COM_STMT_FETCH.
			return s.end(payload)
		}
		return nil
	case scanPrepare:
		return s.prepared(payload)
	case scanParams:
		if s.definition(scanParamsEOF, scanPrepareColumns) && s.state == scanPrepareColumns {
			s.beginPrepareColumns()
		}
		return nil
	case scanPrepareColumns:
		s.definition(scanPrepareColumnsEOF, scanDone)
		return nil
	case scanParamsEOF:
		s.beginPrepareColumns()
		return nil
	default: // scanPrepareColumnsEOF
		s.state = scanDone
		return nil
	}
}

// begin reads the first packet of a result.
func (s *ResultScanner) begin(payload []byte) error {
	s.sum.Results++
	s.sum.Columns = 0
	switch payload[0] {
	case OKHeader:
		return s.end(payload)
	case LocalHeader:
		s.sum.LocalInfile = true
		s.sum.FileName = string(payload[1:])
		s.state = scanDone
		return nil
	}
	n, size := LenencInt(payload)
	if size == 0 || size != len(payload) || n == 0 || n > 1<<16 {
		return malformed("column count")
	}
	s.sum.Columns = int(n)
	s.pending = int(n)
	s.state = scanColumns
	return nil
}

// end reads the packet that ends a result.
func (s *ResultScanner) end(payload []byte) error {
	var ok OK
	var err error
	if payload[0] == EOFHeader && (len(payload) <= 5 || !s.caps.Has(CapDeprecateEOF)) {
		var e EOF
		e, err = ParseEOF(payload)
		ok = OK{Status: e.Status, Warnings: e.Warnings}
	} else {
		ok, _, err = parseOKHead(payload)
	}
	if err != nil {
		return err
	}
	s.sum.AffectedRows, s.sum.LastInsertID = ok.AffectedRows, ok.LastInsertID
	s.sum.Status, s.sum.Warnings = ok.Status, ok.Warnings
	s.state = scanDone
	if ok.Status.Has(StatusMoreResults) && s.command != ComStmtFetch {
		s.state = scanFirst
	}
	return nil
}

func (s *ResultScanner) fail(payload []byte) error {
	if len(payload) < 3 {
		return malformed("ERR packet")
	}
	s.sum.ErrCode = sqlerr.Code(binary.LittleEndian.Uint16(payload[1:]))
	copy(s.sum.ErrState[:], "HY000")
	if len(payload) >= 9 && payload[3] == '#' {
		copy(s.sum.ErrState[:], payload[4:])
	}
	if s.sum.ErrCode == 0 {
		s.sum.ErrCode = sqlerr.UnknownError
	}
	s.state = scanDone
	return nil
}

func (s *ResultScanner) prepared(payload []byte) error {
	p, err := ParsePrepareOK(payload)
	if err != nil {
		return err
	}
	s.sum.Results++
	s.sum.Statement, s.sum.Warnings = p.ID, p.Warnings
	s.sum.Params, s.sum.Columns = int(p.Params), int(p.Columns)
	s.columns = p.Columns
	s.pending = int(p.Params)
	s.state = scanParams
	if p.Params == 0 {
		s.beginPrepareColumns()
	}
	return nil
}

func (s *ResultScanner) beginPrepareColumns() {
	s.pending = int(s.columns)
	s.state = scanPrepareColumns
	if s.columns == 0 {
		s.state = scanDone
	}
}
