package session

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

func TestCall(t *testing.T) {
	c := connect(t)
	c.exec("CREATE PROCEDURE byid(IN k INT, OUT n INT) BEGIN SELECT v FROM t WHERE id = k; SET n = k * 2; END")
	c.exec("CREATE PROCEDURE forever() BEGIN DECLARE i INT DEFAULT 0; WHILE i >= 0 DO SET i = (i + 1) MOD 1000; END WHILE; END")
	c.exec("CREATE PROCEDURE empties() BEGIN DELETE FROM t; END")

	t.Run("with parameters", func(t *testing.T) {
		for k := 1; k < 4; k++ {
			rows, err := c.QueryContext(t.Context(), "CALL byid(?, @n)", k)
			require.NoError(t, err)
			var v string
			require.True(t, rows.Next())
			require.NoError(t, rows.Scan(&v))
			require.NoError(t, rows.Close())
			require.Equal(t, fmt.Sprint("v", k), v)
			require.Equal(t, fmt.Sprint(2*k), c.get("SELECT @n"))
		}
	})
	t.Run("OUT parameters of a prepared CALL come as a result", func(t *testing.T) {
		r, err := mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: shared.Addr(), User: "root", DB: "d", Caps: wire.CapMultiResults | wire.CapPSMultiResults})
		require.NoError(t, err)
		defer r.Close()
		st, err := r.Prepare([]byte("CALL byid(?, ?)"))
		require.NoError(t, err)
		body := binary.LittleEndian.AppendUint32(nil, st.ID)
		body = append(body, 0, 1, 0, 0, 0, 0, 1, byte(sqltypes.TypeLongLong), 0, byte(sqltypes.TypeLongLong), 0)
		body = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(body, 7), 0)
		require.NoError(t, r.Send(wire.ComStmtExecute, body))
		var got []string
		for more := true; more; more = r.MoreResults() {
			head, err := r.ReadHead()
			require.NoError(t, err)
			for len(head.Columns) > 0 {
				row, err := r.ReadRow()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				got = append(got, fmt.Sprintf("%s %q", head.Columns[0].Name, row))
			}
			if r.EndStatus().Status.Has(wire.StatusPSOutParams) {
				got = append(got, "OUT")
			}
		}
		require.Equal(t, []string{`v "\x00\x00\x02v7"`, `n "\x00\x00\x0e\x00\x00\x00"`, "OUT"}, got)
		c.fails(1414, "CALL byid(7, 8)")
	})
	t.Run("many at a time", func(t *testing.T) {
		var g errgroup.Group
		for w := range 8 {
			c := connect(t)
			g.Go(func() error {
				for k := range 10 {
					if _, err := c.try(fmt.Sprintf("CALL byid(%d, @n)", w*10+k+1)); err != nil {
						return err
					}
					if n, err := c.try("SELECT @n"); err != nil || n != fmt.Sprint(2*(w*10+k+1)) {
						return fmt.Errorf("@n is %s: %w", n, err)
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
	})
	t.Run("KILL QUERY ends a loop", func(t *testing.T) {
		id := c.get("SELECT CONNECTION_ID()")
		ended := make(chan error, 1)
		go func() {
			_, err := c.try("CALL forever()")
			ended <- err
		}()
		k := connect(t)
		require.Eventually(t, func() bool { return strings.Contains(k.get("SHOW PROCESSLIST"), "forever") }, patience, tick)
		k.exec("KILL QUERY " + id)
		require.ErrorContains(t, <-ended, "1317")
		require.Equal(t, "1", c.get("SELECT 1"))
	})
	t.Run("the connection with its variables is lost", func(t *testing.T) {
		d := connect(t)
		ended := make(chan error, 1)
		go func() {
			_, err := d.try("CALL forever()")
			ended <- err
		}()
		require.Eventually(t, func() bool {
			for g := 1; g <= 4; g++ {
				db := shared.NodeGroupDB(t, g, "")
				rows, err := db.QueryContext(context.Background(), "SELECT id FROM information_schema.processlist WHERE info LIKE 'UPDATE `_skarv`.`program%'")
				if err != nil {
					continue
				}
				for rows.Next() {
					var id string
					if rows.Scan(&id) == nil {
						_, _ = db.ExecContext(context.Background(), "KILL "+id)
					}
				}
				_ = rows.Close()
				_ = db.Close()
			}
			select {
			case err := <-ended:
				require.ErrorContains(t, err, "1430")
				return true
			default:
				return false
			}
		}, patience, tick)
		require.Equal(t, "1", d.get("SELECT 1"))
	})
	require.Equal(t, "100", c.get("SELECT COUNT(*) FROM t"))
	c.exec("DROP PROCEDURE byid")
	c.fails(1305, "CALL byid(1, @n)")
}
