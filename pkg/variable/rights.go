package variable

import (
	"slices"

	"skarv/pkg/sqlerr"
)

// MayAssign refuses to assign variables that are about one server, or that decide what its binary log says, which is read where
// partitions move; and to accounts that are no administrators what servers keep to such: they take us for one.
func MayAssign(names []string, administrator, mariadb bool) error {
	for i, name := range names {
		if name == "autocommit" && slices.Contains(names[:i], name) { // each of which may commit
			return sqlerr.Unsupported("autocommit twice in one SET", "use two statements")
		}
		if !administrator {
			if needed := neededToAssign(name, mariadb); needed != "" {
				return sqlerr.SpecificAccessDenied.New(needed)
			}
		}
		switch name {
		case "insert_id", "sql_log_bin", "xa_detach_on_prepare", "gtid_next", "pseudo_thread_id", "pseudo_slave_mode", "pseudo_replica_mode",
			"gtid_domain_id", "server_id", "gtid_seq_no", "wsrep_gtid_seq_no", "wsrep_on":
			return sqlerr.Unsupported("SET "+name+", which is about one server and has no meaning for a cluster", "leave it out, as mysqldump --set-gtid-purged=OFF does")
		case "rand_seed1", "rand_seed2":
			return sqlerr.Unsupported("SET "+name+", from which each connection to a server would begin again", "write RAND(n) with a number")
		case "binlog_format", "binlog_row_image", "binlog_row_value_options", "binlog_direct_non_transactional_updates", "skip_replication",
			"immediate_server_version", "original_server_version", "original_commit_timestamp":
			return sqlerr.Unsupported("SET "+name, "leave it as the servers have it: the binary log is read where partitions are moved")
		}
	}
	return nil
}

// neededToAssign are the privileges that a server asks of whoever assigns a variable for a session; "": none.
func neededToAssign(name string, mariadb bool) string {
	switch {
	case name == "innodb_tmpdir":
		return "FILE"
	case !mariadb:
		return neededOnMySQL(name)
	}
	switch name {
	case "binlog_format", "binlog_row_image", "binlog_direct_non_transactional_updates", "binlog_annotate_row_events", "sql_log_bin":
		return "SUPER, BINLOG ADMIN"
	case "pseudo_thread_id", "server_id", "gtid_domain_id", "gtid_seq_no", "pseudo_slave_mode", "skip_replication":
		return "SUPER, BINLOG REPLAY"
	case "sql_log_off", "enforce_storage_engine", "log_disabled_statements", "wsrep_on", "wsrep_gtid_seq_no", "debug", "debug_dbug":
		return "SUPER"
	}
	return ""
}

func neededOnMySQL(name string) string {
	switch name {
	case "gtid_next", "immediate_server_version", "original_commit_timestamp", "original_server_version", "pseudo_replica_mode", "pseudo_slave_mode",
		"pseudo_thread_id":
		return "SUPER, SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER"
	case "binlog_direct_non_transactional_updates", "binlog_format", "binlog_row_image", "binlog_row_value_options",
		"binlog_rows_query_log_events", "binlog_transaction_compression", "binlog_transaction_compression_level_zstd",
		"bulk_insert_buffer_size", "character_set_database", "character_set_filesystem", "collation_database", "connection_memory_chunk_size",
		"connection_memory_limit", "global_connection_memory_tracking", "histogram_generation_max_mem_size", "innodb_strict_mode",
		"internal_tmp_mem_storage_engine", "low_priority_updates", "max_delayed_threads", "max_error_count", "max_insert_delayed_threads",
		"min_examined_row_limit", "preload_buffer_size", "select_into_buffer_size", "select_into_disk_sync_delay",
		"sql_generate_invisible_primary_key", "sql_log_bin", "sql_log_off", "sql_require_primary_key", "xa_detach_on_prepare",
		"default_table_encryption", "debug":
		return "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"
	}
	return ""
}
