package control

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
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
		setting{"performance_schema", []string{"ON", "1"}, "deadlocks over node groups are found there", false},
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
		{name: "default_storage_engine", why: "new tables would get different storage engines"},
	}
}

// examineServer connects to a server and checks that it is fit, apart from what it holds.
func examineServer(ctx context.Context, spec GroupSpec) (*facts, error) {
	s, err := dial(ctx, spec.Name, spec.Primary)
	if err != nil {
		return nil, err
	}
	defer s.close()
	f := &facts{spec: spec, vars: map[string]string{}}
	var comment string
	err = s.rows(ctx, func(r *sql.Rows) error { return r.Scan(&f.version, &comment) }, "SELECT VERSION(), @@version_comment")
	if err != nil {
		return nil, err
	}
	err = s.rows(ctx, func(r *sql.Rows) error {
		var name, value string
		if err := r.Scan(&name, &value); err != nil {
			return err
		}
		f.vars[strings.ToLower(name)] = value
		return nil
	}, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, err
	}
	f.vars["effective_time_zone"] = f.vars["time_zone"]
	if f.vars["time_zone"] == "SYSTEM" {
		f.vars["effective_time_zone"] = "SYSTEM " + f.vars["system_time_zone"]
	}
	f.lowerCase, _ = strconv.Atoi(f.vars["lower_case_table_names"]) // not a number: 0, and agrees compares the text
	f.flavor = catalog.MySQL
	if strings.Contains(strings.ToLower(f.version+" "+comment), "mariadb") {
		f.flavor = catalog.MariaDB
	}
	if err := f.supported(); err != nil {
		return nil, err
	}
	var wrong []string
	if _, err := s.exec(ctx, "XA RECOVER"); err != nil {
		wrong = append(wrong, fmt.Sprintf("server %s: account %s may not list prepared transactions (%v), which transactions over several node groups need: GRANT XA_RECOVER_ADMIN ON *.* TO it",
			spec.Primary.Addr, spec.Primary.User, err))
	}
	for _, want := range settingsOf(f.flavor) {
		got, known := f.vars[want.name]
		if !known || contains(want.want, got) {
			continue
		}
		text := fmt.Sprintf("server %s: %s is %s, should be %s: %s; set %s=%s in its configuration file", spec.Primary.Addr,
			want.name, got, want.want[0], want.why, want.name, want.want[0])
		if want.required {
			wrong = append(wrong, text)
		} else {
			f.warnings = append(f.warnings, text)
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return f, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if strings.EqualFold(x, s) {
			return true
		}
	}
	return false
}

// supported refuses versions that cannot do what Skarv needs of them.
func (f *facts) supported() error {
	v := versionNumber(f.version)
	lowest, name := 80029, "MySQL 8.0.29"
	if f.flavor == catalog.MariaDB {
		lowest, name = 101100, "MariaDB 10.11"
	}
	if v < lowest {
		return fmt.Errorf("server %s runs version %s: the oldest supported is %s", f.spec.Primary.Addr, f.version, name)
	}
	return nil
}

// agrees refuses a server that would give other answers than f's.
func (f *facts) agrees(g *facts) error {
	if f.flavor != g.flavor {
		return fmt.Errorf("server %s is %s and server %s is %s: a cluster does not mix them",
			f.spec.Primary.Addr, f.flavor, g.spec.Primary.Addr, g.flavor)
	}
	for _, a := range alike() {
		if f.vars[a.name] != g.vars[a.name] {
			return fmt.Errorf("%s is %q on server %s and %q on server %s: %s; give both the same value",
				a.name, f.vars[a.name], f.spec.Primary.Addr, g.vars[a.name], g.spec.Primary.Addr, a.why)
		}
	}
	return nil
}
