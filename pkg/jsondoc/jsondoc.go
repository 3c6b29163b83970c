// Package jsondoc is JSON documents of MySQL on their way from one server to another, such that each value keeps its type. It knows
// which types the text of a document does not tell, how a server is asked for them, and how a document is written with them. Where
// documents come from and go to is not its concern.
//
// Inside of MySQL's documents stand values that JSON has no text for: DECIMAL shows as a number, dates, times and byte strings show as
// strings, UNSIGNED INTEGER as any integer does. A server that reads the text makes them DOUBLE, STRING and INTEGER: 1.50 becomes 1.5,
// digits behind the 17th are lost, JSON_TYPE() says something else. So a document travels in one of two forms:
//
//	{"a": 1, "b": [true, "x"]}                  its text, where that tells all
//	#[[2, null, "DECIMAL", "1.50"]]             notes of the values that the text does not tell all of, and
//	{"a": 1, "b": 1.50}                         on the next line the text, which has no line ends of its own
//
// A note is the value's place, its type as JSON_TYPE() says it, and its text without quotes. The place is a number among all members of
// objects, or one among all elements of arrays, or neither for the document itself. They are counted container by container, a container
// before those inside of it: so a server gives the values of the paths $**.* and $**[*].
package jsondoc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mark begins the form with notes. No JSON text begins with it.
const mark = '#'

// Select is the expression for the value of a column, whose name is quoted, as the bytes that have one of the two forms. It means the same
// in each character set of a connection and in each sql_mode.
//
// What stands before the text is longer than a server's strings may be where max_allowed_packet is only just enough for the document. It
// is the mark alone then, which nothing is written from.
func Select(column string) string {
	const value = "COALESCE(skarv_json.skarv_member, skarv_json.skarv_element, skarv_json.skarv_whole)"
	text := "CONVERT(" + column + " USING utf8mb4)"
	return "COALESCE((SELECT IFNULL(CONCAT('#', JSON_ARRAYAGG(JSON_ARRAY(skarv_json.skarv_m, skarv_json.skarv_e, JSON_TYPE(" + value + "), JSON_UNQUOTE(" + value +
		"))), x'0a', " + text + "), '#') FROM JSON_TABLE(" + column + ", _utf8mb4'$' COLUMNS (" +
		"NESTED PATH _utf8mb4'$**.*' COLUMNS (skarv_m FOR ORDINALITY, skarv_member JSON PATH _utf8mb4'$'), " +
		"NESTED PATH _utf8mb4'$**[*]' COLUMNS (skarv_e FOR ORDINALITY, skarv_element JSON PATH _utf8mb4'$'), " +
		"NESTED PATH _utf8mb4'$' COLUMNS (skarv_whole JSON PATH _utf8mb4'$'))) AS skarv_json " +
		"WHERE JSON_TYPE(" + value + ") NOT IN ('OBJECT', 'ARRAY', 'STRING', 'INTEGER', 'DOUBLE', 'BOOLEAN', 'NULL') HAVING COUNT(*) > 0), " +
		"CAST(" + text + " AS BINARY))"
}

// Plain reports whether the document is its text.
func Plain(doc []byte) bool { return len(doc) == 0 || doc[0] != mark }

// Append appends an expression for a document. A server refuses what cannot be written.
func Append(dst, doc []byte) []byte {
	if Plain(doc) {
		return quoted(dst, doc)
	}
	w := writer{}
	if err := w.read(doc); err != nil {
		// A server stores nothing in place of an argument that is no JSON, and tells why.
		return append(quoted(append(dst, "JSON_EXTRACT("...), []byte(err.Error())), ", _utf8mb4'$')"...)
	}
	return w.write(dst)
}

// place is where a value stands: the number of a member, or of an element; neither is the document.
type place struct{ member, element int }

// note is what is said of a value.
type note struct{ kind, text string }

// writer makes the expression: the text, with the values of which there are notes put in their places.
type writer struct {
	text     []byte
	notes    map[place]note
	next     place // how many have been counted
	replaced []byte
	tables   []typed
}

// typed is a table of one row whose columns have types that an expression cannot have.
type typed struct {
	values, columns []byte
	count, bytes    int
}

// maxTyped is less than a row of a table may have, in bytes without those of BLOBs; a column has up to 255.
const maxTyped = 60_000

