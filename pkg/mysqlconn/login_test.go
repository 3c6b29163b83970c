package mysqlconn_test

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

func TestLoginRefused(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  mysqlconn.Config
		code sqlerr.Code
	}{
		"unknown user":     {mysqlconn.Config{User: "nobody", Password: "x"}, sqlerr.AccessDenied},
		"unknown database": {mysqlconn.Config{User: "root", DB: "nowhere"}, sqlerr.UnknownDatabase},
		"init statement":   {mysqlconn.Config{User: "root", Init: []string{"SET @a=1", "SELEKT"}}, sqlerr.ParseError},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Addr = "unix:" + shared.socket
			_, err := mysqlconn.Dial(context.Background(), c.cfg)
			require.Error(t, err)
			require.True(t, sqlerr.HasCode(err, c.code), err)
		})
	}
	_, err := mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: "unix:" + shared.socket + "x"})
	require.EqualError(t, err, "connect to unix:"+shared.socket+"x: no such file or directory")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: "unix:" + shared.socket, User: "root", TLS: &tls.Config{}})
	require.ErrorContains(t, err, "TLS")
	c, err := mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: "unix:" + shared.socket, User: "root", TLS: &tls.Config{}, PlainWithoutTLS: true})
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

// A server that accepts and then stays silent is given up at the deadline, or when the caller no longer wants it.
func TestLoginSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, err = mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: l.Addr().String(), User: "skarv", Timeout: 20 * time.Millisecond})
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.True(t, mysqlconn.IsLost(err))
	require.EqualError(t, err, "log in to "+l.Addr().String()+` as "skarv": no answer in time`)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		nc, err := l.Accept() // the first one
		if err == nil {
			nc.Close()
		}
		nc, err = l.Accept()
		if err == nil {
			cancel()
			defer nc.Close()
			nc.Read(make([]byte, 1))
		}
	}()
	_, err = mysqlconn.Dial(ctx, mysqlconn.Config{Addr: l.Addr().String()})
	require.ErrorIs(t, err, context.Canceled)
}

func TestLoginPlugins(t *testing.T) {
	root := dial(t, mysqlconn.Config{})
	mustExec(t, root,
		"CREATE OR REPLACE USER native IDENTIFIED VIA mysql_native_password USING PASSWORD('secret')",
		"CREATE DATABASE IF NOT EXISTS login")
	mustExec(t, root, "GRANT ALL ON login.* TO native")
	for _, user := range []string{"native"} {
		for _, addr := range []string{shared.tcp, "unix:" + shared.socket} {
			for range 5 { // salts differ
				c := dial(t, mysqlconn.Config{Addr: addr, User: user, Password: "secret", DB: "login", Timeout: 5 * time.Second,
					Attributes: map[string]string{"program_name": "test"}, Init: []string{"SET @a = 5", "SET @b = 6"}})
				_, rows, err := c.QueryAll("SELECT @a, @b, DATABASE(), CONNECTION_ID()", 1)
				require.NoError(t, err)
				require.Equal(t, "5", string(rows[0][0]))
				require.Equal(t, "6", string(rows[0][1]))
				require.Equal(t, "login", string(rows[0][2]))
				require.Contains(t, c.ServerVersion(), "MariaDB")
				require.NotZero(t, c.ThreadID())
				require.True(t, c.Status().Has(wire.StatusAutocommit))
				c.Close()
			}
		}
		_, err := mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: shared.tcp, User: user, Password: "wrong"})
		require.True(t, sqlerr.HasCode(err, sqlerr.AccessDenied), err)
	}
}
