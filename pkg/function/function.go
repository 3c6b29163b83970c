// Package function is the functions that MySQL and MariaDB have, by their names in lower case: what a call of one means, whatever its arguments
// are. It knows no stored functions, and no syntax tree.
package function

import (
	"strings"

	"skarv/pkg/wordlist"
)

// ReadsClock reports whether a function reads the time of the statement's beginning.
func ReadsClock(name string) bool {
	return wordlist.Has(` now current_timestamp localtime localtimestamp curdate current_date curtime current_time utc_date utc_time
 utc_timestamp `, name)
}

// Volatile reports whether a function may give something else each time it is evaluated.
func Volatile(name string) bool {
	return wordlist.Has(` rand uuid uuid_short uuid_v4 uuid_v7 sysdate random_bytes sleep benchmark sys_guid `, name)
}

// OfUserLocks reports whether a function is of user-level locks.
func OfUserLocks(name string) bool {
	return wordlist.Has(` get_lock release_lock release_all_locks is_free_lock is_used_lock `, name)
}

// OfServer reports whether a function is about one server's files, logs and replication.
func OfServer(name string) bool {
	return wordlist.Has(` load_file master_pos_wait source_pos_wait master_gtid_wait wait_for_executed_gtid_set gtid_subset gtid_subtract
 binlog_gtid_pos wsrep_last_seen_gtid wsrep_last_written_gtid wsrep_sync_wait_upto_gtid
 sql_thread_wait_after_gtids `, name)
}

// GivesNumber reports whether a function returns a number or a time whatever it is given.
func GivesNumber(name string) bool {
	return wordlist.Has(` abs acos asin atan atan2 ascii bit_count bit_length ceil ceiling char_length character_length cos cot crc32 crc32c
 datediff day dayofmonth dayofweek dayofyear degrees exp field find_in_set floor from_days hour inet_aton instr isnull
 length ln log log10 log2 microsecond minute mod month octet_length ord period_add period_diff pi position pow power
 quarter radians rand round second sign sin sqrt strcmp tan time_to_sec to_days to_seconds truncate unix_timestamp
 week weekday weekofyear year yearweek date curdate current_date now current_timestamp last_day makedate maketime
 sec_to_time json_length json_depth json_valid json_contains `, name)
}

// GivesTime reports whether a function of GivesNumber returns a date or a time.
func GivesTime(name string) bool {
	return wordlist.Has(` date curdate current_date now current_timestamp last_day makedate maketime sec_to_time from_days `, name)
}

// KeepsString reports whether a function returns a part or a variant of its first argument in its collation, not longer than it.
func KeepsString(name string) bool {
	return wordlist.Has(` lower lcase upper ucase left right reverse ltrim rtrim mid substr substring substring_index `, name)
}

// Spatial reports whether a function is over geometries. Most begin with st_; MariaDB has kept the old names too, of which those are
// listed that hardly anybody gives to a stored function.
func Spatial(name string) bool {
	bare, st := strings.CutPrefix(name, "st_")
	return wordlist.Has(` asbinary asgeojson astext aswkb aswkt convexhull endpoint exteriorring geomcollfromtext geomcollfromtxt
 geomcollfromwkb geometrycollection geometrycollectionfromtext geometrycollectionfromwkb geometryfromtext geometryfromwkb
 geometryn geometrytype geomfromgeojson geomfromtext geomfromwkb glength interiorringn isclosed isring issimple linefromtext
 linefromwkb linestring linestringfromtext linestringfromwkb mlinefromtext mlinefromwkb mpointfromtext mpointfromwkb
 mpolyfromtext mpolyfromwkb multilinestring multilinestringfromtext multilinestringfromwkb multipoint multipointfromtext
 multipointfromwkb multipolygon multipolygonfromtext multipolygonfromwkb numgeometries numinteriorring numinteriorrings
 numpoints point pointfromtext pointfromwkb pointn pointonsurface polyfromtext polyfromwkb polygon polygonfromtext
 polygonfromwkb startpoint mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequal mbrequals mbrintersects mbroverlaps
 mbrtouches mbrwithin `, bare) ||
		st && wordlist.Has(` area boundary buffer buffer_strategy centroid collect contains crosses difference dimension disjoint distance distance_sphere
 envelope equals frechetdistance geohash hausdorffdistance intersection intersects isempty isvalid latfromgeohash latitude
 length lineinterpolatepoint lineinterpolatepoints longfromgeohash longitude makeenvelope overlaps pointatdistance
 pointfromgeohash relate simplify srid swapxy symdifference touches transform union validate within x y `, bare)
}

// Builtin reports whether the servers know a function themselves. Anything else may be a stored function.
func Builtin(name string) bool {
	return GivesNumber(name) || KeepsString(name) || ReadsClock(name) || Volatile(name) ||
		Spatial(name) || wordlist.Has(` add_months adddate addtime aes_decrypt aes_encrypt any_value bin bin_to_uuid
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

// Known reports whether a name before a parenthesis, in any case, is a function of the servers, or no function at all.
func Known(name string) bool {
	name = strings.ToLower(name)
	return Builtin(name) || IsWord(name)
}

// Rounds reports whether a function returns a number with as many decimals as its type says.
func Rounds(name string) bool {
	return wordlist.Has(` round truncate floor ceil ceiling `, name)
}

// Plain reports whether a function computes from its arguments alone, and never fails.
func Plain(name string) bool {
	return wordlist.Has(` abs ascii bit_length ceil ceiling char_length character_length coalesce crc32 date datediff day dayofmonth
 dayofweek dayofyear greatest hour if ifnull instr isnull last_day lcase least left length lower ltrim microsecond minute mod
 month nullif octet_length quarter reverse right round rtrim second sign strcmp substring_index to_days truncate ucase upper
 weekday year `, name)
}

// IsWord reports whether a word stands before parentheses and calls nothing; aggregates are such words, too.
func IsWord(word string) bool {
	return wordlist.Has(` as in and or not xor exists any all some from join on using where having by union except intersect select
 distinct when then else case between like regexp rlike is over with recursive lateral values row interval div mod binary
 count sum min max avg group_concat std stddev stddev_pop stddev_samp variance var_pop var_samp bit_and bit_or bit_xor median
 percentile_cont percentile_disc group row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value
 nth_value cast convert char varchar decimal date time datetime timestamp if
 left right insert replace substring position trim extract coalesce `, word)
}
