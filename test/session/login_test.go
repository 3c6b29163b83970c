package session

import (
	"crypto/tls"
	"database/sql"
	"encoding/binary"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// packets is a client that speaks packets, for what drivers do not do: it compresses as it is told, and changes its account.
type packets struct {
	t    *testing.T
	nc   net.Conn
	seq  byte
	caps wire.Capability
	got  *atomic.Int64 // bytes from the socket
	salt []byte
}

// counted counts what is read.
type counted struct {
	net.Conn
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// packetLogin logs in as root with further capabilities.
func packetLogin(t *testing.T, caps wire.Capability) *packets {
	return packetLoginWith(t, caps|wire.CapDeprecateEOF)
}

// packetLoginWith is packetLogin without DEPRECATE_EOF, unless caps have it.
func packetLoginWith(t *testing.T, caps wire.Capability) *packets {
	nc, err := net.Dial("tcp", shared.Addr())
	require.NoError(t, err)
	require.NoError(t, nc.SetDeadline(time.Now().Add(time.Minute)))
	t.Cleanup(func() { nc.Close() })
	socket := &counted{Conn: nc}
	r := &packets{t: t, nc: socket, got: &socket.n}
	r.caps = caps | wire.CapProtocol41 | wire.CapSecureConnection | wire.CapPluginAuth | wire.CapPluginAuthLenenc | wire.CapConnectWithDB | wire.CapLongPassword
	hello, err := wire.ParseInitialHandshake(r.read())
	require.NoError(t, err)
	r.salt = append([]byte(nil), hello.Salt...)
	login := wire.HandshakeResponse{Capabilities: r.caps, User: "root", DB: "d", Plugin: wire.NativePassword, ZstdLevel: 3}
	if r.caps.Has(wire.CapSSL) {
		r.write(wire.AppendSSLRequest(nil, login))
		secure := tls.Client(r.nc, &tls.Config{InsecureSkipVerify: true})
		require.NoError(t, secure.Handshake())
		r.nc = secure
	}
	r.write(wire.AppendHandshakeResponse(nil, login))
	p := r.read()
	if plugin, _, err := wire.ParseAuthSwitch(p); err == nil && p[0] == 0xfe && plugin == wire.NativePassword {
		r.write(nil) // there is no password
		p = r.read()
	}
	require.Equal(t, byte(wire.OKHeader), p[0], "%q", p)
	switch {
	case r.caps.Has(wire.CapCompress):
		r.nc = wire.NewCompression().Zlib(r.nc)
	case r.caps.Has(wire.CapZstd):
		r.nc = wire.NewCompression().Zstd(r.nc, 3)
	}
	return r
}

func (r *packets) write(payload []byte) {
	r.t.Helper()
	_, err := r.nc.Write(wire.AppendPacket(nil, &r.seq, payload))
	require.NoError(r.t, err)
}

func (r *packets) send(cmd wire.Command, body string) {
	r.t.Helper()
	r.seq = 0
	if z, ok := r.nc.(*wire.CompressedConn); ok {
		z.ResetSequence()
	}
	r.write(append([]byte{byte(cmd)}, body...))
}

func (r *packets) read() (payload []byte) {
	r.t.Helper()
	for {
		var h [4]byte
		_, err := io.ReadFull(r.nc, h[:])
		require.NoError(r.t, err)
		n, seq := wire.Header(h[:])
		require.Equal(r.t, r.seq, seq, "sequence number")
		r.seq++
		p := make([]byte, n)
		_, err = io.ReadFull(r.nc, p)
		require.NoError(r.t, err)
		if payload = append(payload, p...); n < wire.MaxPacket {
			return payload
		}
	}
}

// get returns a result as client.get does: values joined by commas, rows by semicolons; "" of a statement without rows.
func (r *packets) get(query string) string {
	r.t.Helper()
	r.send(wire.ComQuery, query)
	head := r.read()
	if head[0] == wire.OKHeader {
		return ""
	}
	require.NotEqual(r.t, byte(0xff), head[0], "%s: %q", query, head)
	for range int(head[0]) {
		r.read()
	}
	var rows []string
	for {
		p := r.read()
		require.NotEqual(r.t, byte(0xff), p[0], "%s: %q", query, p)
		if p[0] == wire.EOFHeader && len(p) < wire.MaxPacket {
			return strings.Join(rows, ";")
		}
		fields, err := wire.ParseTextRow(p, nil)
		require.NoError(r.t, err)
		var values []string
		for _, f := range fields {
			if f == nil {
				f = []byte("NULL")
			}
			values = append(values, string(f))
		}
		rows = append(rows, strings.Join(values, ","))
	}
}

// transports are the ways in which a client may send packets.
func transports() map[string]wire.Capability {
	return map[string]wire.Capability{
		"plain": 0, "TLS": wire.CapSSL, "zlib": wire.CapCompress, "zstd": wire.CapZstd, "TLS and zstd": wire.CapSSL | wire.CapZstd,
	}
}

// COM_CHANGE_USER leaves nothing of the session, on any node group, and what follows is another account's.
func TestChangeUser(t *testing.T) {
	admin := adminv1.NewAdminClient(shared.Admin(t))
	_, err := admin.PutUser(t.Context(), &adminv1.PutUserRequest{
		Name: "changed", Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: "mysql_native_password", AuthString: wire.HashNative("pw"),
		Grants: map[string]string{"d": "write"},
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return ping("changed:pw@tcp("+shared.Addr()+")/d") == nil }, patience, tick)
	other := connect(t)
	other.exec("CREATE TABLE IF NOT EXISTS changes (id INT PRIMARY KEY)")
	for name, caps := range transports() {
		t.Run(name, func(t *testing.T) {
			r := packetLogin(t, caps)
			change := func(password string) []byte {
				r.send(wire.ComChangeUser, string(wire.AppendChangeUser(nil,
					wire.ChangeUser{User: "changed", DB: "d", Collation: 33, Plugin: wire.CachingSHA2Password}, r.caps)))
				plugin, salt, err := wire.ParseAuthSwitch(r.read())
				require.NoError(t, err)
				require.Equal(t, wire.NativePassword, plugin)
				r.write(wire.ScrambleNative(password, salt))
				return r.read()
			}
			r.get("SET @left = 1, SESSION sql_mode = '', SESSION wait_timeout = 1234")
			r.get("SELECT GET_LOCK('changing', 0)")
			r.get("CREATE TEMPORARY TABLE passing (id INT PRIMARY KEY)")
			r.get("PREPARE left_over FROM 'SELECT 1'")
			r.get("BEGIN")
			r.get("INSERT INTO changes VALUES (1), (2), (3), (4), (5), (6), (7), (8)") // on all node groups
			require.Equal(t, "8,1", r.get("SELECT COUNT(*), @left FROM changes"))

			require.Equal(t, byte(wire.OKHeader), change("pw")[0])
			require.Equal(t, "changed@%,NULL,d,1", r.get("SELECT CURRENT_USER(), @left, DATABASE(), @@autocommit"))
			require.NotEqual(t, "1234", r.get("SELECT @@wait_timeout"))
			require.NotEmpty(t, r.get("SELECT @@sql_mode"))
			require.Equal(t, "0", r.get("SELECT COUNT(*) FROM changes"), "the transaction was rolled back")
			require.Equal(t, "0", other.get("SELECT COUNT(*) FROM changes"))
			other.exec("INSERT INTO changes VALUES (1), (2), (3), (4), (5), (6), (7), (8)") // nothing is locked
			other.exec("DELETE FROM changes")
			require.Equal(t, "1", other.get("SELECT GET_LOCK('changing', 0)"))
			other.exec("DO RELEASE_LOCK('changing')")
			for _, gone := range []string{"SELECT * FROM passing", "EXECUTE left_over", "SELECT * FROM secret.s", "CREATE TABLE x (id INT PRIMARY KEY)"} {
				r.send(wire.ComQuery, gone)
				require.Equal(t, byte(0xff), r.read()[0], gone)
			}
			require.Equal(t, "100", r.get("SELECT COUNT(*) FROM t"))
			require.Equal(t, byte(0xff), change("wrong")[0])
		})
	}
}

// A database that there is not ends the connection on MySQL; on MariaDB the session is the user's, in the database of before.
func TestChangeUserToNoDatabase(t *testing.T) {
	r := packetLogin(t, 0)
	r.get("SET @left = 1")
	r.send(wire.ComChangeUser, string(wire.AppendChangeUser(nil,
		wire.ChangeUser{User: "root", DB: "nowhere", Collation: 33, Plugin: wire.NativePassword}, r.caps)))
	p := r.read()
	if p[0] == 0xfe {
		r.write(nil) // there is no password
		p = r.read()
	}
	require.Equal(t, byte(0xff), p[0], "%q", p)
	require.EqualValues(t, sqlerr.UnknownDatabase, binary.LittleEndian.Uint16(p[1:]))
	if cluster.TestEngine() == datanode.MariaDB {
		require.Equal(t, "d,1", r.get("SELECT DATABASE(), @left IS NULL"))
	}
}

// COM_CHANGE_USER with a wrong password ends the connection on MySQL. On MariaDB the session goes on as the user's, but for what was its own;
// after three times the server does not know the command any more.
func TestChangeUserInVain(t *testing.T) {
	r := packetLogin(t, 0)
	r.get("SET NAMES latin1")
	r.get("CREATE TEMPORARY TABLE passing (id INT PRIMARY KEY)")
	var code uint16
	for i := range 5 {
		r.get("SET @left = 1, autocommit = 0")
		r.send(wire.ComChangeUser, string(wire.AppendChangeUser(nil,
			wire.ChangeUser{User: "nobodyatall", DB: "secret", Collation: 33, Plugin: wire.NativePassword}, r.caps)))
		p := r.read()
		if p[0] == wire.EOFHeader {
			r.write(nil)
			p = r.read()
		}
		require.Equal(t, byte(0xff), p[0], "%q", p)
		code = binary.LittleEndian.Uint16(p[1:])
		if cluster.TestEngine() == datanode.MySQL {
			_, err := r.nc.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
			break
		}
		require.Equal(t, i >= 3, code == uint16(sqlerr.UnknownCommand), "%q", p)
		require.Equal(t, "root@%,d,1,1,latin1", r.get("SELECT CURRENT_USER(), DATABASE(), @left IS NULL, @@autocommit, @@character_set_client"))
		r.send(wire.ComQuery, "SELECT * FROM passing")
		require.Equal(t, byte(0xff), r.read()[0])
	}
	if cluster.TestEngine() == datanode.MySQL {
		require.EqualValues(t, sqlerr.AccessDenied, code)
	}
}

// The sessions of an account that is removed are told, and end.
func TestRemovedUser(t *testing.T) {
	admin := adminv1.NewAdminClient(shared.Admin(t))
	_, err := admin.PutUser(t.Context(), &adminv1.PutUserRequest{
		Name: "removed", Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: "mysql_native_password", AuthString: wire.HashNative("pw"),
		Grants: map[string]string{"d": "admin"},
	})
	require.NoError(t, err)
	dsn := "removed:pw@tcp(" + shared.Addr() + ")/d"
	require.Eventually(t, func() bool { return ping(dsn) == nil }, patience, tick)
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	defer db.Close()
	var sessions []*sql.Conn
	for range 2 {
		c, err := db.Conn(t.Context())
		require.NoError(t, err)
		sessions = append(sessions, c)
	}
	_, err = sessions[0].ExecContext(t.Context(), "BEGIN")
	require.NoError(t, err)
	_, err = admin.RemoveUser(t.Context(), &adminv1.RemoveUserRequest{Name: "removed"})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return ping(dsn) != nil }, patience, tick)
	for _, c := range sessions {
		_, err = c.ExecContext(t.Context(), "SELECT COUNT(*) FROM t")
		var e *mysql.MySQLError
		require.ErrorAs(t, err, &e)
		require.EqualValues(t, sqlerr.AccessDenied, e.Number)
		_, err = c.ExecContext(t.Context(), "SELECT COUNT(*) FROM t")
		require.Error(t, err)
		require.NotErrorAs(t, err, &e, "the connection has ended")
	}
}

