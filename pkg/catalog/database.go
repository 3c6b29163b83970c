package catalog

import "strings"

const (
	// OwnDB is the database on every server that belongs to Skarv. No client sees it.
	OwnDB = "_skarv"
	// VirtualDB is the database that shows the cluster to clients. No server has it.
	VirtualDB = "skarv"
)

// DatabaseKind says whose a database is, from its name.
type DatabaseKind uint8

// Kinds of databases.
const (
	UserDatabase    DatabaseKind = iota
	ServerDatabase               // of every server: see ServerDatabases
	OwnDatabase                  // OwnDB
	VirtualDatabase              // VirtualDB
)

// KindOf tells the kind of the database called name, in whatever case.
func KindOf(name string) DatabaseKind {
	switch strings.ToLower(name) {
	case "information_schema", "mysql", "performance_schema", "sys":
		return ServerDatabase
	case OwnDB:
		return OwnDatabase
	case VirtualDB:
		return VirtualDatabase
	}
	return UserDatabase
}

// ShowsAccounts reports whether a table of the servers shows accounts or what they may do: those of clients are the cluster's.
func ShowsAccounts(db, table string) bool {
	switch strings.ToLower(db) {
	case "mysql":
		switch strings.ToLower(table) {
		case "user", "db", "global_priv", "global_grants", "tables_priv", "columns_priv", "procs_priv", "proxies_priv", "roles_mapping",
			"role_edges", "default_roles", "password_history":
			return true
		}
	case "information_schema":
		switch strings.ToLower(table) {
		case "user_privileges", "schema_privileges", "table_privileges", "column_privileges", "applicable_roles", "enabled_roles",
			"administrable_role_authorizations", "role_table_grants", "role_column_grants", "role_routine_grants":
			return true
		}
	}
	return false
}

// ServerDatabases are the names of those that every server has for itself.
func ServerDatabases() []string {
	return []string{"mysql", "information_schema", "performance_schema", "sys"}
}
