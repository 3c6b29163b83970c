package catalog

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Account is a user of the cluster. Only salted hashes are kept (see AuthPlugin for the exception).
type Account struct {
	Name AccountName `json:"name"`
	// AuthPlugin is caching_sha2_password or mysql_native_password. The latter's protocol needs the unsalted
	// double SHA-1 at the server, so it must be asked for.
	AuthPlugin string `json:"auth_plugin"`
	AuthString string `json:"auth_string"` // as in mysql.user.authentication_string; empty: no password
	// Grants by database name; "*" is every database.
	Grants map[string]Privilege `json:"grants"`
	// Tables are what is granted on single tables and views, by database and name.
	Tables map[string]map[string]Privilege `json:"tables,omitempty"`
	// Functions and Procedures are what is granted on single ones, by database and folded name (see RoutineKey).
	Functions  map[string]map[string]Privilege `json:"functions,omitempty"`
	Procedures map[string]map[string]Privilege `json:"procedures,omitempty"`
	// LoopbackOnly refuses logins from anywhere but this machine.
	LoopbackOnly bool `json:"loopback_only,omitempty"`
	// Locked: nobody logs in by it. What it defines acts in its name all the same. RequireTLS: nobody does without TLS.
	Locked     bool `json:"-"`
	RequireTLS bool `json:"-"`

	// ID tells the account from others of its name, before it and after it.
	ID string `json:"id,omitempty"`
	// Role: it is there to be granted, and nobody logs in by it. On MySQL others may be granted, too.
	Role bool `json:"role,omitempty"`
	// Roles are those that it has been granted, of which some may not be there any more: see Accounts.
	Roles []RoleGrant `json:"roles,omitempty"`
	// DefaultRoles are active from the login on, as far as they are granted then. On MariaDB it is one.
	DefaultRoles []AccountName `json:"default_roles,omitempty"`
}

// The conditions of a login stand before the plugin that etcd keeps, as in "locked+tls+caching_sha2_password": a process that knows nothing of them
// knows no such plugin either, and lets nobody in. For that it must be asked, which it is not where there is no password.
const (
	lockedMark = "locked+"
	tlsMark    = "tls+"
	noPassword = "-"
)

// keptAccount is an Account as etcd keeps it.
type keptAccount Account

