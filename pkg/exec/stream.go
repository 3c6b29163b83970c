package exec

import (
	"errors"
	"io"
	"time"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// What is left of an answer nobody needs is read up to these limits, so that the connection can be used again; a
// connection with more to come is released with ErrUnread.
const (
	drainRows  = 1000
	drainBytes = 256 << 10
)

// stream is one group's part of a statement: a connection and how far its answers have been read.
//
//	idle ──send──► heads outstanding ──readHead──► rows ──io.EOF──► idle, or heads outstanding
//	any ──I/O error──► broken
type stream struct {
	conn  Conn
	group placement.NodeGroupID
	// heads is how many commands have been sent whose answers have not been begun; rows tells that the last one
	// begun has rows left.
	heads    int
	rows     bool
	err      error // the error that broke the connection
	resets   bool  // the last command sent brings the connection back into its session's state: without that nobody may get it
	columns  []sqltypes.Column
	warnings uint
	// binary: the rows come as those of a prepared statement, of the columns defined; texts makes them text.
	binary  bool
	defined []sqltypes.Column
	texts   wire.TextRows
	runner  *Runner
	traced  traced
}

// readHead begins the next answer.
func (s *stream) readHead() (mysqlconn.Head, error) {
	s.heads--
	head, err := s.conn.ReadHead()
	if err != nil {
		if err = s.failed(err); s.heads == 0 && s.resets {
			s.conn.Interrupt()
			return head, s.breakOff(err)
		}
		return head, err
	}
	s.traceHead()
	if head.OK == nil {
		s.rows, s.defined = true, head.Columns
		return head, nil
	}
	if s.conn.MoreResults() {
		return head, s.breakOff(severalResults(s.group))
	}
	return head, nil
}

// Next implements merge.Source: the rows of the answer begun last.
func (s *stream) Next() ([]byte, error) {
	if !s.rows {
		return nil, io.EOF
	}
	row, err := s.readRow()
	if err == nil {
		s.traced.rows++
		s.traced.bytes += uint64(len(row))
		if !s.binary {
			return row, nil
		}
		if row, err = s.texts.Row(row, s.defined); err != nil {
			return nil, s.breakOff(sqlerr.Internal.New(groupName(s.group) + ": " + err.Error()))
		}
		return row, nil
	}
	s.rows = false
	s.traceEnd()
	if err != io.EOF {
		return nil, s.failed(err)
	}
	if s.conn.MoreResults() {
		return nil, s.breakOff(severalResults(s.group))
	}
	s.warnings += uint(s.conn.EndStatus().Warnings)
	return nil, io.EOF
}

// readRow reads a row, and the time that it takes where that is asked for.
func (s *stream) readRow() ([]byte, error) {
	if s.traced.sent.IsZero() {
		return s.conn.ReadRow()
	}
	begin := time.Now()
	row, err := s.conn.ReadRow()
	s.traced.waited += time.Since(begin)
	return row, err
}

// copyTo gives the rows of the answer begun last to sink.
func (s *stream) copyTo(columns []sqltypes.Column, sink Sink) error {
	if err := sink.Columns(columns); err != nil {
		return err
	}
	for {
		row, err := s.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = sink.Row(row)
		}
		if err != nil {
			return err
		}
	}
}

// failed notes what an error means for the connection and returns what the client is told.
func (s *stream) failed(err error) error {
	e, told := errors.AsType[*sqlerr.Error](err)
	if told && !s.conn.Broken() {
		return e // the server's own refusal
	}
	s.err = err
	if cause := s.runner.interrupted(); cause != nil {
		return cause
	}
	if told {
		return e
	}
	return sqlerr.ServerLost.New(groupName(s.group) + ": " + err.Error())
}

// breakOff makes the connection one that is not used again.
func (s *stream) breakOff(err error) error {
	s.err = err
	return err
}

// finish reads what is left of the answers, if it is little, and returns what Conns.Release is to be told. patient
// is false when the statement has failed in a way that lets nobody wait any longer.
func (s *stream) finish(patient bool) error {
	if s.err == nil && s.conn.Broken() {
		s.err = ErrUnread
	}
	if s.err != nil || s.heads == 0 && !s.rows {
		return s.err
	}
	if !patient {
		return ErrUnread
	}
	rows, size := 0, 0
	for {
		for s.rows {
			row, err := s.conn.ReadRow()
			if err != nil {
				s.rows = false
				if err != io.EOF {
					_ = s.failed(err)
				} else if s.conn.MoreResults() {
					return ErrUnread
				}
				break
			}
			if rows, size = rows+1, size+len(row); rows > drainRows || size > drainBytes {
				return ErrUnread
			}
		}
		if s.err != nil || s.heads == 0 {
			return s.err
		}
		_, _ = s.readHead() // an error is in s.err, if it broke the connection
	}
}

// skipRows reads the rows of the answer begun last that are left, and counts them. The error is what stands among them.
func (s *stream) skipRows() (rows uint64, err error) {
	for s.rows {
		if _, err = s.Next(); err != nil {
			break
		}
		rows++
	}
	if err == io.EOF {
		err = nil
	}
	return rows, err
}

func severalResults(g placement.NodeGroupID) error {
	return sqlerr.Internal.New(groupName(g) + " sent several results for one fragment")
}
