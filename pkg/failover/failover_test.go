package failover

import (
	"testing"

	"github.com/stretchr/testify/require"

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
		"SET GLOBAL rpl_semi_sync_source_wait_point = AFTER_SYNC": func(p, _ *View, _ map[string]*View) { p.SemiSync.AfterSync = false },
		"rpl_semi_sync_source_timeout":                            func(p, _ *View, _ map[string]*View) { p.SemiSync.Timeout = LeastAlone - 1 },
		"rpl_semi_sync_source_wait_no_replica":                    func(p, _ *View, _ map[string]*View) { p.SemiSync.WaitsWithout = false },
		"Rpl_semi_sync_..._status is OFF":                         func(p, _ *View, _ map[string]*View) { p.SemiSync.Waits = false },
		"sync_binlog = 1":                                         func(p, _ *View, _ map[string]*View) { p.Durable = false },
		"no replica that is known":                                func(_, _ *View, all map[string]*View) { clear(all) },
		"are not known to the cluster (1 of 3)":                   func(p, _ *View, _ map[string]*View) { p.SemiSync.Clients = 3 },
		"too few replicas acknowledge (1 of 2)":                   func(_, r *View, _ map[string]*View) { r.SemiSync.Acknowledging = false },
		"cannot be reached":                                       func(p, _ *View, all map[string]*View) { p.SemiSync.Acks, all["b:1"] = 1, nil },
		"has stopped: duplicate":                                  func(_, r *View, _ map[string]*View) { r.Replication.Error = "duplicate" },
		"from another server":                                     func(_, r *View, _ map[string]*View) { r.Replication.SourceID = "2" },
		"read_only = ON":                                          func(_, r *View, _ map[string]*View) { r.ReadOnly = false },
		"waits for replicas of its own":                           func(_, r *View, _ map[string]*View) { r.SemiSync.Source = true },
		"INSTALL PLUGIN":                                          func(p, _ *View, _ map[string]*View) { p.SemiSync = semiSync(map[string]string{}) },
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
}
