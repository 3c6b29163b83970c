package failover

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// LeastAlone is what semi-synchronous replication's timeout must be at least: a primary that goes on by itself after it acknowledges what no
// replica has, and nobody who takes its place could know.
const LeastAlone = 24 * time.Hour

// View is what a look at a server has found of what decides whether it may be lost, or take the place of one that is.
type View struct {
	Addr, ID string
	// Replication is nil for a server that is no replica.
	Replication *Replication
	SemiSync    SemiSync
	ReadOnly    bool
	Logs        bool // has a binary log, and of others' transactions as well
	// Durable: what is acknowledged is on its disk.
	Durable bool
	// Has is what a primary has logged or a replica has got (see Got), a moment after the rest was seen.
	Has binlog.Position
	// Up is how long the server has run. One that has been started anew may have lost what it had acknowledged and not applied.
	Up time.Duration
}

// SemiSync is what a server says of semi-synchronous replication.
type SemiSync struct {
	// CanSource and CanAcknowledge: it knows the settings of a primary and of a replica, which on MySQL are plugins'.
	CanSource, CanAcknowledge bool
	// Source: as a primary it waits for replicas; now, and not only by its settings.
	Source, Waits bool
	// Acknowledges: as a replica it acknowledges what it receives; by its settings, and on its present connection.
	Acknowledges, Acknowledging bool
	AfterSync                   bool // a commit is seen by nobody before it is acknowledged
	WaitsWithout                bool // also without any replica connected
	Timeout                     time.Duration
	Acks                        int // replicas that must have acknowledged
	Clients                     int // replicas that may
}

// semiSync reads variables and status by the names of MySQL.
func semiSync(of map[string]string) SemiSync {
	has := func(name string) bool { return of["rpl_semi_sync_"+name] != "" }
	on := func(name string) bool { return of["rpl_semi_sync_"+name] == "ON" }
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(of["rpl_semi_sync_"+name]); err == nil {
			return n
		}
		return otherwise
	}
	s := SemiSync{
		CanSource: has("source_enabled"), Source: on("source_enabled"), Waits: on("source_status"), AfterSync: of["rpl_semi_sync_source_wait_point"] == "AFTER_SYNC",
		WaitsWithout: on("source_wait_no_replica"), Acks: number("source_wait_for_replica_count", 1), Clients: number("source_clients", 0),
		CanAcknowledge: has("replica_enabled"), Acknowledges: on("replica_enabled"), Acknowledging: on("replica_status"),
	}
	const most = 1 << 32 // more is for ever
	if ms, err := strconv.ParseUint(of["rpl_semi_sync_source_timeout"], 10, 64); err == nil {
		s.Timeout = time.Duration(min(ms, most)) * time.Millisecond
	}
	return s
}

// View looks at the server.
func (s *Server) View() (*View, error) {
	v := &View{Addr: s.Addr}
	var err error
	if v.ID, err = s.ID(); err != nil {
		return nil, err
	}
	if v.Replication, err = s.Replication(); err != nil {
		return nil, err
	}
	of := map[string]string{}
	for _, sql := range []string{"SHOW GLOBAL VARIABLES LIKE 'rpl_semi_sync%'", "SHOW GLOBAL STATUS WHERE variable_name LIKE 'Rpl_semi_sync%' OR variable_name = 'Uptime'"} {
		_, rows, err := s.QueryAll(sql, 1<<8)
		if err != nil {
			return nil, fmt.Errorf("server %s: %w", s.Addr, err)
		}
		for _, r := range rows {
			of[strings.NewReplacer("master", "source", "slave", "replica").Replace(strings.ToLower(string(r[0])))] = string(r[1])
		}
	}
	v.SemiSync = semiSync(of)
	up, err := strconv.Atoi(of["uptime"])
	if err != nil {
		return nil, fmt.Errorf("server %s: Uptime: %w", s.Addr, err)
	}
	v.Up = time.Duration(up) * time.Second
	logs := "log_replica_updates"
	if s.Flavor == catalog.MariaDB {
		logs = "log_slave_updates"
	}
	_, rows, err := s.QueryAll("SELECT @@global.read_only, @@global.log_bin AND @@global."+logs+", @@global.sync_binlog, @@global.innodb_flush_log_at_trx_commit", 1)
	if err != nil || len(rows) != 1 {
		return nil, fmt.Errorf("server %s: %w", s.Addr, err)
	}
	r := rows[0]
	v.ReadOnly, v.Logs, v.Durable = string(r[0]) != "0" && string(r[0]) != "OFF", string(r[1]) == "1", string(r[2]) == "1" && slices.Contains([]string{"1", "3"}, string(r[3]))
	if v.Replication == nil {
		v.Has, err = s.Position()
	} else {
		v.Has, err = s.Got()
	}
	return v, err
}

