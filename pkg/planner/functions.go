package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// call judges a function call by name.
func (a *analysis) call(f *sqlparser.FuncExpr) error {
	name := f.Name.Lowered()
	if !f.Qualifier.IsEmpty() {
		return a.storedFunction(f.Qualifier.String(), f.Name.String())
	}
	uses := &a.b.plan.Uses
	switch {
	case clockFunctions(name):
		*uses |= plan.ReadsClock
	case name == "unix_timestamp":
		if len(f.Exprs) == 0 {
			*uses |= plan.ReadsClock
		}
	case name == "rand":
		*uses |= plan.Nondeterministic
		if len(f.Exprs) > 0 {
			a.refuseMany("RAND(seed) over several node groups (one server goes on with the sequence from row to row)",
				"leave out the seed")
		}
	case volatileFunctions(name):
		*uses |= plan.Nondeterministic
	case name == "last_insert_id":
		if len(f.Exprs) > 0 {
			*uses |= plan.SetsLastInsertID
		} else {
			*uses |= plan.ReadsLastInsertID
		}
	case name == "found_rows" || name == "row_count":
		*uses |= plan.ReadsDiagnostics
	case lockFunctions(name):
		return sqlerr.Unsupported(strings.ToUpper(name)+"() in a statement with tables",
			"call it in a SELECT without tables, or lock a row with SELECT ... FOR UPDATE")
	case serverFunctions(name):
		return sqlerr.Unsupported(strings.ToUpper(name)+"()", "ask the server itself: it is about one server")
	case name == "rownum" && a.b.snap.Flavor == catalog.MariaDB:
		return sqlerr.Unsupported("ROWNUM()", "use ROW_NUMBER() OVER (ORDER BY ...) or LIMIT: each node group would number its own rows")
	case !builtin(name):
		return a.storedFunction(a.b.db, f.Name.String())
	}
	return nil
}

// storedFunction judges the call of a stored function: those that the catalog has touch nothing but values, so that every
// server computes the same, and tables that they read (see build.reads).
func (a *analysis) storedFunction(db, name string) error {
	f := a.b.snap.Routine(db, name, true)
	if f == nil {
		return sqlerr.Unsupported("the function '"+name+"'", "make it with CREATE FUNCTION through Skarv: there is no stored function of this name")
	}
	if a.inView == 0 {
		a.b.needsFunction(f)
	}
	if slices.Contains(a.b.readers, f) {
		return nil
	}
	return a.b.reader(f) // a view calls it
}

// readsTables reports whether a call is one of a function that reads tables.
func (a *analysis) readsTables(f *sqlparser.FuncExpr) bool {
	db := f.Qualifier.String()
	if db == "" {
		db = a.b.db
	}
	r := a.b.snap.Routine(db, f.Name.String(), true)
	return r != nil && slices.Contains(a.b.readers, r)
}

// reader notes the tables that a function reads.
func (b *build) reader(f *catalog.Routine) error {
	names := b.snap.ReadBy(f)
	if len(names) == 0 || slices.Contains(b.readers, f) {
		return nil
	}
	b.readers = append(b.readers, f)
	for _, n := range names {
		t := b.snap.Table(n.Database, n.Name)
		switch {
		case t == nil:
			return sqlerr.NoSuchTable.New(n.Database, n.Name)
		case t.Closed:
			return closed(t)
		case t.Kind == catalog.View:
			return sqlerr.Unsupported("the view "+n.Name+" in stored functions", "read its tables")
		}
		b.reads = append(b.reads, t)
	}
	return nil
}

// readWays is how functions read a table.
type readWays uint8

// The bits of readWays.
const (
	// readByValue: in an expression, as a server reads what the statement that calls the function computes a value from: of another statement than a SELECT
	// as it is now, with locks.
	readByValue readWays = 1 << iota
	// readByQuery: in a SELECT or by a cursor, as a server reads a SELECT of the client, whatever calls the function.
	readByQuery
)

// waysOf is how the functions that the statement calls read a table. Of functions that were made before it was noted it may be either way.
func (b *build) waysOf(t *catalog.Table) (ways readWays) {
	reads := func(list []catalog.TableName) bool {
		return slices.ContainsFunc(list, func(n catalog.TableName) bool { return b.snap.Table(n.Database, n.Name) == t })
	}
	for _, f := range b.snap.Called(b.readers...) {
		unknown := len(f.Values)+len(f.Queries) == 0 && reads(f.Reads)
		if unknown || reads(f.Values) {
			ways |= readByValue
		}
		if unknown || reads(f.Queries) {
			ways |= readByQuery
		}
	}
	return ways
}

