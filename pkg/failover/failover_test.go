package failover

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

func TestReplication(t *testing.T) {
	row := func(fields ...string) (cols []sqltypes.Column, values [][]byte) {
		for i := 0; i < len(fields); i += 2 {
			cols = append(cols, sqltypes.Column{Name: fields[i]})
			values = append(values, []byte(fields[i+1]))
		}
		return cols, values
	}
	// As MariaDB 10.11 and MySQL 9.7 name their columns.
	require.Equal(t, &Replication{Source: "10.0.0.1:3306", SourceID: "7", Receives: true, Applies: true, Received: "0-7-12", GTID: true}, replication(row(
		"Slave_IO_State", "Waiting for master to send event", "Master_Host", "10.0.0.1", "Master_Port", "3306", "Slave_IO_Running", "Yes", "Slave_SQL_Running", "Yes",
		"Replicate_Do_DB", "", "Replicate_Ignore_Server_Ids", "3", "Last_IO_Error", "", "Last_SQL_Error", "", "Master_Server_Id", "7", "Using_Gtid", "Slave_Pos", "Gtid_IO_Pos", "0-7-12")))
	require.Equal(t, &Replication{Source: "10.0.0.1:3306", SourceID: "a-b", Applies: false, Received: "a-b:1-12", Filters: true, Error: "no route applies not"}, replication(row(
		"Source_Host", "10.0.0.1", "Source_Port", "3306", "Replica_IO_Running", "Connecting", "Replica_SQL_Running", "No", "Replicate_Ignore_Table", "d.t",
		"Last_IO_Error", "no route", "Last_SQL_Error", "applies not", "Source_UUID", "a-b", "Auto_Position", "0", "Retrieved_Gtid_Set", "a-b:1-12")))
	cols, values := row("Using_Gtid", "No")
	require.False(t, replication(cols, values).GTID)
}

func TestLiteral(t *testing.T) {
	require.Equal(t, `'it''s a \\ here'`, literal(`it's a \ here`))
}

func TestLossless(t *testing.T) {
	primary := func() *View {
		return &View{Addr: "p:1", ID: "1", Logs: true, Durable: true, SemiSync: semiSync(map[string]string{
			"rpl_semi_sync_source_enabled": "ON", "rpl_semi_sync_source_status": "ON", "rpl_semi_sync_source_wait_point": "AFTER_SYNC", "rpl_semi_sync_source_timeout": "18446744073709551615",
			"rpl_semi_sync_source_wait_no_replica": "ON", "rpl_semi_sync_source_clients": "2", "rpl_semi_sync_source_wait_for_replica_count": "2",
		})}
	}
	replica := func(addr string) *View {
		return &View{Addr: addr, ReadOnly: true, Logs: true, SemiSync: SemiSync{Acknowledging: true}, Replication: &Replication{SourceID: "1", Receives: true, Applies: true, GTID: true}}
	}
	for why, change := range map[string]func(p, r *View, all map[string]*View){
		"": func(*View, *View, map[string]*View) {},
		"SET GLOBAL rpl_semi_sync_source_wait_point = AFTER_SYNC":     func(p, _ *View, _ map[string]*View) { p.SemiSync.AfterSync = false },
		"rpl_semi_sync_source_timeout":                                func(p, _ *View, _ map[string]*View) { p.SemiSync.Timeout = LeastAlone - 1 },
		"rpl_semi_sync_source_wait_no_replica":                        func(p, _ *View, _ map[string]*View) { p.SemiSync.WaitsWithout = false },
		"sync_binlog = 1":                                             func(p, _ *View, _ map[string]*View) { p.Durable = false },
		"no replica that is known":                                    func(_, _ *View, all map[string]*View) { clear(all) },
		"are not known to the cluster, or cannot be reached (1 of 3)": func(p, _ *View, _ map[string]*View) { p.SemiSync.Clients = 3 },
		"too few replicas acknowledge (1 of 2)":                       func(_, r *View, _ map[string]*View) { r.SemiSync.Acknowledging = false },
		"cannot be reached":                                           func(p, _ *View, all map[string]*View) { p.SemiSync.Acks, all["b:1"] = 1, nil },
		"has stopped: duplicate":                                      func(_, r *View, _ map[string]*View) { r.Replication.Error = "duplicate" },
		"from another server":                                         func(_, r *View, _ map[string]*View) { r.Replication.SourceID = "2" },
		"read_only = ON":                                              func(_, r *View, _ map[string]*View) { r.ReadOnly = false },
		"INSTALL PLUGIN":                                              func(p, _ *View, _ map[string]*View) { p.SemiSync = semiSync(map[string]string{}) },
	} {
		p, r := primary(), replica("a:1")
		all := map[string]*View{"a:1": r, "b:1": replica("b:1")}
		change(p, r, all)
		got := Lossless("mysql", p, all)
		require.Contains(t, got, why)
		require.Equal(t, why == "", got == "", got)
	}
	// Two must have acknowledged: one of them is among those that can be asked, though one cannot.
	all := map[string]*View{"a:1": replica("a:1"), "b:1": replica("b:1"), "c:1": nil}
	require.Empty(t, Lossless("mysql", primary(), all))
	// It may be that one, or another one whom nobody knows, that the primary counts.
	p := primary()
	p.SemiSync.Clients = 3
	require.Contains(t, Lossless("mysql", p, all), "or cannot be reached (1 of 3)")
}

