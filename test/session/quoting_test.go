package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// What clients name is data in the statements Skarv makes of it, whatever the name contains and whatever sql_mode the session has.
func TestNamesWithQuotes(t *testing.T) {
	t.Run("an event in a database whose name ends in a backslash", func(t *testing.T) {
		c := connect(t)
		c.exec("CREATE DATABASE `back\\`")
		defer c.exec("DROP DATABASE `back\\`")
		event := "`back\\`.` OR event_name > '' -- x`"
		c.exec("CREATE EVENT " + event + " ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO SET @a = 1")
		require.Contains(t, c.get("SHOW CREATE EVENT "+event), "STARTS '2037-01-01 00:00:00'")
		c.exec("ALTER EVENT " + event + " DISABLE")
		require.Equal(t, ` OR event_name > '' -- x,DISABLED,root@%`, c.get(`SELECT event_name, status, definer FROM information_schema.events WHERE event_schema = 'back\\'`))
		c.exec("ALTER EVENT " + event + " RENAME TO `back\\`.`'`")
		c.exec("DROP EVENT `back\\`.`'`")
	})
	t.Run("a variable whose value ends in a backslash", func(t *testing.T) {
		any := "default_master_connection"
		if cluster.TestEngine() == datanode.MySQL {
			any = "session_track_system_variables"
		}
		c := connect(t)
		c.exec("SET " + any + ` = '\\'`)
		c.exec("SET @`', @made := (SELECT 1) -- x` = 1")
		for range 2 { // connections are given the state anew
			require.Equal(t, `\,unmade,1`, c.get("SELECT DISTINCT @@"+any+", COALESCE(@made, 'unmade'), @`', @made := (SELECT 1) -- x` FROM t"))
			c.exec("SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
		}
		if cluster.TestEngine() == datanode.MariaDB {
			c.exec("PREPARE p FROM 'SELECT ?'")
			require.Equal(t, `\`, c.get("EXECUTE p USING @@"+any))
		}
	})
	t.Run("an account whose name has a backslash before a quote", func(t *testing.T) {
		name := `back\'`
		_, err := adminv1.NewAdminClient(shared.Admin(t)).PutUser(t.Context(), &adminv1.PutUserRequest{
			Name: name, Mode: adminv1.PutUserRequest_MODE_ADD,
			Plugin: "mysql_native_password", AuthString: wire.HashNative("pw"),
			Grants: map[string]string{"d": "read"},
		})
		require.NoError(t, err)
		dsn := name + ":pw@tcp(" + shared.Addr() + ")/d"
		require.Eventually(t, func() bool { return ping(dsn) == nil }, patience, tick)
		c := connectTo(t, dsn)
		require.Equal(t, name+"@%,2", c.get("SELECT CURRENT_USER(), 2"))
		require.Equal(t, name+"@localhost,2", c.get("SELECT USER(), 2"))
		c.exec("SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
		require.Equal(t, name+"@%", c.get("SELECT CURRENT_USER()"))
		require.Equal(t, name, c.get("SELECT user FROM information_schema.processlist WHERE id = CONNECTION_ID()"))
	})
}
