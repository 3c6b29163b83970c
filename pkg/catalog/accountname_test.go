package catalog

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// In which order servers look at accounts that a client from 127.0.0.1 may be of: what each said it was, from the first on, when the one before was dropped.
func TestOrderOfHosts(t *testing.T) {
	for flavor, order := range map[Flavor][]string{
		MariaDB: {"localhost", "127.0.0.1", "127.0.0.0/255.255.255.0", "127.0.0.0/255.255.0.0", "127.0.0.0/255.0.0.0", "_27.0.0.1", "localhos_", "127.0.0._",
			"127.0._._", "________1", "127.0.0.1%", "127.0.0.%", "127.%.%.1", "127.%.1", "127.0.%", "1_7.0.%", "local%", "%host", "127.%", "1%.%.%1", "%.0.%",
			"%.%.%.%", "%.1", "l%t", "12%", "_%", "%"},
		MySQL: {"127.0.0.1", "127.0.0.1%", "127.0.0.1/32", "127.0.0.0/24", "127.0.0.0/8", "127.0.0.0/255.255.255.0", "127.0.0.0/255.255.0.0",
			"127.0.0.0/255.0.0.0", "localhost", "127.0.0.%", "127.0.%", "local%", "127.%", "12%", "1_7.0.%", "%.1", "%"},
	} {
		m := Accounts{}
		for _, i := range rand.Perm(len(order)) {
			name := NameOf("u", order[i])
			m[name] = &Account{Name: name}
		}
		m["other"] = &Account{Name: "other"}
		s := &Snapshot{Flavor: flavor, Accounts: m, Hosted: m.Hosted(flavor)}
		for _, host := range order {
			a := s.Client("u", OriginOf(netip.MustParseAddr("127.0.0.1")))
			require.NotNil(t, a, "%s %s", flavor, host)
			require.Equal(t, host, a.Name.Host(), flavor)
			delete(m, a.Name)
			s.Hosted = m.Hosted(flavor)
		}
		require.Nil(t, s.Client("u", ThisMachine()))
		require.NotNil(t, s.Client("other", ThisMachine()))
	}
}

// Which clients a host is for.
func TestClientsOfHosts(t *testing.T) {
	from := func(text string) Origin { return OriginOf(netip.MustParseAddr(text)) }
	for _, c := range []struct {
		host   string
		origin Origin
		is     bool
	}{
		{"%", Nowhere(), true}, {"localhost", Nowhere(), false}, {"127.0.0.1", Nowhere(), false}, {"10.%", Nowhere(), false},
		{"localhost", ThisMachine(), true}, {"127.0.0.1", ThisMachine(), false}, {"127.%", ThisMachine(), false}, {"::1", ThisMachine(), false},
		{"localhost", from("127.0.0.1"), true}, {"localhost", from("127.3.2.1"), true}, {"localhost", from("::1"), true}, {"localhost", from("10.0.0.1"), false},
		{"localhost", from("::ffff:127.0.0.1"), true}, {"127.0.0.1", from("::ffff:127.0.0.1"), true}, {"127.0.0.1", from("127.0.0.2"), false},
		{"::1", from("::1"), true}, {"2001:db8::%", from("2001:db8::7"), true}, {"2001:db8::7", from("2001:db8::8"), false}, {"2001:db8::7", from("2001:db8::7"), true},
		{"10.0.0.%", from("10.0.0.9"), true}, {"10.0.0.%", from("10.0.1.9"), false}, {"10.0.0._", from("10.0.0.12"), false}, {"10.0.0.1%", from("10.0.0.12"), true},
		{"10.0.0.1", from("10.0.0.12"), false}, {"10.0.0.12", from("10.0.0.1"), false}, {"%.0.0.1", from("10.0.0.1"), true}, {"10\\.0.0.1", from("10.0.0.1"), true},
		{"10\\_0.0.1", from("10.0.0.1"), false},
		{"10.1.0.0/255.255.0.0", from("10.1.2.3"), true}, {"10.1.0.0/255.255.0.0", from("10.2.2.3"), false}, {"10.1.0.0/16", from("10.1.2.3"), true},
		{"10.1.0.0/255.255.0.0", from("2001:db8::7"), false}, {"10.1.2.0/255.255.0.0", from("10.1.2.3"), false}, {"10.1.0.0/255.0.255.0", from("10.1.2.3"), false},
		{"0.0.0.0/0", from("10.1.2.3"), false}, {"web1.example.com", from("10.1.2.3"), false},
	} {
		require.Equal(t, c.is, (&Account{Name: NameOf("u", c.host)}).isFor(c.origin), "%s from %v", c.host, c.origin)
	}
}

