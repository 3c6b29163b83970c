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
