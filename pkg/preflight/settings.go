package preflight

import (
	"strings"

	"skarv/pkg/catalog"
)

// setting is what a variable of a server should be, and why.
type setting struct {
	name string
	want []string // any of these
	why  string
	// required: the server is refused without it.
	required bool
}

// settingsOf lists what servers of a flavor should be set to.
func settingsOf(flavor catalog.Flavor) []setting {
	both := []setting{
		{"read_only", []string{"OFF", "0"}, "the primary of a node group must take writes", true},
		{"lower_case_table_names", []string{"0"}, "Skarv compares names of tables exactly", true},
		{"autocommit", []string{"ON", "1"}, "sessions begin so", true},
		{"completion_type", []string{"NO_CHAIN", "0"}, "Skarv takes COMMIT for the end of a transaction and no more", true},
		{"sql_auto_is_null", []string{"OFF", "0"}, "Skarv routes by IS NULL as it stands", true},
		{"foreign_key_checks", []string{"ON", "1"}, "sessions begin so", true},
		{"lc_messages", []string{"en_US", "en_GB"}, "Skarv reads what servers say", true},
		{"sync_binlog", []string{"1"}, "acknowledged transactions can be lost in a crash of the machine", false},
		{"innodb_flush_log_at_trx_commit", []string{"1"}, "acknowledged transactions can be lost in a crash of the machine", false},
		{"log_bin", []string{"ON", "1"}, "without a binlog partitions cannot be moved and replicas cannot follow", false},
		{"binlog_format", []string{"ROW"}, "moving partitions reads row events", false},
		{"binlog_row_image", []string{"FULL"}, "moving partitions reads whole rows", false},
		{"binlog_row_metadata", []string{"FULL"}, "moving partitions reads column names", false},
	}
	if flavor == catalog.MariaDB {
		return append(both,
			setting{"gtid_strict_mode", []string{"ON", "1"}, "a diverged replica must stop", false},
			setting{"log_slave_updates", []string{"ON", "1"}, "a replica must be able to become the primary", false},
		)
	}
	return append(both,
		setting{"gtid_mode", []string{"ON"}, "failover compares transactions by GTID", false},
		setting{"enforce_gtid_consistency", []string{"ON", "1"}, "failover compares transactions by GTID", false},
		setting{"log_replica_updates", []string{"ON", "1"}, "a replica must be able to become the primary", false},
		setting{"binlog_order_commits", []string{"ON", "1"}, "moving partitions reads transactions in the order of their commits", false},
		setting{"binlog_row_value_options", []string{""}, "moving partitions reads whole JSON values", false},
		setting{"performance_schema", []string{"ON", "1"}, "deadlocks over node groups are found there", false},
		setting{"sql_generate_invisible_primary_key", []string{"OFF", "0"}, "Skarv makes the hidden keys, and copies of tables have none", true},
		setting{"init_connect", []string{""}, "Skarv's connections, for clients' statements, begin as the server's settings say", true},
		setting{"xa_detach_on_prepare", []string{"ON", "1"}, "another connection must be able to finish a prepared transaction", true},
	)
}

// alike are the variables in which all servers of a cluster must agree, and why.
func alike() []setting {
	return []setting{
		{name: "lower_case_table_names", why: "the servers would read names of tables differently"},
		{name: "character_set_server", why: "new databases would get different character sets"},
		{name: "collation_server", why: "new databases would get different collations"},
		{name: "effective_time_zone", why: "TIMESTAMP values would be shown differently"},
		{name: "explicit_defaults_for_timestamp", why: "TIMESTAMP columns would get different defaults"},
		{name: "innodb_page_size", why: "the servers would allow different row and key lengths"},
		{name: "ft_min_word_len", why: "full-text search would find different rows"},
		{name: "innodb_ft_min_token_size", why: "full-text search would find different rows"},
		{name: "sql_mode", why: "statements would be read differently"},
		{name: "transaction_isolation", why: "transactions would see different rows"},
		{name: "tx_isolation", why: "transactions would see different rows"},
		{name: "innodb_lock_wait_timeout", why: "statements would wait for rows for different times"},
		{name: "default_storage_engine", why: "new tables would get different storage engines"},
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if strings.EqualFold(x, s) {
			return true
		}
	}
	return false
}