// locksWithin reports whether the statement is a SELECT for which functions lock what they read, or one that locks reads views which servers compute by
// themselves: a server that runs the SELECT locks neither.
func (b *build) locksWithin() bool {
	return b.sess.ForValue && (b.a != nil && b.a.stored && b.st.Uses()&sqlparse.LocksRows != 0 || slices.ContainsFunc(b.reads, func(t *catalog.Table) bool { return b.waysOf(t)&readByValue != 0 }))
}

func refuseWithin() error {
	return sqlerr.Unsupported("functions that read tables, or views that servers compute by themselves, in such a query in the value of a SET, a DO or an expression of a program, within a transaction: servers lock the rows that they read",
		"SELECT the value INTO a variable")
}

// ReadsTables reports whether a statement calls a stored function that reads tables, by the names before parentheses.
func ReadsTables(st *sqlparse.Statement, db string, snap *catalog.Snapshot) bool {
	if len(snap.Routines) == 0 {
		return false
	}
	return slices.ContainsFunc(routine.Calls(st), func(n routine.Name) bool {
		if n.DB == "" {
			n.DB = db
		}
		f := snap.Routine(n.DB, n.Name, true)
		return f != nil && len(snap.ReadBy(f)) > 0
	})
}

// storedFunctions notes what calls of stored functions mean for the plan; by their names before parentheses, for there may
// be no tree.
func (b *build) storedFunctions() error {
	for _, f := range b.functions(b.st, b.db) {
		b.needsFunction(f)
		if f.Volatile {
			b.plan.Uses |= plan.Nondeterministic | plan.ReadsClock
		}
		if err := b.reader(f); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether a name is among the words of list, in which every line begins with a space.
func has(list, name string) bool {
	if name == "" { // as `` is read
		return false
	}
	at := 0
	for {
		i := strings.Index(list[at:], name)
		if i < 0 {
			return false
		}
		at += i + 1
		end := at - 1 + len(name)
		if at >= 2 && list[at-2] == ' ' && end < len(list) && (list[end] == ' ' || list[end] == '\n') {
			return true
		}
	}
}

// clockFunctions read the time of the statement's beginning.
func clockFunctions(name string) bool {
	return has(` now current_timestamp localtime localtimestamp curdate current_date curtime current_time utc_date utc_time
 utc_timestamp `, name)
}

// volatileFunctions may give something else each time they are evaluated.
func volatileFunctions(name string) bool {
	return has(` rand uuid uuid_short uuid_v4 uuid_v7 sysdate random_bytes sleep benchmark sys_guid `, name)
}

func lockFunctions(name string) bool {
	return has(` get_lock release_lock release_all_locks is_free_lock is_used_lock `, name)
}

// serverFunctions are about one server's files, logs and replication.
func serverFunctions(name string) bool {
	return has(` load_file master_pos_wait source_pos_wait master_gtid_wait wait_for_executed_gtid_set gtid_subset gtid_subtract
 binlog_gtid_pos wsrep_last_seen_gtid wsrep_last_written_gtid wsrep_sync_wait_upto_gtid
 sql_thread_wait_after_gtids `, name)
}

// numberFunctions return a number or a time whatever they are given.
func numberFunctions(name string) bool {
	return has(` abs acos asin atan atan2 ascii bit_count bit_length ceil ceiling char_length character_length cos cot crc32 crc32c
 datediff day dayofmonth dayofweek dayofyear degrees exp field find_in_set floor from_days hour inet_aton instr isnull
 length ln log log10 log2 microsecond minute mod month octet_length ord period_add period_diff pi position pow power
 quarter radians rand round second sign sin sqrt strcmp tan time_to_sec to_days to_seconds truncate unix_timestamp
 week weekday weekofyear year yearweek date curdate current_date now current_timestamp last_day makedate maketime
 sec_to_time json_length json_depth json_valid json_contains `, name)
}

// timeFunctions are those of the numberFunctions that return a date or a time.
func timeFunctions(name string) bool {
	return has(` date curdate current_date now current_timestamp last_day makedate maketime sec_to_time from_days `, name)
}

// sameStringFunctions return a part or a variant of their first argument in its collation, not longer than it.
func sameStringFunctions(name string) bool {
	return has(` lower lcase upper ucase left right reverse ltrim rtrim mid substr substring substring_index `, name)
}

// Known reports whether a name before a parenthesis is a function of the servers, or no function at all.
func Known(name string) bool {
	name = strings.ToLower(name)
	return builtin(name) || beforeParenthesis(name)
}

// spatialFunctions are those over geometries. Most begin with st_; MariaDB has kept the old names too, of which those are
// listed that hardly anybody gives to a stored function.
func spatialFunctions(name string) bool {
	bare, st := strings.CutPrefix(name, "st_")
	return has(` asbinary asgeojson astext aswkb aswkt convexhull endpoint exteriorring geomcollfromtext geomcollfromtxt
 geomcollfromwkb geometrycollection geometrycollectionfromtext geometrycollectionfromwkb geometryfromtext geometryfromwkb
 geometryn geometrytype geomfromgeojson geomfromtext geomfromwkb glength interiorringn isclosed isring issimple linefromtext
 linefromwkb linestring linestringfromtext linestringfromwkb mlinefromtext mlinefromwkb mpointfromtext mpointfromwkb
 mpolyfromtext mpolyfromwkb multilinestring multilinestringfromtext multilinestringfromwkb multipoint multipointfromtext
 multipointfromwkb multipolygon multipolygonfromtext multipolygonfromwkb numgeometries numinteriorring numinteriorrings
 numpoints point pointfromtext pointfromwkb pointn pointonsurface polyfromtext polyfromwkb polygon polygonfromtext
 polygonfromwkb startpoint mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequal mbrequals mbrintersects mbroverlaps
 mbrtouches mbrwithin `, bare) ||
		st && has(` area boundary buffer buffer_strategy centroid collect contains crosses difference dimension disjoint distance distance_sphere
 envelope equals frechetdistance geohash hausdorffdistance intersection intersects isempty isvalid latfromgeohash latitude
 length lineinterpolatepoint lineinterpolatepoints longfromgeohash longitude makeenvelope overlaps pointatdistance
 pointfromgeohash relate simplify srid swapxy symdifference touches transform union validate within x y `, bare)
}

// builtin reports whether the servers know the function themselves. Anything else may be a stored function.
func builtin(name string) bool {
	return numberFunctions(name) || sameStringFunctions(name) || clockFunctions(name) || volatileFunctions(name) ||
		spatialFunctions(name) || has(` add_months adddate addtime aes_decrypt aes_encrypt any_value bin bin_to_uuid
 uuid_to_bin is_uuid cast char charset chr coalesce coercibility collation column_add column_check column_create column_delete column_exists column_get column_json column_list
 compress concat concat_ws connection_id conv convert convert_tz current_role current_user database schema date_add
 date_format date_sub dayname decode decode_histogram default des_decrypt des_encrypt elt encode encrypt export_set
 extract extractvalue floor format format_bytes format_pico_time found_rows from_base64 from_unixtime from_vector get_format greatest
 group_concat grouping hex icu_version if ifnull inet6_aton inet6_ntoa inet_ntoa insert interval is_ipv4 is_ipv4_compat
 is_ipv4_mapped is_ipv6 isnull json_array json_array_append json_array_insert json_array_intersect json_arrayagg json_compact
 json_contains_path json_detailed json_equals json_exists json_extract json_insert json_keys json_loose json_merge
 json_merge_patch json_merge_preserve json_normalize json_object json_object_filter_keys json_object_to_array json_objectagg
 json_overlaps json_pretty json_query json_quote json_remove json_replace json_schema_valid json_schema_validation_report json_search json_set
 json_storage_free json_storage_size json_table json_type json_unquote json_value kdf last_insert_id lcase least
 least length lengthb like lnnvl load_file locate lpad make_set md5 monthname name_const natural_sort_key nullif nvl nvl2 oct
 old_password password quote random regexp_instr regexp_like regexp_replace regexp_substr repeat replace row_count rpad
 schema session_user sformat sha sha1 sha2 soundex space statement_digest
 statement_digest_text str_to_date string_to_vector subdate substring subtime system_user time time_format timediff timestamp timestampadd
 timestampdiff to_base64 to_char to_vector trim uncompress uncompressed_length unhex updatexml upper user validate_password_strength
 values vector_dim vector_to_string version weight_string xmltype `, name)
}