// MarshalJSON writes a as etcd keeps it.
func (a *Account) MarshalJSON() ([]byte, error) {
	k := keptAccount(*a)
	if a.RequireTLS {
		k.AuthPlugin = tlsMark + k.AuthPlugin
	}
	if a.Locked {
		k.AuthPlugin = lockedMark + k.AuthPlugin
	}
	if k.AuthPlugin != a.AuthPlugin && k.AuthString == "" {
		k.AuthString = noPassword
	}
	return json.Marshal(&k)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (a *Account) UnmarshalJSON(text []byte) error {
	var k keptAccount
	if err := json.Unmarshal(text, &k); err != nil {
		return err
	}
	kept := k.AuthPlugin
	k.AuthPlugin, k.Locked = strings.CutPrefix(k.AuthPlugin, lockedMark)
	k.AuthPlugin, k.RequireTLS = strings.CutPrefix(k.AuthPlugin, tlsMark)
	if k.AuthPlugin != kept && k.AuthString == noPassword {
		k.AuthString = ""
	}
	*a = Account(k)
	return nil
}

// Privileges returns what a may do with a table of database db, or in the database as a whole when table is "".
func (a *Account) Privileges(db, table string) Privilege {
	p := a.Grants["*"] | a.Grants[db]
	if table != "" {
		p |= a.Tables[db][table]
	}
	return p
}

// OfRoutine returns what a may do with a function or procedure.
func (a *Account) OfRoutine(k RoutineKey) Privilege {
	return a.Privileges(k.Database, "") | a.OnRoutine(k)
}

// OnRoutine returns what a has been granted on a function or procedure itself.
func (a *Account) OnRoutine(k RoutineKey) Privilege {
	if k.Function {
		return a.Functions[k.Database][k.Name]
	}
	return a.Procedures[k.Database][k.Name]
}

// Global returns what a may do everywhere.
func (a *Account) Global() Privilege { return a.Grants["*"] }

// Sees reports whether a may know that there is the database db: it may do something in it.
func (a *Account) Sees(db string) bool {
	return a.Privileges(db, "")&AllOfDatabase != 0 || len(a.Tables[db]) > 0 || len(a.Functions[db]) > 0 || len(a.Procedures[db]) > 0
}

// SeesTables reports whether a may know of all tables of the database db, "*" for all.
func (a *Account) SeesTables(db string) bool { return a.Privileges(db, "")&AllOfTable != 0 }

// SeesPrograms reports whether a may know of all functions and procedures of the database db, "*" for all.
func (a *Account) SeesPrograms(db string) bool {
	return a.Privileges(db, "")&(MayExecute|MayCreateRoutine|MayAlterRoutine) != 0 || a.Global()&MaySelect != 0
}

// ReadsPrograms reports whether a may read the text of all functions and procedures of the database db, "*" for all: whoever
// may replace them has it.
func (a *Account) ReadsPrograms(db string) bool {
	return a.Privileges(db, "")&MayAlterRoutine != 0 || a.Global()&MaySelect != 0
}

// SeesRoutine reports whether a may know of r.
func (a *Account) SeesRoutine(r *Routine) bool {
	return a.SeesPrograms(r.Database) || a.OfRoutine(r.Key())&AllOfRoutine != 0
}

// ReadsRoutine reports whether a may read the text of r.
func (a *Account) ReadsRoutine(r *Routine) bool {
	return a.ReadsPrograms(r.Database) || a.OfRoutine(r.Key())&MayAlterRoutine != 0
}

// Administers reports whether a is an administrator of the cluster.
func (a *Account) Administers() bool { return a.Global()&MaySuper != 0 }

// Privilege is a set of the privileges that servers know, a bit each.
type Privilege uint64

// The privileges: those on tables, those that there are on databases besides, and those on all databases only.
const (
	MaySelect Privilege = 1 << iota
	MayInsert
	MayUpdate
	MayDelete
	MayCreate
	MayDrop
	MayReferences
	MayIndex
	MayAlter
	MayCreateView
	MayShowView
	MayTrigger
	MayDeleteHistory // MariaDB's

	MayCreateTemporary
	MayLockTables
	MayExecute
	MayCreateRoutine
	MayAlterRoutine
	MayEvent

	MayReload
	MayShutdown
	MayProcess
	MayFile
	MayShowDatabases
	MaySuper
	MayReplicate
	MaySeeReplication
	MayCreateUser
	MayCreateTablespace

	MayGrant // GRANT OPTION: give others what one has oneself

	// OfColumns are those that there are on columns, in the order in which servers tell them.
	OfColumns = MaySelect | MayInsert | MayUpdate | MayReferences

	NoAccess      Privilege = 0
	AllOfTable              = MayCreateTemporary - 1
	AllOfRoutine            = MayExecute | MayAlterRoutine
	AllOfDatabase           = MayReload - 1
	All                     = MayGrant - 1
)

// privilegeNames are those of the bits, from the first on, as GRANT has them.
func privilegeNames() [30]string {
	return [...]string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REFERENCES", "INDEX", "ALTER", "CREATE VIEW", "SHOW VIEW", "TRIGGER",
		"DELETE HISTORY", "CREATE TEMPORARY TABLES", "LOCK TABLES", "EXECUTE", "CREATE ROUTINE", "ALTER ROUTINE", "EVENT", "RELOAD", "SHUTDOWN", "PROCESS",
		"FILE", "SHOW DATABASES", "SUPER", "REPLICATION SLAVE", "REPLICATION CLIENT", "CREATE USER", "CREATE TABLESPACE", "GRANT OPTION"}
}

// PrivilegeNamed is the privilege that GRANT calls name, in capitals; 0 if there is none.
func PrivilegeNamed(name string) Privilege {
	switch name { // other names, mostly MariaDB's
	case "BINLOG MONITOR":
		return MaySeeReplication
	case "REPLICATION REPLICA":
		return MayReplicate
	case "DELETE VERSIONING ROWS":
		return MayDeleteHistory
	}
	names := privilegeNames()
	if i := slices.Index(names[:], name); i >= 0 {
		return 1 << i
	}
	return 0
}

// Names are the privileges of p as GRANT has them.
func (p Privilege) Names() (list []string) {
	names := privilegeNames()
	for ; p != 0; p &= p - 1 {
		list = append(list, names[bits.TrailingZeros64(uint64(p))])
	}
	return list
}

// String is the privileges in a row.
func (p Privilege) String() string { return strings.Join(p.Names(), ", ") }

// MarshalText writes p as etcd keeps it.
func (p Privilege) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (p *Privilege) UnmarshalText(text []byte) error {
	*p = 0
	if len(text) == 0 {
		return nil
	}
	for name := range strings.SplitSeq(string(text), ", ") {
		of := PrivilegeNamed(name)
		if of == 0 {
			return fmt.Errorf("unknown privilege %q", name)
		}
		*p |= of
	}
	return nil
}
