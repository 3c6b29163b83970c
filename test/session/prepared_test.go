package session

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	ten  = 10 * time.Second
	tick = 20 * time.Millisecond
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
