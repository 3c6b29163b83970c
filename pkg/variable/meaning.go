package variable

import (
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/placement"
	"skarv/pkg/planner"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// Meaning is what the variables of a session say of how its statements are read, run and answered.
type Meaning struct {
	SQLMode    string
	Mode       sqlparse.Mode // SQLMode, as far as statements are read by it
	Info       planner.SessionInfo
	Charsets   Charsets
	Autocommit bool
	// ForeignCharset: what the client writes comes in a character set of which not all is UTF-8.
	ForeignCharset bool
	// ForeignLiterals: what the client writes, unless it is ASCII, may be other characters for the servers: it comes in another
	// character set, or is converted to one (character_set_connection).
	ForeignLiterals bool
	Strings         placement.Mode // see exec.Arguments
	// AllUTF8: what the client writes, what it gets, and what servers make of its literals is utf8mb4.
	AllUTF8    bool
	FixedClock bool // the client has set its timestamp variable
	SortLength int  // max_sort_length, 0: the servers' own
	// MaxWarnings is how many of one statement's warnings are kept: max_error_count.
	MaxWarnings int
}

// Charsets are the character set in which a client writes, and the collation of its literals.
type Charsets struct{ Client, Collation string }

// Strict reports whether values that do not fit are errors to the client's statements.
func (m *Meaning) Strict() bool { return strings.Contains(m.SQLMode, "STRICT_") }

// Padded reports whether CHAR columns are read with the spaces behind their values.
func (m *Meaning) Padded() bool { return strings.Contains(m.SQLMode, "PAD_CHAR_TO_FULL_LENGTH") }

// Rules are by what Skarv takes or refuses the values of variables.
type Rules struct {
	MariaDB       bool
	Administrator bool // the account is one
	Tracked       bool // the client is told of changes of its session
}

// Read returns what the variables of st mean. The error, an *sqlerr.Error, is of a value that Skarv does not take, though a server does.
func (r Rules) Read(st *backend.State) (m Meaning, err error) {
	for _, refused := range r.onlyValues() {
		v, ok := st.Get("@@session." + sqltypes.QuoteName(refused.name))
		if ok && !strings.EqualFold(strings.Trim(v, "'"), refused.value) && !IsOff(v) {
			return m, sqlerr.Unsupported("SET "+refused.name+" = "+v, refused.how)
		}
	}
	if v, ok := st.Get("@@session.`lc_messages`"); ok && !strings.HasPrefix(v, "'en_") {
		return m, sqlerr.Unsupported("SET lc_messages = "+v, "leave it as 'en_US': what servers say is read here, and told anew")
	}
	for _, name := range []string{"default_storage_engine", "storage_engine", "default_tmp_storage_engine"} {
		if v, ok := st.Get("@@session.`" + name + "`"); ok && v != "NULL" && !r.Administrator && !planner.LocalEngine(strings.Trim(v, "'")) {
			return m, sqlerr.SpecificAccessDenied.New("SUPER")
		}
	}
	client := "utf8mb4"
	if v, ok := st.Get("@@session.`character_set_client`"); ok {
		client = strings.Trim(v, "'")
	}
	switch client {
	case "utf8mb4", "utf8mb3", "utf8", "ascii", "binary",
		"latin1", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "koi8r", "koi8u",
		"greek", "hebrew", "macce", "macroman", "keybcs2", "dec8", "hp8", "geostd8", "tis620", "armscii8":
		// ASCII in one byte, and no byte of another character reads as ASCII: the text can be scanned.
	default:
		return m, sqlerr.Unsupported("character set "+client+" of a client", "use utf8mb4")
	}
	if v, ok := st.Get("@@session.`collation_connection`"); ok && strings.HasPrefix(strings.Trim(v, "'"), "swe7_") { // alone it lacks some of ASCII
		return m, sqlerr.Unsupported("character set swe7 of a connection", "use utf8mb4")
	}
	m.ForeignCharset = client != "utf8mb4" && client != "utf8mb3" && client != "utf8" && client != "ascii"
	m.ForeignLiterals = m.ForeignCharset || client == "ascii"
	if v, ok := st.Get("@@session.`collation_connection`"); ok {
		charset := sqltypes.CharsetOf(strings.Trim(v, "'"))
		m.ForeignLiterals = m.ForeignLiterals || charset != "utf8mb4" && charset != client && (client == "utf8mb4" || charset != "utf8" && charset != "utf8mb3")
	}
	connection, known := st.Get("@@session.`collation_connection`")
	switch {
	case m.ForeignLiterals && sqltypes.CharsetOf(strings.Trim(connection, "'")) == client:
		m.Strings = placement.ForeignBytes
	case m.ForeignLiterals:
		m.Strings = placement.ForeignCharset
	}
	unicode := !known || strings.HasPrefix(strings.Trim(connection, "'"), "utf8mb4_")
	v, _ := st.Get("@@session.`autocommit`")
	m.Autocommit = !IsOff(v)
	v, _ = st.Get("@@session.`sql_mode`")
	mode := strings.Trim(v, "'")
	m.SQLMode = mode
	m.Mode = sqlparse.ParseMode(mode)
	results := "utf8mb4"
	if v, ok := st.Get("@@session.`" + Results + "`"); ok {
		results = strings.Trim(v, "'")
	}
	switch results {
	case "utf16", "utf16le", "utf32", "ucs2": // what servers say besides of rows is read here
		return m, sqlerr.Unsupported("character set "+results+" of results", "use utf8mb4")
	}
	m.AllUTF8 = client == "utf8mb4" && results == "utf8mb4" && unicode
	m.Info = planner.SessionInfo{
		Mode:              m.Mode,
		NoAutoValueOnZero: strings.Contains(strings.ToUpper(mode), "NO_AUTO_VALUE_ON_ZERO"),
		Strict:            m.Strict(),
		NoZeroDates:       strings.Contains(strings.ToUpper(mode), "NO_ZERO_"),
		FullGroups:        strings.Contains(strings.ToUpper(mode), "ONLY_FULL_GROUP_BY"),
		UTF8Results:       results == "utf8mb4",
		Collation:         OwnCollation(r.MariaDB),
	}
	if known {
		m.Info.Collation = strings.Trim(connection, "'")
	}
	m.Charsets = Charsets{client, m.Info.Collation}
	v, _ = st.Get("@@session.`foreign_key_checks`")
	m.Info.Unchecked = IsOff(v)
	v, _ = st.Get("@@session.`sql_safe_updates`")
	m.Info.SafeUpdates = IsOn(v)
	m.Info.DivisionDigits, _ = st.Get("@@session.`div_precision_increment`")
	zone, _ := st.Get("@@session.`time_zone`")
	m.Info.HoursTwice = hoursTwice(strings.Trim(zone, "'"))
	clock, fixed := st.Get(Timestamp)
	m.FixedClock = fixed && clock != "DEFAULT"
	sorted, _ := st.Get("@@session.`max_sort_length`")
	m.SortLength, _ = strconv.Atoi(sorted)
	m.MaxWarnings = r.maxWarnings(st)
	return m, nil
}

// maxWarnings is max_error_count, or the servers' own default.
func (r Rules) maxWarnings(st *backend.State) int {
	v, _ := st.Get("@@session.`max_error_count`")
	if n, err := strconv.ParseUint(v, 10, 16); err == nil {
		return int(n)
	}
	if r.MariaDB {
		return 64
	}
	return 1024
}

// hoursTwice reports whether a session's time zone is one that may have hours twice: neither the servers' own (""), nor an offset, nor UTC.
func hoursTwice(zone string) bool {
	return zone != "" && zone[0] != '+' && zone[0] != '-' && !strings.EqualFold(zone, "DEFAULT") && !strings.EqualFold(zone, "UTC")
}

// onlyValue is a variable of which Skarv takes one value only, and what to do in place of another.
type onlyValue struct{ name, value, how string }

func (r Rules) onlyValues() []onlyValue {
	const numbers = "leave it as 1: the cluster gives the numbers, to all who INSERT"
	only := []onlyValue{
		{"auto_increment_increment", "1", numbers},
		{"auto_increment_offset", "1", numbers},
		{"completion_type", "NO_CHAIN", "say AND CHAIN or RELEASE"},
		{"enable_cascade_triggers", "0", "leave it OFF: rows that foreign keys change on other node groups fire no triggers"},
		{"sql_auto_is_null", "0", "use LAST_INSERT_ID()"},
		{"sql_if_exists", "0", "say IF EXISTS in the statements"},
		{"sql_generate_invisible_primary_key", "0", "leave it out: tables without a primary key get a hidden one anyway"},
	}
	if r.Tracked { // else nobody is told anything
		only = append(only, onlyValue{"session_track_transaction_info", "OFF", "leave it OFF: the status in answers says whether a transaction is open"})
	}
	return only
}

// MayBeRefused reports whether a value that a server has taken for one of the variables may be refused by Read. The connection on which that
// comes out can be used no more.
func (r Rules) MayBeRefused(variables []string) bool {
	return slices.Contains(variables, "character_set_client") || slices.Contains(variables, Results) || slices.Contains(variables, "collation_connection") ||
		slices.Contains(variables, "lc_messages") || slices.ContainsFunc(r.onlyValues(), func(v onlyValue) bool { return slices.Contains(variables, v.name) })
}
