package workspace

import (
	"errors"
	"io"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// pipe is a connection on which commands may be sent before those in front of them are answered, so that the making of a
// workspace costs few waits. An error of one is found when the answers are read, at the latest before the next command that
// needs an answer at once.
type pipe struct {
	Conn
	owed []func(error) error // what becomes of the error (nil too) of each answer that has not been read
}

// later sends a statement. judge, if not nil, turns its error into what it means.
func (p *pipe) later(sql []byte, judge func(error) error) error {
	if err := p.Conn.Send(wire.ComQuery, sql); err != nil {
		return err
	}
	p.owed = append(p.owed, judge)
	return nil
}

// settle reads all answers that are owed and returns the first error.
func (p *pipe) settle() (first error) {
	owed := p.owed
	p.owed = p.owed[:0]
	for _, judge := range owed {
		head, err := p.Conn.ReadHead()
		for err == nil && head.OK == nil { // rows, which tell nothing
			if _, err = p.Conn.ReadRow(); errors.Is(err, io.EOF) {
				err = nil
				break
			}
		}
		lost := mysqlconn.IsLost(err)
		if judge != nil && !lost {
			err = judge(err)
		}
		if first == nil {
			first = err
		}
		if lost {
			return first
		}
	}
	return first
}

// Exec runs a statement after all that are owed.
func (p *pipe) Exec(sql string) (wire.OK, error) {
	if err := p.settle(); err != nil {
		return wire.OK{}, err
	}
	return p.Conn.Exec(sql)
}

// QueryAll runs a query after all statements that are owed.
func (p *pipe) QueryAll(sql string, limit int) ([]sqltypes.Column, [][][]byte, error) {
	if err := p.settle(); err != nil {
		return nil, nil, err
	}
	return p.Conn.QueryAll(sql, limit)
}
