package session

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
	"skarv/test/cluster"
)

const (
	patience = time.Minute // for what must happen; nothing in a passing run takes it
	tick     = 20 * time.Millisecond
)

func TestPreparedStatements(t *testing.T) {
	c := connect(t)
	t.Run("of a table on one group", func(t *testing.T) {
		for range 4 {
			connect(t).get("SELECT * FROM single WHERE id = ?", 1)
		}
	})
	t.Run("SET after USE keeps its values", func(t *testing.T) {
		st, err := c.PrepareContext(context.Background(), "SET @kept = ?")
		require.NoError(t, err)
		defer st.Close()
		c.exec("USE secret")
		_, err = st.Exec("k")
		require.NoError(t, err)
		require.Equal(t, "k", c.get("SELECT @kept"))
		require.Equal(t, "secret", c.get("SELECT DATABASE()"))
		c.exec("USE d")
	})
	t.Run("read as they were when prepared", func(t *testing.T) {
		st, err := c.PrepareContext(context.Background(), `SELECT "v1", v FROM t WHERE id = ? AND v <> "x"`)
		require.NoError(t, err)
		defer st.Close()
		c.exec("SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')")
		var a, b string
		require.NoError(t, st.QueryRow(1).Scan(&a, &b))
		require.Equal(t, "v1", a)
		c.exec("SET sql_mode = DEFAULT")
	})
	t.Run("after ALTER TABLE", func(t *testing.T) {
		c.exec("CREATE TABLE alt (id INT PRIMARY KEY, a INT)")
		c.exec("INSERT INTO alt VALUES (1, 2)")
		st, err := c.PrepareContext(context.Background(), "SELECT * FROM alt WHERE id = ?")
		require.NoError(t, err)
		defer st.Close()
		rows, err := st.Query(1)
		require.NoError(t, err)
		rows.Close()
		connect(t).exec("ALTER TABLE alt ADD COLUMN b VARCHAR(10) DEFAULT 'bb'")
		var id, a int
		var b string
		require.NoError(t, st.QueryRow(1).Scan(&id, &a, &b))
		require.Equal(t, "bb", b)
		c.exec("DROP TABLE alt")
	})
	t.Run("SHOW with a parameter", func(t *testing.T) {
		require.Equal(t, "secret", c.get("SHOW DATABASES LIKE ?", "secret"))
	})
	t.Run("large parameters", func(t *testing.T) {
		big := make([]byte, 17<<20)
		for i := range big {
			big[i] = byte('a' + i%26)
		}
		for i := range 2 {
			require.Equal(t, fmt.Sprint(len(big)+i), c.get("SELECT LENGTH(?) + ?", big, i))
		}
	})
}

func TestPreparedText(t *testing.T) {
	c := connect(t)
	c.exec("PREPARE one FROM 'SELECT v FROM t WHERE id = ?'")
	for id := 1; id <= 20; id++ { // in all node groups
		c.exec(fmt.Sprintf("SET @id = %d", id))
		require.Equal(t, fmt.Sprintf("v%d", id), c.get("EXECUTE one USING @id"))
	}
	c.exec("PREPARE one FROM 'SELECT COUNT(*) FROM t WHERE id > ?'")
	require.Equal(t, "80", c.get("EXECUTE one USING @id"))
	connect(t).fails(1243, "EXECUTE one USING @id")
	c.fails(1210, "EXECUTE one")
	c.fails(1243, "DEALLOCATE PREPARE two")
	c.fails(1064, "PREPARE one FROM 'SELEC 1'")
	c.fails(1243, "EXECUTE one USING @id")
}

