package catalog

import (
	"strings"

	"skarv/pkg/sqltypes"
)

// AccountName is what an account, or a role, is known by: its user and, behind a NUL byte, its host, which is left out where it is any, %. So it stands in
// etcd, too: a process of a version that knows no hosts takes one with a host for a user that no client can log in as.
type AccountName string

// AnyHost is the host of accounts that are for clients from everywhere.
const AnyHost = "%"

// NameOf is the name of an account. The host is as FoldHost gives it. Both end at a NUL byte, as in servers.
func NameOf(user, host string) AccountName {
	user, _, _ = strings.Cut(user, "\x00")
	host, _, _ = strings.Cut(host, "\x00")
	if host == AnyHost {
		return AccountName(user)
	}
	return AccountName(user + "\x00" + host)
}

// User is who logs in by the account.
func (n AccountName) User() string {
	user, _, _ := strings.Cut(string(n), "\x00")
	return user
}

// Host is where clients of the account come from: an address, a pattern or a network.
func (n AccountName) Host() string {
	if _, host, has := strings.Cut(string(n), "\x00"); has {
		return host
	}
	return AnyHost
}

// At is user@host, as CURRENT_USER() gives it.
func (n AccountName) At() string { return n.User() + "@" + n.Host() }

// Quoted is the account as statements name it: `user`@`host`.
func (n AccountName) Quoted() string {
	return sqltypes.QuoteName(n.User()) + "@" + sqltypes.QuoteName(n.Host())
}

// Literal is the account as errors name it: 'user'@'host'.
func (n AccountName) Literal() string {
	return sqltypes.Literal(n.User()) + "@" + sqltypes.Literal(n.Host())
}

// String is the account as people write it, without a host that is any. ParseAccountName reads it.
func (n AccountName) String() string {
	if n.Host() == AnyHost && !strings.Contains(n.User(), "@") {
		return n.User()
	}
	return n.At()
}

// ParseAccountName reads user, or user@host.
func ParseAccountName(text string) AccountName {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return NameOf(text[:at], FoldHost(text[at+1:]))
	}
	return NameOf(text, AnyHost)
}

// FoldHost is a host as servers keep it.
func FoldHost(host string) string {
	if host == "" {
		return AnyHost
	}
	return strings.ToLower(host)
}