// read takes a document apart.
func (w *writer) read(doc []byte) error {
	notes, text, ok := bytes.Cut(doc[1:], []byte{'\n'})
	if !ok {
		return fmt.Errorf("a document too large to be copied with its types")
	}
	if len(text) == 0 || !utf8.Valid(text) {
		return fmt.Errorf("a document with types of MySQL's own, and with text that is not UTF-8")
	}
	var list [][]any
	d := json.NewDecoder(bytes.NewReader(notes))
	d.UseNumber()
	if err := d.Decode(&list); err != nil {
		return fmt.Errorf("a document whose types cannot be read")
	}
	w.text, w.notes = text, make(map[place]note, len(list))
	for _, n := range list {
		if len(n) != 4 {
			return fmt.Errorf("a document whose types cannot be read")
		}
		kind, _ := n[2].(string)
		of, _ := n[3].(string)
		w.notes[place{number(n[0]), number(n[1])}] = note{kind, of}
	}
	if err := w.value(place{}, "$", text); err != nil {
		return err
	}
	if err := w.inside("$", text); err != nil {
		return err
	}
	if len(w.notes) > 0 {
		return fmt.Errorf("a document whose types are those of other values")
	}
	return nil
}

func number(v any) int {
	n, _ := v.(json.Number)
	i, _ := strconv.Atoi(n.String())
	return i
}

// value looks for a note of a value.
func (w *writer) value(at place, path string, text []byte) error {
	n, ok := w.notes[at]
	if !ok {
		return nil
	}
	delete(w.notes, at)
	shown := string(text)
	if text[0] == '"' { // long ones have line ends
		if err := json.Unmarshal(text, &shown); err != nil {
			return err
		}
	}
	if n.text != shown {
		return fmt.Errorf("a document whose types are those of other values")
	}
	w.replaced = quoted(append(w.replaced, ", "...), []byte(path))
	w.replaced = append(w.replaced, ", "...)
	return w.expression(n)
}

// inside goes through what is in a container, and then through the containers in it.
func (w *writer) inside(path string, text []byte) error {
	if text[0] != '{' && text[0] != '[' {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	type child struct {
		path string
		text json.RawMessage
	}
	var children []child
	for n := 0; d.More(); n++ {
		var c child
		var at place
		if text[0] == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			c.path = path + "." + string(appendString(nil, name))
			w.next.member++
			at.member = w.next.member
		} else {
			c.path = path + "[" + strconv.Itoa(n) + "]"
			w.next.element++
			at.element = w.next.element
		}
		if err := d.Decode(&c.text); err != nil {
			return err
		}
		if err := w.value(at, c.path, c.text); err != nil {
			return err
		}
		if c.text[0] == '{' || c.text[0] == '[' {
			children = append(children, c)
		}
	}
	for _, c := range children {
		if err := w.inside(c.path, c.text); err != nil {
			return err
		}
	}
	return nil
}

// appendString appends a string with quotes, as paths have it.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, ch := range []byte(s) {
		switch {
		case ch == '"' || ch == '\\':
			dst = append(dst, '\\', ch)
		case ch < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, ch)
		default:
			dst = append(dst, ch)
		}
	}
	return append(dst, '"')
}

// expression appends a value of a type.
func (w *writer) expression(n note) error {
	simple := func(before, after string) error {
		w.replaced = append(append(append(w.replaced, before...), n.text...), after...)
		return nil
	}
	// A literal of a zero date is an error in some modes, and CAST makes NULL of it.
	zero := strings.HasPrefix(n.text, "0000") || strings.Contains(n.text, "-00")
	switch n.kind {
	case "DECIMAL":
		digits, fraction, _ := strings.Cut(strings.TrimPrefix(n.text, "-"), ".")
		whole := len(strings.TrimLeft(digits, "0"))
		if whole+len(fraction) > 65 || len(fraction) > 30 { // more than a column has: a literal has up to 81 digits, and is a DECIMAL as it is
			return simple("", "")
		}
		return simple("CAST(", " AS DECIMAL("+strconv.Itoa(max(1, whole+len(fraction)))+", "+strconv.Itoa(len(fraction))+"))")
	case "UNSIGNED INTEGER":
		return simple("CAST(", " AS UNSIGNED)")
	case "TIME":
		return simple("TIME'", "'")
	case "DATE":
		if !zero {
			return simple("DATE'", "'")
		}
		w.typed(quoted(nil, []byte(n.text)), "DATE", 3)
	case "DATETIME":
		if !zero {
			return simple("TIMESTAMP'", "'")
		}
		w.typed(quoted(nil, []byte(n.text)), "DATETIME(6)", 8)
	case "TIMESTAMP":
		w.typed(quoted(nil, []byte(n.text)), "TIMESTAMP(6)", 7)
	case "BLOB", "BIT":
		return w.bytes(n)
	default:
		return fmt.Errorf("a document with a value of type %s", n.kind)
	}
	return nil
}

// The numbers that MySQL has for types of byte strings.
const (
	typeVarbinary  = "15"
	typeBit        = "16"
	typeTinyBlob   = "249"
	typeMediumBlob = "250"
	typeLongBlob   = "251"
	typeBlob       = "252"
	typeBinary     = "254"
)

