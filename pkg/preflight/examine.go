// Package preflight examines servers that are to be node groups: whether their version and settings are what Skarv needs, whether they
// agree with those of other node groups, and whether they are empty. It changes nothing on them.
package preflight

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
)

// Facts is what a server says of itself.
type Facts struct {
	Node      catalog.Node // with its version and flavor
	LowerCase int          // lower_case_table_names
	// Warnings are settings that should be changed, each with its fix behind "; ".
	Warnings []string

	vars    map[string]string
	servers schema.Dialer
}

// fewConnections are less than two Skarv processes, with settings as they are by default, and an administrator want of a server.
const fewConnections = 600

// Examine connects to a server, which messages say is group's, and checks that it is fit to be a primary, apart from what it holds.
func Examine(ctx context.Context, servers schema.Dialer, group string, node catalog.Node) (*Facts, error) {
	return examine(ctx, servers, group, node, func(s setting) (asked, required bool) { return true, s.required })
}

// ExamineReplica is Examine for a replica that is to become the primary: it may be read-only, but must log what it applies, by GTID.
func ExamineReplica(ctx context.Context, servers schema.Dialer, group string, node catalog.Node) (*Facts, error) {
	return examine(ctx, servers, group, node, func(s setting) (asked, required bool) {
		return s.name != "read_only", s.required || contains([]string{"log_bin", "gtid_mode", "log_slave_updates", "log_replica_updates"}, s.name)
	})
}