// A parameter is a string in the character set of the client: also where Skarv writes it into a statement of its own, which cannot take
// the bytes for UTF-8.
func TestParametersInOneByteCharset(t *testing.T) {
	const e, hex = "\xe9", "C3A9"
	c := connect(t)
	c.exec("CREATE TABLE latin (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(50) CHARACTER SET utf8mb4, k VARCHAR(50) CHARACTER SET cp1251)")
	c.exec("CREATE TABLE latin2 (id INT PRIMARY KEY, s VARCHAR(50) CHARACTER SET utf8mb4)")
	c.exec("CREATE TABLE latinlog (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(50) CHARACTER SET utf8mb4)")
	c.exec("CREATE TRIGGER latin2_log AFTER INSERT ON latin2 FOR EACH ROW INSERT INTO latinlog (s) VALUES (NEW.s)")
	defer c.exec("DROP TABLE latin, latin2, latinlog")
	c.exec("SET NAMES latin1")
	t.Run("a row that gets its number", func(t *testing.T) {
		c.exec("INSERT INTO latin (s) VALUES (?)", e)
		require.Equal(t, hex, c.get("SELECT HEX(s) FROM latin WHERE s = ?", e))
	})
	t.Run("rows of several node groups", func(t *testing.T) {
		c.exec("INSERT INTO latin (id, s) VALUES (?, ?), (?, ?), (?, ?)", 101, e, 102, "'\\"+e, 103, e)
		require.Equal(t, hex+",275C"+hex+","+hex, c.get("SELECT GROUP_CONCAT(HEX(s) ORDER BY id) FROM latin WHERE id > 100"))
	})
	t.Run("of another character set than the column's", func(t *testing.T) {
		c.exec("SET NAMES koi8r")
		c.exec("INSERT INTO latin (id, k) VALUES (?, ?), (?, ?)", 201, "\xc1", 202, "\xc2")
		require.Equal(t, "E0,E1", c.get("SELECT GROUP_CONCAT(HEX(k) ORDER BY id) FROM latin WHERE id > 200"))
		c.exec("SET NAMES latin1")
	})
	t.Run("rows read and written", func(t *testing.T) {
		c.exec("INSERT INTO latin (s) SELECT CONCAT(?, s) FROM latin WHERE id IN (101, 103)", e)
		require.Equal(t, "2", c.get("SELECT COUNT(*) FROM latin WHERE s = ?", e+e))
		c.exec("UPDATE latin SET s = CONCAT(s, ?) WHERE s IN (SELECT s FROM (SELECT MAX(s) AS s FROM latin WHERE s = ?) AS m)", "x", e+e)
		require.Equal(t, "2", c.get("SELECT COUNT(*) FROM latin WHERE s = ?", e+e+"x"))
	})
	t.Run("copies", func(t *testing.T) {
		require.Equal(t, hex+hex, c.get("SELECT HEX(CONCAT(?, MAX(a.s))) FROM latin a JOIN latin b ON a.s = b.s AND a.id < b.id WHERE a.s = ?", e, e))
	})
	t.Run("row by row", func(t *testing.T) {
		c.exec("INSERT INTO latin2 VALUES (?, ?), (?, ?)", 1, e, 2, e)
		require.Equal(t, hex+","+hex, c.get("SELECT GROUP_CONCAT(HEX(s)) FROM latin2"))
		require.Equal(t, hex+","+hex, c.get("SELECT GROUP_CONCAT(HEX(s)) FROM latinlog"))
	})
}

// What MySQL keeps of the types of parameters is that of the client's statement, and of no other client's.
func TestTypesOfParameters(t *testing.T) {
	if cluster.TestEngine() != datanode.MySQL {
		t.Skip("MariaDB keeps none")
	}
	ctx := t.Context()
	for _, text := range []string{"SELECT COUNT(*) FROM t WHERE v = ?", "SELECT COUNT(*) FROM t WHERE v = ? AND id = 5"} {
		c := connect(t)
		st, err := c.PrepareContext(ctx, text)
		require.NoError(t, err)
		var n int
		require.NoError(t, st.QueryRowContext(ctx, "v5").Scan(&n))
		require.Equal(t, 1, n)
		require.NoError(t, st.QueryRowContext(ctx, 5).Scan(&n))
		require.Zero(t, n)
		require.NoError(t, st.QueryRowContext(ctx, "07").Scan(&n))
		require.Zero(t, n)
		err = st.QueryRowContext(ctx, "v5").Scan(&n)
		require.ErrorContains(t, err, "1235", "as a number it is 0, and every v is")
		require.NoError(t, st.QueryRowContext(ctx, nil).Scan(&n))
		require.Equal(t, "1", connect(t).get(text, "v5"))
		again, err := c.PrepareContext(ctx, text)
		require.NoError(t, err)
		require.NoError(t, again.QueryRowContext(ctx, "v5").Scan(&n))
		require.Equal(t, 1, n)
		require.NoError(t, st.Close())
		require.NoError(t, again.Close())
	}
}