// Answers of one and of several node groups arrive whole, and small where they compress well.
func TestCompression(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE IF NOT EXISTS wide (id INT PRIMARY KEY, v MEDIUMTEXT)")
	c.exec("DELETE FROM wide")
	const size = 300_000
	for i := range 8 {
		c.exec("INSERT INTO wide VALUES (?, ?)", i, strings.Repeat(strconv.Itoa(i), size))
	}
	for name, caps := range transports() {
		t.Run(name, func(t *testing.T) {
			r := packetLogin(t, caps)
			before := r.got.Load()
			for _, query := range []string{"SELECT v FROM wide ORDER BY id", "SELECT a.v FROM wide a JOIN wide b ON a.id = 7 - b.id ORDER BY a.id"} {
				rows := strings.Split(r.get(query), ";")
				require.Len(t, rows, 8)
				for i, row := range rows {
					require.Equal(t, size, strings.Count(row, strconv.Itoa(i)), "%s: row %d", query, i)
				}
			}
			require.Len(t, r.get("SELECT v FROM wide WHERE id = 3"), size, "relayed")
			const whole = (8 + 8 + 1) * size
			if took := r.got.Load() - before; caps&(wire.CapCompress|wire.CapZstd) != 0 {
				require.Less(t, took, int64(whole/10))
			} else {
				require.Greater(t, took, int64(whole))
			}
			require.Equal(t, strconv.Itoa(size*4), r.get("SELECT LENGTH('"+strings.Repeat("long", size)+"')"), "a long request")
			r.get("INSERT INTO wide VALUES (100, '" + strings.Repeat("a", size) + "'), (101, 'b'), (102, 'c'), (103, 'd')")
			require.Equal(t, "4", r.get("SELECT COUNT(*) FROM wide WHERE id >= 100"))
			r.get("DELETE FROM wide WHERE id >= 100")
		})
	}
}