// examine is Examine for the settings that ask chooses.
func examine(ctx context.Context, servers schema.Dialer, group string, node catalog.Node, ask func(setting) (asked, required bool)) (*Facts, error) {
	s, err := servers.Dial(ctx, group, node)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	f := &Facts{Node: node, vars: map[string]string{}, servers: servers}
	var comment string
	err = s.Rows(ctx, func(r *sql.Rows) error { return r.Scan(&f.Node.Version, &comment) }, "SELECT VERSION(), @@version_comment")
	if err != nil {
		return nil, err
	}
	err = s.Rows(ctx, func(r *sql.Rows) error {
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
	f.LowerCase, _ = strconv.Atoi(f.vars["lower_case_table_names"]) // not a number: 0, and agrees compares the text
	f.Node.Flavor = catalog.MySQL
	if strings.Contains(strings.ToLower(f.Node.Version+" "+comment), "mariadb") {
		f.Node.Flavor = catalog.MariaDB
	}
	if err := f.supported(); err != nil {
		return nil, err
	}
	var wrong []string
	if _, err := s.Exec(ctx, "XA RECOVER"); err != nil {
		wrong = append(wrong, fmt.Sprintf("server %s: account %s may not list prepared transactions (%v), which transactions over several node groups need: GRANT XA_RECOVER_ADMIN ON *.* TO it",
			node.Addr, node.User, err))
	}
	if f.Node.Flavor == catalog.MariaDB {
		unbound := false
		if err := s.Rows(ctx, func(r *sql.Rows) error {
			var grants string
			err := r.Scan(&grants)
			unbound = unbound || strings.Contains(grants, "ALL PRIVILEGES ON *.*") || strings.Contains(grants, "READ ONLY ADMIN")
			return err
		}, "SHOW GRANTS"); err != nil {
			return nil, err
		}
		if unbound {
			f.Warnings = append(f.Warnings, fmt.Sprintf("server %s: account %s may write while read_only is set: a schema change could be made on a server that has been replaced; REVOKE READ ONLY ADMIN ON *.* FROM it",
				node.Addr, node.User))
		}
	}
	for _, want := range settingsOf(f.Node.Flavor) {
		got, known := f.vars[want.name]
		asked, required := ask(want)
		if !asked || !known || contains(want.want, got) {
			continue
		}
		text := fmt.Sprintf("server %s: %s is %s, should be %s: %s; set %s=%s in its configuration file", node.Addr,
			want.name, got, want.want[0], want.why, want.name, want.want[0])
		if required {
			wrong = append(wrong, text)
		} else {
			f.Warnings = append(f.Warnings, text)
		}
	}
	if n, err := strconv.Atoi(f.vars["max_connections"]); err == nil && n < fewConnections {
		f.Warnings = append(f.Warnings, fmt.Sprintf("server %s: max_connections is %d, should be %d or more: each Skarv process may use backend.max_connections of them (256 if that is not set), and some more; set max_connections=%d in its configuration file",
			node.Addr, n, fewConnections, 4*fewConnections))
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return f, nil
}

// supported refuses versions that cannot do what Skarv needs of them.
func (f *Facts) supported() error {
	v := ddl.VersionNumber(f.Node.Version)
	lowest, name := 80029, "MySQL 8.0.29"
	if f.Node.Flavor == catalog.MariaDB {
		lowest, name = 101100, "MariaDB 10.11"
	}
	if v < lowest {
		return fmt.Errorf("server %s runs version %s: the oldest supported is %s", f.Node.Addr, f.Node.Version, name)
	}
	return nil
}

// Agrees refuses a server that would give other answers than f's.
func (f *Facts) Agrees(g *Facts) error {
	if f.Node.Flavor != g.Node.Flavor {
		return fmt.Errorf("server %s is %s and server %s is %s: a cluster does not mix them",
			f.Node.Addr, f.Node.Flavor, g.Node.Addr, g.Node.Flavor)
	}
	for _, a := range alike() {
		if f.vars[a.name] != g.vars[a.name] {
			return fmt.Errorf("%s is %q on server %s and %q on server %s: %s; give both the same value",
				a.name, f.vars[a.name], f.Node.Addr, g.vars[a.name], g.Node.Addr, a.why)
		}
	}
	return nil
}

// LogsCascades reports whether the binary log has what foreign keys change.
func (f *Facts) LogsCascades() bool {
	return f.Node.Flavor == catalog.MySQL && f.vars["innodb_native_foreign_keys"] == "OFF"
}

// Empty refuses a server that holds tables of others, or that proxies of a cluster use: its transactions are not ours to decide.
func (f *Facts) Empty(ctx context.Context, group string) error {
	s, err := f.servers.Dial(ctx, group, f.Node)
	if err != nil {
		return err
	}
	defer s.Close()
	used, err := s.One(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+catalog.OwnDB+"' AND table_name = 'slot'")
	if err == nil && used != "" {
		used, err = s.One(ctx, "SELECT n FROM "+catalog.OwnDB+".slot LIMIT 1")
	}
	if err != nil {
		return err
	}
	if used != "" {
		return fmt.Errorf("server %s belongs to a cluster already, or did: take another server, or, if that cluster is gone, DROP DATABASE %s there",
			f.Node.Addr, catalog.OwnDB)
	}
	var found []string
	err = s.Rows(ctx, func(r *sql.Rows) error {
		var db, name string
		if err := r.Scan(&db, &name); err != nil {
			return err
		}
		found = append(found, db+"."+name)
		return nil
	}, "SELECT table_schema, table_name FROM information_schema.tables WHERE "+schema.NotSystem("table_schema")+" ORDER BY 1, 2 LIMIT 6")
	if err != nil || len(found) == 0 {
		return err
	}
	if len(found) > 5 {
		found[5] = "..."
	}
	return fmt.Errorf("server %s holds tables already (%s): take a server without tables, and load the data through Skarv (a new cluster can begin with such a server: skarvctl import)",
		f.Node.Addr, strings.Join(found, ", "))
}

// Distinct refuses servers that are one and the same under several addresses. All of them are connected to at the same time.
func Distinct(ctx context.Context, servers schema.Dialer, nodes []catalog.Node) error {
	all := make([]*schema.Server, len(nodes))
	defer func() {
		for _, s := range all {
			if s != nil {
				s.Close()
			}
		}
	}()
	lock := "skarv_" + rand.Text()
	var held []string
	for i, node := range nodes {
		s, err := servers.Dial(ctx, node.Addr, node)
		if err != nil {
			return err
		}
		all[i] = s
		held = append(held, fmt.Sprintf("'%s_%d'", lock, i))
		if _, err := s.Exec(ctx, "DO GET_LOCK("+held[i]+", 0)"); err != nil {
			return err
		}
	}
	// A lock that is held here through another connection was taken on this very server.
	for i, s := range all {
		if i == 0 {
			continue
		}
		at := ""
		for j, name := range held[:i] {
			at += fmt.Sprintf(" WHEN IS_USED_LOCK(%s) IS NOT NULL THEN %d", name, j)
		}
		same, err := s.One(ctx, "SELECT CASE"+at+" END")
		if err != nil {
			return err
		}
		if j, err := strconv.Atoi(same); err == nil {
			return fmt.Errorf("%s and %s are one and the same server: every node group needs its own", nodes[j].Addr, nodes[i].Addr)
		}
	}
	return nil
}