// In place of an id 0xFFFFFFFF is, on MariaDB, the last statement prepared.
func TestLastPreparedAsOneServer(t *testing.T) {
	const last = "\xff\xff\xff\xff"
	execute := func(id string) string {
		return id + "\x00\x01\x00\x00\x00\x00\x01\x08\x00\x05\x00\x00\x00\x00\x00\x00\x00"
	}
	one, many := besideServer(t, 0)
	var answers [2][]string
	for i, r := range []raw{one, many} {
		var id string // of the last prepared
		send := func(cmd wire.Command, body string) {
			sum, answer := r.command(cmd, []byte(body))
			if cmd == wire.ComStmtPrepare && !sum.Failed() {
				id = string(answer[wire.HeaderLen+1:][:4])
				answer = nil // it shows the id
			}
			answers[i] = append(answers[i], fmt.Sprintf("%d: %q", cmd, answer))
		}
		send(wire.ComStmtExecute, execute(last))
		send(wire.ComStmtSendLongData, last+"\x00\x00x")
		for _, cmd := range []wire.Command{wire.ComStmtReset, wire.ComStmtFetch} {
			send(cmd, last+"\x05\x00\x00\x00")
		}
		send(wire.ComStmtPrepare, "SELECT ? + 1")
		first := id
		send(wire.ComStmtExecute, execute(last))
		send(wire.ComQuery, "SELECT 1")
		send(wire.ComStmtExecute, execute(last))
		send(wire.ComStmtPrepare, "SELECT CONCAT(?, 'd')")
		send(wire.ComStmtSendLongData, last+"\x00\x00abc")
		send(wire.ComStmtExecute, last+"\x00\x01\x00\x00\x00\x00\x01\xfc\x00")
		send(wire.ComStmtReset, last)
		send(wire.ComStmtPrepare, "SELECT ? + 2 UNION ALL SELECT 4 UNION ALL SELECT 5")
		send(wire.ComStmtExecute, execute(first))
		send(wire.ComStmtExecute, execute(last))
		send(wire.ComStmtExecute, last+"\x01"+execute(last)[5:])
		send(wire.ComStmtFetch, last+"\x02\x00\x00\x00")
		send(wire.ComStmtFetch, id+"\x02\x00\x00\x00")
		send(wire.ComQuery, "PREPARE named FROM 'SELECT nothing'")
		send(wire.ComStmtExecute, execute(last))
		send(wire.ComStmtClose, first)
		send(wire.ComStmtExecute, execute(last))
		send(wire.ComStmtPrepare, "SELECT nothing")
		send(wire.ComStmtExecute, execute(last))
		send(wire.ComStmtReset, last)
		send(wire.ComStmtPrepare, "SELECT ? + 3")
		send(wire.ComStmtClose, last)
		send(wire.ComStmtExecute, execute(last))
		send(wire.ComStmtPrepare, "SELECT ? + 4")
		send(wire.ComStmtPrepare, "SELEC ?")
		send(wire.ComStmtExecute, execute(last))
		send(wire.ComStmtPrepare, "SELECT ? + 5")
		send(wire.ComResetConnection, "")
		send(wire.ComStmtExecute, execute(last))
	}
	require.Equal(t, answers[0], answers[1])
}

// Who executes the last statement prepared may do so before it knows that it is.
func TestExecuteBehindPrepare(t *testing.T) {
	if cluster.TestEngine() != datanode.MariaDB {
		t.Skip("MySQL takes an id only")
	}
	r := packetLogin(t, 0)
	execute := []byte("\xff\xff\xff\xff\x00\x01\x00\x00\x00\x00\x01\x08\x00\x05\x00\x00\x00\x00\x00\x00\x00")
	for _, sql := range []string{"SELECT v FROM t WHERE id = ?", "SELECT nothing FROM t WHERE id = ?"} {
		both := wire.AppendCommand(wire.AppendCommand(nil, wire.ComStmtPrepare, []byte(sql)), wire.ComStmtExecute, execute)
		_, err := r.nc.Write(both)
		require.NoError(t, err)
		r.seq = 1
		fine := r.read()[0] == wire.OKHeader
		if fine {
			r.read() // the parameter
			r.read() // the column
		}
		r.seq = 1
		answer := r.read()
		if !fine {
			require.EqualValues(t, sqlerr.UnknownStatement, binary.LittleEndian.Uint16(answer[1:]), "%q", answer)
			continue
		}
		require.Equal(t, "\x01", string(answer))
		r.read()
		require.Equal(t, "\x00\x00\x02v5", string(r.read()))
		r.read()
	}
	require.Equal(t, "1", r.get("SELECT 1"))
}