// bytes appends a byte string.
func (w *writer) bytes(n note) error {
	kind, text, _ := strings.Cut(strings.TrimPrefix(n.text, "base64:type"), ":")
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("a document with bytes that cannot be read")
	}
	value := append(hex.AppendEncode([]byte("x'"), b), '\'')
	switch {
	case kind == typeVarbinary:
		w.replaced = append(w.replaced, value...)
	case kind == typeBit && len(b) > 0 && len(b) <= 8:
		number := binary.BigEndian.Uint64(append(make([]byte, 8-len(b)), b...))
		w.typed(strconv.AppendUint(nil, number, 10), "BIT("+strconv.Itoa(8*len(b))+")", 8)
	case kind == typeTinyBlob:
		w.typed(value, "TINYBLOB", 16)
	case kind == typeBlob:
		w.typed(value, "BLOB", 16)
	case kind == typeMediumBlob:
		w.typed(value, "MEDIUMBLOB", 16)
	case kind == typeLongBlob:
		w.typed(value, "LONGBLOB", 16)
	case kind == typeBinary && len(b) <= 255:
		w.typed(value, "BINARY("+strconv.Itoa(len(b))+")", len(b))
	default:
		return fmt.Errorf("a document with %d bytes of type %s", len(b), kind)
	}
	return nil
}

// maxColumns is how many columns a table gets.
const maxColumns = 1000

// typed appends a column of a table that has the value in that type.
func (w *writer) typed(value []byte, kind string, size int) {
	at := len(w.tables) - 1
	if at < 0 || w.tables[at].count == maxColumns || w.tables[at].bytes+size > maxTyped {
		w.tables = append(w.tables, typed{})
		at++
	}
	t := &w.tables[at]
	if t.count > 0 {
		t.values, t.columns = append(t.values, ", "...), append(t.columns, ", "...)
	}
	t.values = append(t.values, value...)
	t.columns = fmt.Appendf(t.columns, "c%d %s PATH _utf8mb4'$[%d]' ERROR ON EMPTY ERROR ON ERROR", t.count, kind, t.count)
	w.replaced = fmt.Appendf(w.replaced, "skarv_json%d.c%d", at, t.count)
	t.count++
	t.bytes += size
}

// write appends the whole expression.
func (w *writer) write(dst []byte) []byte {
	if len(w.tables) > 0 {
		dst = append(dst, "(SELECT "...)
	}
	dst = quoted(append(dst, "JSON_REPLACE(CAST("...), w.text)
	dst = append(append(append(dst, " AS JSON)"...), w.replaced...), ')')
	for i, t := range w.tables {
		head := ", "
		if i == 0 {
			head = " FROM "
		}
		dst = append(append(append(dst, head...), "JSON_TABLE(JSON_ARRAY("...), t.values...)
		dst = append(append(append(dst, "), _utf8mb4'$' COLUMNS ("...), t.columns...), ")) AS skarv_json"...)
		dst = strconv.AppendInt(dst, int64(i), 10)
	}
	if len(w.tables) > 0 {
		dst = append(dst, ')')
	}
	return dst
}

// quoted appends a string as a literal that means the same in each character set and sql_mode.
func quoted(dst, s []byte) []byte {
	return append(hex.AppendEncode(append(dst, "_utf8mb4 x'"...), s), '\'')
}

// special are the strings that values of other types show as: moments with all their digits, and bytes.
var special = regexp.MustCompile(`^"(?:(?:\d{4}-\d\d-\d\d )?-?\d{2,3}:\d\d:\d\d\.\d{6}|base64:type\d+:[^"]*)"$`)

// Told reports whether the text of a document, as a server shows it, is read as the same values again: no number has digits that a DOUBLE
// does not show, and no string looks like a moment or bytes. What the text of a DATE, of an unsigned integer and of a DECIMAL without a point
// does not tell is not seen.
func Told(text []byte) bool {
	for i := 0; i < len(text); {
		end := i + 1
		switch c := text[i]; {
		case c == '"':
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			if special.Match(text[i:end]) {
				return false
			}
		case c == '-' || c >= '0' && c <= '9':
			for end < len(text) && strings.IndexByte("+-.eE0123456789", text[end]) >= 0 {
				end++
			}
			if !shown(string(text[i:end])) {
				return false
			}
		}
		i = end
	}
	return true
}

// shown reports whether a number is an integer of 64 bits, or what a server shows of a DOUBLE.
func shown(number string) bool {
	number = strings.TrimPrefix(number, "-")
	whole, fraction, point := strings.Cut(number, ".")
	if !point && !strings.ContainsAny(number, "eE") {
		_, err := strconv.ParseUint(number, 10, 64)
		return err == nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.ContainsAny(number, "eE") && strings.HasSuffix(fraction, "0") && fraction != "0" {
		return false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(whole+fraction), "e")
	digits, _, _ := strings.Cut(strings.Replace(strconv.FormatFloat(f, 'e', -1, 64), ".", "", 1), "e")
	return strings.Trim(mantissa, "0") == strings.Trim(digits, "0")
}