// setting is the name of a setting of semi-synchronous replication on servers of a flavor.
func setting(flavor catalog.Flavor, name string) string {
	if flavor == catalog.MariaDB {
		name = strings.NewReplacer("source", "master", "replica", "slave").Replace(name)
	}
	return "rpl_semi_sync_" + name
}

// Wait has a primary wait for its replicas, or not. A server that is made a replica must not: it would wait for replicas of its own before it
// applies anything.
func (s *Server) Wait(on bool) error {
	name := setting(s.Flavor, "source_enabled")
	err := s.run(fmt.Sprintf("SET GLOBAL %s = %d", name, map[bool]int{true: 1}[on]))
	if sqlerr.HasCode(err, sqlerr.SpecificAccessDenied) {
		return fmt.Errorf("server %s: Skarv's account may not set %s: GRANT %s ON *.* TO it", s.Addr, name,
			map[catalog.Flavor]string{catalog.MariaDB: "REPLICATION MASTER ADMIN", catalog.MySQL: "SYSTEM_VARIABLES_ADMIN"}[s.Flavor])
	}
	return err
}

// Lossless tells what must be set for a primary to be lost without anything that it has acknowledged, or returns "". replicas are all that are known,
// those that cannot be reached as nil. It does not speak of what goes with the roles of servers: that the primary waits for replicas (SemiSync.Source, Waits), and that they wait
// for none.
//
// The primary waits for acks replicas before it acknowledges, and never goes on without. Who takes its place asks so many replicas that fewer than acks are
// left: among those it asked is one that has everything.
func Lossless(flavor catalog.Flavor, primary *View, replicas map[string]*View) string {
	name := func(n string) string { return setting(flavor, n) }
	s := primary.SemiSync
	switch {
	case primary.Replication != nil:
		return primary.Addr + " is a replica itself"
	case len(replicas) == 0:
		return "it has no replica that is known: skarvctl nodegroup replica add"
	case !s.CanSource:
		return fmt.Sprintf("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so' on %s, and rpl_semi_sync_replica on its replicas", primary.Addr)
	case !s.AfterSync:
		return fmt.Sprintf("SET GLOBAL %s = AFTER_SYNC on %s", name("source_wait_point"), primary.Addr)
	case s.Timeout < LeastAlone:
		return fmt.Sprintf("SET GLOBAL %s = 4294967295 on %s: it acknowledges what no replica has after that many milliseconds; at least %d", name("source_timeout"), primary.Addr, LeastAlone.Milliseconds())
	case !s.WaitsWithout:
		return fmt.Sprintf("SET GLOBAL %s = ON on %s", name("source_wait_no_replica"), primary.Addr)
	case !primary.Logs:
		return primary.Addr + " has no binary log, or none of what it is sent (log_bin, " + map[catalog.Flavor]string{catalog.MariaDB: "log_slave_updates", catalog.MySQL: "log_replica_updates"}[flavor] + ")"
	case !primary.Durable:
		return fmt.Sprintf("SET GLOBAL sync_binlog = 1, GLOBAL innodb_flush_log_at_trx_commit = 1 on %s: when its machine stops and it comes back at once it would lack what its replicas have", primary.Addr)
	}
	ackers, silent := 0, 0
	for _, addr := range slices.Sorted(maps.Keys(replicas)) {
		v := replicas[addr]
		if v == nil {
			if silent++; silent >= s.Acks {
				return fmt.Sprintf("replica %s cannot be reached, and may be the one that has everything; if it is lost for good: skarvctl nodegroup replica remove", addr)
			}
			continue
		}
		if why := unfit(flavor, primary, v); why != "" {
			return why
		}
		if v.SemiSync.Acknowledging {
			ackers++
		}
	}
	switch {
	case ackers < s.Acks:
		return fmt.Sprintf("too few replicas acknowledge (%d of %d): SET GLOBAL %s = ON on them, then STOP REPLICA IO_THREAD; START REPLICA IO_THREAD", ackers, s.Acks, name("replica_enabled"))
	case s.Clients > ackers:
		return fmt.Sprintf("%s has replicas that acknowledge and are not known to the cluster, or cannot be reached (%d of %d): skarvctl nodegroup replica add, or SET GLOBAL %s = OFF there, then STOP REPLICA IO_THREAD; START REPLICA IO_THREAD",
			primary.Addr, s.Clients-ackers, s.Clients, name("replica_enabled"))
	}
	return ""
}