// A replica is spared when it does not acknowledge any more, and so many of the others as the primary waits for have what that had then.
func TestSpare(t *testing.T) {
	at := func(text string) binlog.Position {
		p, err := binlog.ParsePosition(catalog.MariaDB, text)
		require.NoError(t, err)
		return p
	}
	type look struct {
		primary, leaves *View
		others          map[string]*View
		goal            binlog.Position
		force           bool
	}
	for _, c := range []struct {
		why     string
		passing bool
		change  func(l *look)
	}{
		{"", false, func(*look) {}},
		{"too few of the other replicas have received what p:1 has (0 of 1)", true, func(l *look) { l.goal = binlog.Position{} }},
		{"too few of the other replicas have received what p:1 has (0 of 1)", true, func(l *look) { l.goal = at("0-1-8") }},
		{"replica a:1 acknowledges what p:1 commits", false, func(l *look) { l.leaves.Replication.Receives, l.leaves.SemiSync.Acknowledging = true, true }},
		{"or, if it is to go on receiving, SET GLOBAL rpl_semi_sync_slave_enabled = OFF; STOP SLAVE; START SLAVE", false, func(l *look) { l.leaves.Replication.Receives, l.leaves.SemiSync.Acknowledges = true, true }},
		{"", false, func(l *look) { l.leaves.Replication.Receives = true }},
		{"", false, func(l *look) { l.leaves.Replication = nil }},
		{"without a:1 only 0 would", true, func(l *look) { l.others["b:1"] = nil }},
		{"without a:1 only 0 would", true, func(l *look) { l.others["b:1"].SemiSync.Acknowledging = false }},
		{"without a:1 only 0 would", true, func(l *look) { l.others["b:1"].Replication.Filters = true }},
		{"without a:1 only 0 would", false, func(l *look) { clear(l.others) }},
		{"without a:1 only 1 would", false, func(l *look) { l.primary.SemiSync.Acks = 2 }},
		{"", false, func(l *look) { clear(l.others); l.primary.SemiSync.Source = false }},
		{"replica a:1 acknowledges", false, func(l *look) {
			l.primary.SemiSync.Source, l.leaves.Replication.Receives, l.leaves.SemiSync.Acknowledging = false, true, true
		}},
		{"", false, func(l *look) { l.leaves = nil }},
		{"may be connected to it: of 2 replicas that acknowledge, 1 are known", true, func(l *look) { l.leaves = nil; l.primary.SemiSync.Clients = 2 }},
		{"", false, func(l *look) { l.leaves = nil; l.primary.SemiSync.Clients, l.force = 2, true }},
		{"too few", true, func(l *look) { l.leaves = nil; l.goal, l.force = at("0-1-8"), true }},
	} {
		replica := func(addr string) *View {
			return &View{Addr: addr, Has: at("0-1-7"), Replication: &Replication{SourceID: "1", Applies: true, GTID: true}}
		}
		l := &look{primary: &View{Addr: "p:1", ID: "1", SemiSync: SemiSync{Source: true, Waits: true, Acks: 1, Clients: 1}}, leaves: replica("a:1"), others: map[string]*View{"b:1": replica("b:1")}, goal: at("0-1-7")}
		l.others["b:1"].Replication.Receives, l.others["b:1"].SemiSync.Acknowledging = true, true
		c.change(l)
		why, passing := Spare(catalog.MariaDB, l.primary, "a:1", l.leaves, l.others, l.goal, l.force)
		require.Contains(t, why, c.why)
		require.Equal(t, c.why == "", why == "", why)
		require.Equal(t, c.passing, passing, why)
	}
}

func TestHowToFollow(t *testing.T) {
	primary := catalog.Node{Addr: "10.0.0.1:3307", User: "skarv", Password: "s3cret", TLS: "required"}
	require.Equal(t, "STOP SLAVE; CHANGE MASTER TO MASTER_HOST = '10.0.0.1', MASTER_PORT = 3307, MASTER_USER = 'skarv', MASTER_PASSWORD = '...', MASTER_CONNECT_RETRY = 2, MASTER_SSL = 1, MASTER_USE_GTID = slave_pos; START SLAVE",
		HowToFollow(catalog.MariaDB, primary))
	require.Equal(t, "STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'HOST', SOURCE_PORT = 3306, SOURCE_USER = 'skarv', SOURCE_PASSWORD = '...', SOURCE_CONNECT_RETRY = 2, "+
		"SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1; START REPLICA", HowToFollow(catalog.MySQL, catalog.Node{Addr: "unix:/s", User: "skarv"}))
}
