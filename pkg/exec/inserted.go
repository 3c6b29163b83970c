package exec

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"strings"

	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// result is one group's OK packet, as far as it is needed after the connection is gone.
type result struct {
	affected, insertID uint64
	records            bool   // the packet counts records
	rows, duplicates   uint64 // which these are
}

// Records is the number of rows that the text of an OK packet speaks of, if it does.
func Records(info []byte) (n uint64, ok bool) {
	rest, found := bytes.CutPrefix(info, []byte("Records: "))
	if !found {
		return 0, false
	}
	n, _ = number(rest)
	return n, true
}

// Duplicates is how many rows met others, by what an INSERT or REPLACE of one row or several was answered. ignore: it had IGNORE.
func Duplicates(info []byte, affected uint64, ignore bool) uint64 {
	res := resultOf(&wire.OK{AffectedRows: affected, Info: info})
	return res.met(ignore)
}

// met is how many rows met others. ignore: of INSERT IGNORE, which counts those that changed nothing.
func (r *result) met(ignore bool) uint64 {
	switch {
	case r.records:
		return r.duplicates
	case ignore && r.affected == 0:
		return 1
	case ignore, r.affected == 0:
		return 0
	}
	return r.affected - 1 // one row, replaced or updated: the old row counts, too
}

func resultOf(ok *wire.OK) result {
	res := result{affected: ok.AffectedRows, insertID: ok.LastInsertID}
	if rest, found := bytes.CutPrefix(ok.Info, []byte("Records: ")); found {
		rows, size := number(rest)
		rest = rest[size:]
		rest = rest[digitsAt(rest):]
		res.records, res.rows = true, rows
		res.duplicates, _ = number(rest)
	}
	return res
}

// finishInsert makes the Summary of several groups' work what one server would have said of all rows, and of the expressions
// that were computed before.
func (r *Runner) finishInsert(p *plan.Plan, in *insertion, sum *Summary) {
	sum.Warnings = clampWarnings(uint(sum.Warnings) + in.warnings)
	r.insertID(p, in, sum)
	if sum.HasRows { // RETURNING
		return
	}
	results := r.results
	if in.node.Same {
		results = results[:min(len(results), 1)]
	}
	if len(results) > 1 || in.warnings > 0 && in.rows > 1 {
		sum.Info = r.recordsInfo(p, in, results, sum.Warnings)
	}
}

// insertID finds what the client is told that it has inserted, and whether LAST_INSERT_ID() becomes that.
func (r *Runner) insertID(p *plan.Plan, in *insertion, sum *Summary) {
	n := in.node
	own := p.Uses&plan.SetsLastInsertID != 0 // the statement calls LAST_INSERT_ID(expr)
	if len(r.results) > 0 && !sum.HasRows {
		at := 0
		switch {
		case n.Indexed != nil && in.looked: // one by one
			at = len(r.results) - 1
		case len(r.results) > 1 && !n.Same && own && !n.Update:
			at = in.groupOfCall()
		case len(r.results) > 1 && !n.Same:
			at = in.groupOfLast()
		}
		sum.LastInsertID = cmp.Or(in.met, r.results[at].insertID)
	}
	if came := r.cameOf(in, sum); came != 0 { // its own number comes before LAST_INSERT_ID(expr)
		sum.LastInsertID, sum.Generated = came, true
		return
	}
	switch {
	case sum.HasRows && in.looked && !own: // the numbers of rows that were met are for an OK packet alone
	case sum.HasRows:
		sum.LastInsertID, sum.Generated = in.called, in.called != 0
	case own && n.Indexed != nil && in.looked:
		if sum.Generated = in.called != 0; sum.Generated {
			sum.LastInsertID = in.called
		}
	case own && n.Update && !r.FoundRows && in.allNew(r.results): // it was not called
	case own:
		sum.Generated = sum.LastInsertID != 0
	case n.HiddenKey:
		sum.LastInsertID = 0
	case in.rows > 1 && !n.Update && sum.AffectedRows > 0:
		sum.LastInsertID = in.ids.final
	}
}

// cameOf is the first of the values given out with which a row has come, 0 if there is none.
func (r *Runner) cameOf(in *insertion, sum *Summary) uint64 {
	n, first := in.node, in.ids.first
	switch {
	case first == 0 || n.HiddenKey:
		return 0
	case in.looked:
		return in.came
	case sum.HasRows && sum.Rows == 0, !sum.HasRows && sum.AffectedRows == 0:
		return 0
	case n.Update && (sum.AffectedRows != 1 || r.FoundRows && sum.LastInsertID != first):
		return 0
	}
	return first
}

// recordsInfo is the text of the OK packet for several rows, by the results of the groups that wrote them. Groups with one row
// send none.
func (r *Runner) recordsInfo(p *plan.Plan, in *insertion, results []result, warnings uint16) []byte {
	duplicates := uint64(0)
	for i := range results {
		duplicates += results[i].met(in.node.Ignore && p.Kind == plan.Insert)
	}
	r.info = append(r.info[:0], "Records: "...)
	r.info = strconv.AppendInt(r.info, int64(in.rows), 10)
	r.info = append(r.info, "  Duplicates: "...)
	r.info = strconv.AppendUint(r.info, duplicates, 10)
	r.info = append(r.info, "  Warnings: "...)
	r.info = strconv.AppendUint(r.info, uint64(warnings), 10)
	return r.info
}

// renumber makes the row that the error of group g names ("Data too long for column 'v' at row 1") the row of the
// client's statement.
func (in *insertion) renumber(err error, g placement.NodeGroupID) error {
	e, ok := errors.AsType[*sqlerr.Error](err)
	if !ok {
		return err
	}
	if message, row := rowOfInsert(e.Message, g, in.owners); row > 0 {
		return &sqlerr.Error{Code: e.Code, State: e.State, Message: message}
	}
	return err
}

// AtRow is what the server of group g says about one of the rows that it gets of the INSERT that runs, as one server says it of the whole
// statement, and which row that is, from 1 on; 0 if it does not say that.
func (r *Runner) AtRow(message string, g placement.NodeGroupID) (string, int) {
	return rowOfInsert(message, g, r.owners)
}

func rowOfInsert(message string, g placement.NodeGroupID, owners []placement.NodeGroupID) (string, int) {
	const words = " at row "
	at := strings.LastIndex(message, words)
	if at < 0 {
		return message, 0
	}
	at += len(words)
	n, err := strconv.Atoi(message[at:])
	if err != nil {
		return message, 0
	}
	for row, owner := range owners {
		if owner != g {
			continue
		}
		if n--; n == 0 {
			return message[:at] + strconv.Itoa(row+1), row + 1
		}
	}
	return message, 0
}