// unfit tells why a replica could not take the primary's place.
func unfit(flavor catalog.Flavor, primary, v *View) string {
	r := v.Replication
	switch {
	case r == nil:
		return v.Addr + " is no replica"
	case r.SourceID != primary.ID:
		return fmt.Sprintf("%s replicates from another server than %s", v.Addr, primary.Addr)
	case r.Error != "":
		return fmt.Sprintf("replica %s has stopped: %s", v.Addr, r.Error)
	case !r.Receives:
		return fmt.Sprintf("replica %s is not connected to the primary: START REPLICA there", v.Addr)
	case !r.Applies:
		return fmt.Sprintf("replica %s does not apply what it receives: START REPLICA there", v.Addr)
	case !r.GTID:
		return fmt.Sprintf("replica %s does not replicate by global transaction ids", v.Addr)
	case r.Filters:
		return fmt.Sprintf("replica %s leaves out databases or tables", v.Addr)
	case !v.ReadOnly:
		return fmt.Sprintf("SET GLOBAL read_only = ON on replica %s", v.Addr)
	case !v.Logs:
		return fmt.Sprintf("replica %s does not log what it applies", v.Addr)
	}
	return ""
}

// Spare tells why one of a primary's replicas may not be taken away from those that are known, or returns "": it may have acknowledged what none of the others has, or
// go on acknowledging when nobody asks it any more. v is that replica and others are those that stay, nil where they cannot be reached. goal is what the primary had when it was
// asked about the same replica before, empty the first time. passing: that may pass by itself. despite: a replica that cannot be reached is taken away though the primary may be
// connected to it.
//
// A primary that does not wait for replicas acknowledges by itself, and any may be taken away that does not acknowledge: it may begin to wait.
func Spare(flavor catalog.Flavor, primary *View, addr string, v *View, others map[string]*View, goal binlog.Position, despite bool) (why string, passing bool) {
	s := primary.SemiSync
	if v != nil && v.Replication != nil && v.Replication.SourceID == primary.ID && v.Replication.Receives && (v.SemiSync.Acknowledging || s.Source && v.SemiSync.Acknowledges) {
		return fmt.Sprintf("replica %s acknowledges what %s commits, and may be the only one that has it: STOP %s there first (or, if it is to go on receiving, SET GLOBAL %s = OFF; STOP %[3]s; START %[3]s)",
			addr, primary.Addr, role(flavor), setting(flavor, "replica_enabled")), false
	}
	if !s.Source {
		return "", false
	}
	ackers, have := 0, 0
	for _, o := range others {
		if o == nil || !o.Follows(primary) || !o.SemiSync.Acknowledging {
			continue
		}
		if ackers++; !goal.Empty() && o.Has.Covers(goal) {
			have++
		}
	}
	switch {
	case ackers < s.Acks:
		return fmt.Sprintf("%s waits for %d of its replicas to acknowledge what it commits, and without %s only %d would: name another one first (skarvctl nodegroup replica add), or, if it is not to wait, SET GLOBAL %s = OFF on %[1]s",
			primary.Addr, s.Acks, addr, ackers, setting(flavor, "source_enabled")), len(others) >= s.Acks
	case v == nil && s.Clients > ackers && !despite:
		return fmt.Sprintf("replica %s cannot be reached, and %s may be connected to it: of %d replicas that acknowledge, %d are known and answer. Stop it; if it is, KILL its connection on %[2]s (SHOW PROCESSLIST: Binlog Dump), or give --force",
			addr, primary.Addr, s.Clients, ackers), true
	case have < s.Acks:
		return fmt.Sprintf("too few of the other replicas have received what %s has (%d of %d): %s may be the only one that has it; try again when they have caught up", primary.Addr, have, s.Acks, addr), true
	}
	return "", false
}

// Follows reports whether a server receives everything from primary, and asks by global transaction ids.
func (v *View) Follows(primary *View) bool {
	r := v.Replication
	return r != nil && r.SourceID == primary.ID && r.Receives && r.GTID && !r.Filters
}
