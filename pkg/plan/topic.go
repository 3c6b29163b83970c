package plan

// Topic refines the Kind of a Plan. It is also what plans are shown with. A Show for which nothing is decided by its Topic has the words of
// its form, and an Explain the format that the client has asked for.
type Topic string

// The topics of a Select, and of a Do.
const (
	// UserLock is GET_LOCK() and its like.
	UserLock Topic = "user lock"
	// Metadata is tables of the servers that describe others.
	Metadata Topic = "information_schema"
)

// The topics of a Show.
const (
	ShowColumns          Topic = "columns"
	ShowIndex            Topic = "index"
	ShowDatabases        Topic = "databases"
	ShowTables           Topic = "tables"
	ShowTableStatus      Topic = "table status"
	ShowOpenTables       Topic = "open tables"
	ShowTriggers         Topic = "triggers"
	ShowEvents           Topic = "events"
	ShowProcedureStatus  Topic = "procedure status"
	ShowFunctionStatus   Topic = "function status"
	ShowPackageStatus    Topic = "package status"
	ShowVariables        Topic = "variables"
	ShowStatus           Topic = "status"
	ShowWarnings         Topic = "warnings"
	ShowErrors           Topic = "errors"
	ShowProcesslist      Topic = "processlist"
	ShowFullProcesslist  Topic = "full processlist"
	ShowGrants           Topic = "grants"
	ShowCreateUser       Topic = "create user"
	ShowCreateTable      Topic = "create table"
	ShowCreateView       Topic = "create view"
	ShowCreateDatabase   Topic = "create database"
	ShowCreateProcedure  Topic = "create procedure"
	ShowCreateFunction   Topic = "create function"
	ShowCreateTrigger    Topic = "create trigger"
	ShowCreateEvent      Topic = "create event"
	ShowCreateSequence   Topic = "create sequence"
	ShowReplication      Topic = "replication"
	ShowClientStatistics Topic = "client statistics"
	ShowIndexStatistics  Topic = "index statistics"
	ShowTableStatistics  Topic = "table statistics"
	ShowUserStatistics   Topic = "user statistics"
	ShowProfile          Topic = "profile"
	ShowProfiles         Topic = "profiles"
	// ShowChecksums is CHECKSUM TABLE.
	ShowChecksums Topic = "checksum table"
	// ShowSkarv is a SELECT from the database skarv.
	ShowSkarv Topic = "skarv"
)

// The topics of a Kill: what it ends.
const (
	KillConnection Topic = "connection"
	KillQuery      Topic = "query"
)

// The topics of a Prepared: what it does.
const (
	Prepare          Topic = "prepare"
	Execute          Topic = "execute"
	ExecuteImmediate Topic = "execute immediate"
	Deallocate       Topic = "deallocate"
)

// ExplainAnalyze is the topic of an Explain that runs what it explains, or its first word if there is a format, too.
const ExplainAnalyze Topic = "analyze"