func TestHostsThatAreRefused(t *testing.T) {
	for _, host := range []string{"%", "localhost", "10.0.0.1", "10.0.%", "10.0.0._", "%.%.%.%", "::1", "2001:db8::%", "fe80::1", "10.0.0.0/255.0.0.0"} {
		require.False(t, NamesHost(host), host)
		require.True(t, ValidHost(host, MariaDB), host)
	}
	for _, host := range []string{"web1.example.com", "%.example.com", "web1", "local%", "10.0.0.example", "dead.beef"} {
		require.True(t, NamesHost(host), host)
	}
	for _, host := range []string{"10.0.0.0/8", "10.0.0.1/32"} {
		require.True(t, ValidHost(host, MySQL), host)
		require.False(t, ValidHost(host, MariaDB), host)
	}
	for _, host := range []string{"10.0.0.1/8", "10.0.0.0/0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/255.0.255.0", "10.1.0.0/255.0.0.0", "10.0.0/255.0.0.0", "x/255.0.0.0", "/8", "2001:db8::/32"} {
		require.False(t, ValidHost(host, MySQL), host)
	}
}

// A name is read back from how people write it, and what was kept before there were hosts is what it was.
func TestAccountNames(t *testing.T) {
	for _, c := range []struct {
		name             AccountName
		user, host, text string
	}{
		{"app", "app", "%", "app"}, {NameOf("app", "10.%"), "app", "10.%", "app@10.%"}, {"a@b", "a@b", "%", "a@b@%"},
		{NameOf("a@b", "localhost"), "a@b", "localhost", "a@b@localhost"}, {NameOf("app", "%"), "app", "%", "app"},
	} {
		require.Equal(t, c.user, c.name.User())
		require.Equal(t, c.host, c.name.Host())
		require.Equal(t, c.text, c.name.String())
		require.Equal(t, c.name, ParseAccountName(c.text))
	}
	require.Equal(t, NameOf("app", "localhost"), ParseAccountName("app@LOCALHOST"))
	require.Equal(t, AccountName("app"), ParseAccountName("app@"))
	require.Equal(t, AccountName("app"), NameOf("app\x00localhost", "%"), "a host comes from nowhere else")
	require.Equal(t, NameOf("app", "10.%"), NameOf("app\x00localhost", "10.%\x00x"))
	s := &Snapshot{Accounts: Accounts{"app": {Name: "app"}, NameOf("app", "10.%"): {Name: NameOf("app", "10.%")}}}
	require.Nil(t, s.Client("app\x0010.%", OriginOf(netip.MustParseAddr("10.0.0.1"))), "a user that has a NUL in it")
}

// What other accounts of a user are granted on databases counts for a client who is of their hosts; their global privileges and roles do not.
func TestRightsByTheClientsHost(t *testing.T) {
	const far, near, here = AccountName("u"), AccountName("u\x0010.%"), AccountName("u\x0010.0.0.1")
	m := Accounts{
		"r":  {Name: "r", ID: "1", Role: true, Grants: map[string]Privilege{"d": MayDrop}},
		far:  {Name: far, Grants: map[string]Privilege{"*": MaySuper, "d": MayDelete, "e": MaySelect}, Roles: []RoleGrant{{Name: "r", ID: "1"}}},
		near: {Name: near, Grants: map[string]Privilege{"*": MayProcess, "d": MayInsert}, Tables: map[string]map[string]Privilege{"f": {"t": MayUpdate}}},
		here: {Name: here, Grants: map[string]Privilege{"d": MaySelect}, Roles: []RoleGrant{{Name: "r", ID: "1"}}},
	}
	s := &Snapshot{Flavor: MySQL, Accounts: m, Hosted: m.Hosted(MySQL)}
	from := OriginOf(netip.MustParseAddr("10.0.0.1"))
	a := s.Acting(m[here], from, nil)
	require.Equal(t, here, a.Name)
	require.Equal(t, NoAccess, a.Global())
	require.Equal(t, MaySelect, a.Privileges("d", ""), "what it has itself on a database is all")
	require.Equal(t, MaySelect, a.Privileges("e", ""))
	require.Equal(t, MayUpdate, a.Privileges("f", "t"))
	require.Equal(t, MaySelect|MayDrop, s.Acting(m[here], from, []AccountName{"r"}).Privileges("d", ""))
	require.Equal(t, NoAccess, s.Acting(m[here], from, []AccountName{"r"}).Privileges("e", ""), "a role is active")
	require.Equal(t, NoAccess, m[here].Privileges("e", ""), "the account itself is as it was")

	a = s.Acting(m[far], OriginOf(netip.MustParseAddr("192.0.2.1")), nil)
	require.Equal(t, MaySuper, a.Global())
	require.Equal(t, NoAccess, a.Privileges("f", "t")&MayUpdate, "of another host")
}
