package sqlerr

import "fmt"

// Code is a MySQL error number. The zero Code is not an error.
type Code uint16

// The errors Skarv raises itself. Numbers and states are those of the MySQL and MariaDB servers, so that a client's handling of them
// keeps working, and so are most texts. None is between 2000 and 2999 or 5000 and 5999: those are for what a client's library finds
// itself, and MariaDB's takes one that comes from a server for a malformed packet (its error 2027), whose text nobody gets to read.
const (
	HandshakeError          Code = 1043
	AccessDeniedDB          Code = 1044
	AccessDenied            Code = 1045
	NoDatabase              Code = 1046
	UnknownCommand          Code = 1047
	NullNotAllowed          Code = 1048
	UnknownDatabase         Code = 1049
	TableExists             Code = 1050
	UnknownTable            Code = 1051
	AmbiguousColumn         Code = 1052
	ServerShutdown          Code = 1053
	UnknownColumn           Code = 1054
	DuplicateEntry          Code = 1062
	ParseError              Code = 1064
	EmptyQuery              Code = 1065
	NotUniqueTable          Code = 1066
	UpdateTableUsed         Code = 1093
	UnknownThread           Code = 1094
	KillDenied              Code = 1095
	SafeUpdate              Code = 1175
	UnknownError            Code = 1105
	ColumnCountMismatch     Code = 1136
	NoSuchTable             Code = 1146
	UnknownTableIn          Code = 1109
	PacketTooLarge          Code = 1153
	TableLockedForRead      Code = 1099
	TableNotLocked          Code = 1100
	LockOrTransaction       Code = 1192
	TooLongName             Code = 1059
	WrongDatabaseName       Code = 1102
	WrongTableName          Code = 1103
	WrongUsage              Code = 1221
	IsView                  Code = 1965
	PacketReadError         Code = 1158
	UnknownSystemVariable   Code = 1193
	TooManyConnections      Code = 1040
	TooManyUserConns        Code = 1203
	RowChanged              Code = 1020 // MariaDB's, with innodb_snapshot_isolation
	LockWaitTimeout         Code = 1205
	TooManyLocks            Code = 1206
	WrongArguments          Code = 1210
	LockDeadlock            Code = 1213
	SpecificAccessDenied    Code = 1227
	WrongValueForVariable   Code = 1231
	NotSupportedYet         Code = 1235
	OptionPreventsStatement Code = 1290
	ReadOnlyMode            Code = 1836 // MySQL's
	UnknownStatement        Code = 1243
	StatementInUse          Code = 1444
	TooManyParameters       Code = 1390
	QueryInterrupted        Code = 1317
	ConnectionKilled        Code = 1927 // MariaDB's
	UnknownCharset          Code = 1115
	NoSuchGrant             Code = 1141
	CannotUser              Code = 1396
	NoMatchingUser          Code = 1133
	CreateUserByGrant       Code = 1410
	RevokeFailed            Code = 1269
	PasswordLength          Code = 1372
	PasswordFormat          Code = 1827
	UserExists              Code = 3163 // MySQL's notes
	UserDoesNotExist        Code = 3162
	SubqueriesNotSupported  Code = 1970 // MariaDB's
	UserCreateExists        Code = 1973 // MariaDB's
	UserDropExists          Code = 1974
	RoleCreateExists        Code = 1975
	RoleDropExists          Code = 1976
	InvalidRole             Code = 1959
	InvalidCurrentUser      Code = 1960
	CannotGrantRole         Code = 1961
	CannotRevokeRole        Code = 1962
	AccessDeniedToRole      Code = 1698
	UnknownAuthorizationID  Code = 3523 // MySQL's
	RoleNotGranted          Code = 3530
	RenamedRole             Code = 3532
	RoleGrantedToItself     Code = 4027
	TableAccessDenied       Code = 1142
	IllegalGrant            Code = 1144
	NoSuchTableGrant        Code = 1147
	NoSuchRoutineGrant      Code = 1403
	RoutineNotGranted       Code = 1404
	RoutineGrantsLeft       Code = 1405
	ProgramAccessDenied     Code = 1370
	NoDefaultForField       Code = 1364
	DatabaseExists          Code = 1007
	DatabaseNotExists       Code = 1008
	ReadOnlyTransaction     Code = 1792
	HostNotPrivileged       Code = 1130
	NetPacketOutOfOrder     Code = 1156
	Internal                Code = 1815
	MalformedPacket         Code = 1835
	SecureTransport         Code = 3159
	AccountLocked           Code = 3118
	AccountIsLocked         Code = 4151 // MariaDB's
	NetReadInterrupted      Code = 1159
	NetUncompressError      Code = 1157
	ServerLost              Code = 1430 // as of a server behind this one (ER_QUERY_ON_FOREIGN_DATA_SOURCE)
	UnsupportedAuthMode     Code = 1251
	AutoIncrementFailed     Code = 1467
	AutoIncrementRange      Code = 167
	MalformedForeignKey     Code = 1005
	ForeignKeyNotAdded      Code = 1823
	DuplicateForeignKey     Code = 1826
	DuplicateCheck          Code = 3822
	TooManyStatements       Code = 1461
	NotGrouped              Code = 1055
	DuplicateColumn         Code = 1060
	KeyColumnNotExists      Code = 1072
	CannotReopenTable       Code = 1137
	InvalidUseOfNull        Code = 1138
	TooManyRows             Code = 1172
	DifferentColumnCounts   Code = 1222
	SubqueryManyRows        Code = 1242
	DataTruncated           Code = 1265
	MixedCollations         Code = 1267
	NotPreparable           Code = 1295
	RoutineExists           Code = 1304
	NoSuchRoutine           Code = 1305
	NoResultSetHere         Code = 1312
	LabelMismatch           Code = 1310
	WrongArgumentCount      Code = 1318
	UndefinedCondition      Code = 1319
	UndefinedCursor         Code = 1324
	CursorAlreadyOpen       Code = 1325
	CursorNotOpen           Code = 1326
	UndeclaredVariable      Code = 1327
	WrongFetchCount         Code = 1328
	NoMoreRows              Code = 1329
	DynamicSQLInFunction    Code = 1336
	CaseNotFound            Code = 1339
	WrongObject             Code = 1347
	ColumnNotUpdatable      Code = 1348
	ViewWithParameter       Code = 1351
	ViewOfTemporary         Code = 1352
	ViewNoExplain           Code = 1345
	ViewInvalid             Code = 1356
	NoSuchTrigger           Code = 1360
	TriggerOnTemporary      Code = 1361
	NoSuchRowInTrigger      Code = 1363
	CheckOptionFailed       Code = 1369
	JoinViewManyTables      Code = 1393
	UnknownXID              Code = 1397 // XAER_NOTA; on MariaDB it may also mean that a living connection holds the branch
	ReturnOutsideFunction   Code = 1313
	RowNotAssignable        Code = 1362
	DuplicateEntryOfKey     Code = 1586
	OutArgumentNotVariable  Code = 1414
	NoResultSetInProgram    Code = 1415
	NoOpenCursor            Code = 1421
	CommitInFunction        Code = 1422
	TriggerInWrongSchema    Code = 1435
	TableUsedByCaller       Code = 1442
	NoSuchUser              Code = 1449
	RowIsReferenced         Code = 1451
	NoReferencedRow         Code = 1452
	RecursionLimit          Code = 1456
	EventExists             Code = 1537
	NoSuchEvent             Code = 1539
	EventSameName           Code = 1551
	TransactionInProgress   Code = 1568
	OutOfRange              Code = 1690
	ResignalWithoutHandler  Code = 1645
	ConditionWithoutState   Code = 1646
	MissingReferencedIndex  Code = 1822
	MissingReferencedColumn Code = 3734 // MySQL's
	MissingReferencedKey    Code = 6125
	WrongForeignKey         Code = 1825
	StackedWithoutHandler   Code = 3004
	CascadeTooDeep          Code = 3008
	PrimaryKeyRequired      Code = 3750
	IncompatibleReference   Code = 3780
	ForeignKeyWithSelect    Code = 3978
	ConstraintFailed        Code = 4025
	SequenceRunOut          Code = 4084
	UnknownView             Code = 4092
	WrongCursorArguments    Code = 4080
	UnknownDataType         Code = 4161 // MariaDB's
	KeyOutsidePartitions    Code = 1503
	NotPartitioned          Code = 1505
)

type definition struct{ state, format string }

// definitionOf is the table of our own errors.
func definitionOf(c Code) definition {
	switch c {
	case HandshakeError:
		return definition{"08S01", "Bad handshake"}
	case AccessDeniedDB:
		return definition{"42000", "Access denied for user '%s'@'%s' to database '%s'"}
	case AccessDenied:
		return definition{"28000", "Access denied for user '%s'@'%s' (using password: %s)"}
	case AccountLocked:
		return definition{"HY000", "Access denied for user '%s'@'%s'. Account is locked."}
	case AccountIsLocked:
		return definition{"HY000", "Access denied, this account is locked"}
	case NoDatabase:
		return definition{"3D000", "No database selected"}
	case UnknownCommand:
		return definition{"08S01", "Unknown command"}
	case NotUniqueTable:
		return definition{"42000", "Not unique table/alias: '%s'"}
	case UpdateTableUsed:
		return definition{"HY000", "Table '%s' is specified twice, both as a target for '%s' and as a separate source for data"}
	case SafeUpdate:
		return definition{"HY000", "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column%s"}
	case TableLockedForRead:
		return definition{"HY000", "Table '%s' was locked with a READ lock and can't be updated"}
	case TableNotLocked:
		return definition{"HY000", "Table '%s' was not locked with LOCK TABLES"}
	case TooLongName:
		return definition{"42000", "Identifier name '%s' is too long"}
	case WrongDatabaseName:
		return definition{"42000", "Incorrect database name '%.100s'"}
	case WrongTableName:
		return definition{"42000", "Incorrect table name '%.100s'"}
	case LockOrTransaction:
		return definition{"HY000", "Can't execute the given command because you have active locked tables or an active transaction"}
	case WrongUsage:
		return definition{"HY000", "Incorrect usage of %s and %s"}
	case IsView:
		return definition{"42S02", "'%s' is a view"}
	case NullNotAllowed:
		return definition{"23000", "Column '%s' cannot be null"}
	case UnknownDatabase:
		return definition{"42000", "Unknown database '%s'"}
	case TableExists:
		return definition{"42S01", "Table '%s' already exists"}
	case UnknownTable:
		return definition{"42S02", "Unknown table '%s'"}
	case AmbiguousColumn:
		return definition{"23000", "Column '%s' in %s is ambiguous"}
	case ServerShutdown:
		return definition{"08S01", "Server shutdown in progress"}
	case UnknownColumn:
		return definition{"42S22", "Unknown column '%s' in '%s'"}
	case ConstraintFailed:
		return definition{"23000", "CONSTRAINT %s failed for %s"}
	case DuplicateEntry:
		return definition{"23000", "Duplicate entry '%s' for key '%s'"}
	case ParseError:
		return definition{"42000", "You have an error in your SQL syntax; %s"}
	case EmptyQuery:
		return definition{"42000", "Query was empty"}
	case UnknownThread:
		return definition{"HY000", "Unknown thread id: %d"}
	case KillDenied:
		return definition{"HY000", "You are not owner of thread %d"}
	case UnknownError:
		return definition{"HY000", "%s"}
	case ColumnCountMismatch:
		return definition{"21S01", "Column count doesn't match value count at row %d"}
	case NoSuchTable:
		return definition{"42S02", "Table '%s.%s' doesn't exist"}
	case UnknownTableIn:
		return definition{"42S02", "Unknown table '%s' in %s"}
	case PacketTooLarge:
		return definition{"08S01", "Got a packet bigger than 'max_allowed_packet' bytes"}
	case PacketReadError:
		return definition{"08S01", "Got an error reading communication packets"}
	case NetUncompressError:
		return definition{"08S01", "Couldn't uncompress communication packet"}
	case NetReadInterrupted:
		return definition{"08S01", "Got timeout reading communication packets"}
	case UnsupportedAuthMode:
		return definition{"08004", "Client does not support authentication protocol requested by server; consider upgrading MySQL client"}
	case HostNotPrivileged:
		return definition{"HY000", "Host '%s' is not allowed to connect: %s"}
	case NetPacketOutOfOrder:
		return definition{"08S01", "Got packets out of order"}
	case UnknownSystemVariable:
		return definition{"HY000", "Unknown system variable '%s'"}
	case TooManyConnections:
		return definition{"08004", "Too many connections"}
	case TooManyUserConns:
		return definition{"42000", "User %s already has more than 'max_user_connections' active connections"}
	case LockWaitTimeout:
		return definition{"HY000", "Lock wait timeout exceeded; try restarting transaction"}
	case TooManyLocks:
		return definition{"HY000", "The total number of locks exceeds the lock table size"}
	case RowChanged:
		return definition{"HY000", "Record has changed since last read in table '%s'"}
	case WrongArguments:
		return definition{"HY000", "Incorrect arguments to %s"}
	case LockDeadlock:
		return definition{"40001", "Deadlock found when trying to get lock; try restarting transaction"}
	case SpecificAccessDenied:
		return definition{"42000", "Access denied; you need (at least one of) the %s privilege(s) for this operation"}
	case WrongValueForVariable:
		return definition{"42000", "Variable '%s' can't be set to the value of '%s'"}
	case NotSupportedYet:
		return definition{"42000", "Skarv doesn't yet support '%s'"}
	case UnknownStatement:
		return definition{"HY000", "Unknown prepared statement handler (%s) given to %s"}
	case TooManyParameters:
		return definition{"HY000", "Prepared statement contains too many placeholders"}
	case StatementInUse:
		return definition{"HY000", "The prepared statement contains a stored routine call that refers to that same statement. It's not allowed to execute a prepared statement in such a recursive manner"}
	case QueryInterrupted:
		return definition{"70100", "Query execution was interrupted"}
	case UnknownCharset:
		return definition{"42000", "Unknown character set: '%s'"}
	case CannotUser:
		return definition{"HY000", "Operation %s failed for %s"}
	case NoMatchingUser:
		return definition{"42000", "Can't find any matching row in the user table"}
	case CreateUserByGrant:
		return definition{"42000", "You are not allowed to create a user with GRANT"}
	case RevokeFailed:
		return definition{"HY000", "Can't revoke all privileges for one or more of the requested users"}
	case PasswordLength:
		return definition{"HY000", "Password hash should be a %d-digit hexadecimal number"}
	case PasswordFormat:
		return definition{"HY000", "The password hash doesn't have the expected format."}
	case UserExists:
		return definition{"HY000", "Authorization ID %s already exists."}
	case UserDoesNotExist:
		return definition{"HY000", "Authorization ID %s does not exist."}
	case SubqueriesNotSupported:
		return definition{"42000", "%s does not support subqueries or stored functions"}
	case UserCreateExists:
		return definition{"HY000", "Can't create user %s; it already exists"}
	case UserDropExists:
		return definition{"HY000", "Can't drop user %s; it doesn't exist"}
	case RoleCreateExists:
		return definition{"HY000", "Can't create role %s; it already exists"}
	case RoleDropExists:
		return definition{"HY000", "Can't drop role %s; it doesn't exist"}
	case InvalidRole:
		return definition{"OP000", "%s"} // Invalid role specification, or which account has not been granted which role
	case InvalidCurrentUser:
		return definition{"0L000", "The current user is invalid"}
	case CannotGrantRole:
		return definition{"HY000", "Cannot grant role '%s' to: %s"}
	case CannotRevokeRole:
		return definition{"HY000", "Cannot revoke role '%s' from: %s"}
	case AccessDeniedToRole:
		return definition{"28000", "Access denied for user '%s'@'%s'"}
	case UnknownAuthorizationID:
		return definition{"HY000", "Unknown authorization ID %s"}
	case RoleNotGranted:
		return definition{"HY000", "%s is not granted to %s"}
	case RenamedRole:
		return definition{"HY000", "Renaming of a role identifier is forbidden"}
	case RoleGrantedToItself:
		return definition{"HY000", "User account %s is directly or indirectly granted to the role %s. The GRANT would create a loop"}
	case NoSuchGrant:
		return definition{"42000", "There is no such grant defined for user '%s' on host '%s'"}
	case TableAccessDenied:
		return definition{"42000", "%s command denied to user '%s'@'%s' for table %s"}
	case IllegalGrant:
		return definition{"42000", "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used"}
	case NoSuchTableGrant:
		return definition{"42000", "There is no such grant defined for user '%s' on host '%s' on table '%s'"}
	case NoSuchRoutineGrant:
		return definition{"42000", "There is no such grant defined for user '%s' on host '%s' on routine '%s'"}
	case RoutineNotGranted:
		return definition{"HY000", "Failed to grant EXECUTE and ALTER ROUTINE privileges"}
	case RoutineGrantsLeft:
		return definition{"HY000", "Failed to revoke all privileges to dropped routine"}
	case ProgramAccessDenied:
		return definition{"42000", "%s command denied to user '%s'@'%s' for routine '%s'"}
	case NoDefaultForField:
		return definition{"HY000", "Field '%s' doesn't have a default value"}
	case DatabaseExists:
		return definition{"HY000", "Can't create database '%s'; database exists"}
	case DatabaseNotExists:
		return definition{"HY000", "Can't drop database '%s'; database doesn't exist"}
	case ReadOnlyTransaction:
		return definition{"25006", "Cannot execute statement in a READ ONLY transaction%s"} // MySQL ends it with a period
	case ServerLost:
		return definition{"HY000", "Lost connection to backend server during query: %s"}
	case MalformedPacket:
		return definition{"HY000", "Malformed communication packet."}
	case SecureTransport:
		return definition{"HY000", "Connections using insecure transport are prohibited."}
	case AutoIncrementRange:
		return definition{"22003", "Out of range value for column '%s' at row %d"}
	case AutoIncrementFailed:
		return definition{"HY000", "Failed to read auto-increment value from storage engine"}
	case MalformedForeignKey:
		return definition{"HY000", "Can't create table `%s`.`%s` (errno: 150 \"Foreign key constraint is incorrectly formed\")"}
	case ForeignKeyNotAdded:
		return definition{"HY000", "Failed to add the foreign key constraint '%s' to system tables"}
	case DuplicateForeignKey:
		return definition{"HY000", "Duplicate foreign key constraint name '%s'"}
	case DuplicateCheck:
		return definition{"HY000", "Duplicate check constraint name '%s'."}
	case TooManyStatements:
		return definition{"42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)"}
	case DuplicateColumn:
		return definition{"42S21", "Duplicate column name '%s'"}
	case KeyColumnNotExists:
		return definition{"42000", "Key column '%s' doesn't exist in table"}
	case InvalidUseOfNull:
		return definition{"22004", "Invalid use of NULL value"}
	case TooManyRows:
		return definition{"42000", "Result consisted of more than one row"}
	case DifferentColumnCounts:
		return definition{"21000", "The used SELECT statements have a different number of columns"}
	case SubqueryManyRows:
		return definition{"21000", "Subquery returns more than 1 row"}
	case DataTruncated:
		return definition{"01000", "Data truncated for column '%s' at row %d"}
	case NotPreparable:
		return definition{"HY000", "This command is not supported in the prepared statement protocol yet"}
	case RoutineExists:
		return definition{"42000", "%s %s already exists"}
	case NoSuchRoutine:
		return definition{"42000", "%s %s does not exist"}
	case NoResultSetHere:
		return definition{"0A000", "PROCEDURE %s.%s can't return a result set in the given context"}
	case LabelMismatch:
		return definition{"42000", "End-label %s without match"}
	case WrongArgumentCount:
		return definition{"42000", "Incorrect number of arguments for PROCEDURE %s.%s; expected %d, got %d"}
	case UndefinedCondition:
		return definition{"42000", "Undefined CONDITION: %s"}
	case UndefinedCursor:
		return definition{"42000", "Undefined CURSOR: %s"}
	case CursorAlreadyOpen:
		return definition{"24000", "Cursor is already open"}
	case CursorNotOpen:
		return definition{"24000", "Cursor is not open"}
	case UndeclaredVariable:
		return definition{"42000", "Undeclared variable: %s"}
	case WrongFetchCount:
		return definition{"HY000", "Incorrect number of FETCH variables"}
	case NoMoreRows:
		return definition{"02000", "No data - zero rows fetched, selected, or processed"}
	case DynamicSQLInFunction:
		return definition{"0A000", "Dynamic SQL is not allowed in stored function or trigger"}
	case CaseNotFound:
		return definition{"20000", "Case not found for CASE statement"}
	case OutOfRange:
		return definition{"22003", "%s value is out of range in '%s'"}
	case WrongObject:
		return definition{"HY000", "%s"}
	case ColumnNotUpdatable:
		return definition{"HY000", "Column '%s' is not updatable"}
	case ViewWithParameter:
		return definition{"HY000", "View's SELECT contains a variable or parameter"}
	case PrimaryKeyRequired:
		return definition{"HY000", "Unable to create or change a table without a primary key, when the system variable 'sql_require_primary_key' is set. " +
			"Add a primary key to the table or unset this variable to avoid this message. Note that tables without a primary key can cause performance " +
			"problems in row-based replication, so please consult your DBA before changing this setting."}
	case ForeignKeyWithSelect:
		return definition{"HY000", "Foreign key creation is not allowed with CREATE TABLE as SELECT and CREATE TABLE with START TRANSACTION statement."}
	case ViewOfTemporary:
		return definition{"HY000", "View's SELECT refers to a temporary table '%s'"}
	case ViewNoExplain:
		return definition{"HY000", "%sEXPLAIN/SHOW can not be issued; lacking privileges for underlying table"}
	case ViewInvalid:
		return definition{"HY000", "View '%s.%s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them"}
	case ReturnOutsideFunction:
		return definition{"42000", "RETURN is only allowed in a FUNCTION"}
	case RowNotAssignable:
		return definition{"HY000", "Updating of %s row is not allowed in %s"}
	case NoSuchTrigger:
		return definition{"HY000", "Trigger does not exist"}
	case TriggerOnTemporary:
		return definition{"HY000", "Trigger's '%s' is %s"}
	case NoSuchRowInTrigger:
		return definition{"HY000", "There is no %s row in on %s trigger"}
	case CheckOptionFailed:
		return definition{"44000", "CHECK OPTION failed %s"}
	case JoinViewManyTables:
		return definition{"HY000", "Can not modify more than one base table through a join view %s"}
	case OutArgumentNotVariable:
		return definition{"42000", "OUT or INOUT argument %d for routine %s.%s is not a variable or NEW pseudo-variable in BEFORE trigger"}
	case NoResultSetInProgram:
		return definition{"0A000", "Not allowed to return a result set from a %s"}
	case NoOpenCursor:
		return definition{"HY000", "The statement (%d) has no open cursor."}
	case CommitInFunction:
		return definition{"HY000", "Explicit or implicit commit is not allowed in stored function or trigger."}
	case TriggerInWrongSchema:
		return definition{"HY000", "Trigger in wrong schema"}
	case TableUsedByCaller:
		return definition{"HY000", "Can't update table '%s' in stored function/trigger because it is already used by statement which invoked this stored function/trigger"}
	case NoSuchUser:
		return definition{"HY000", "The user specified as a definer ('%s'@'%s') does not exist"}
	case RowIsReferenced:
		return definition{"23000", "Cannot delete or update a parent row: a foreign key constraint fails %s"}
	case NoReferencedRow:
		return definition{"23000", "Cannot add or update a child row: a foreign key constraint fails %s"}
	case RecursionLimit:
		return definition{"HY000", "Recursive limit %d (as set by the max_sp_recursion_depth variable) was exceeded for routine %s"}
	case EventExists:
		return definition{"HY000", "Event '%s' already exists"}
	case NoSuchEvent:
		return definition{"HY000", "Unknown event '%s'"}
	case EventSameName:
		return definition{"HY000", "Same old and new event name"}
	case TransactionInProgress:
		return definition{"25001", "Transaction characteristics can't be changed while a transaction is in progress"}
	case ResignalWithoutHandler:
		return definition{"0K000", "RESIGNAL when handler not active"}
	case ConditionWithoutState:
		return definition{"HY000", "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE"}
	case WrongForeignKey:
		return definition{"HY000", "Failed to add the foreign key constraint on table '%s'. Incorrect options in FOREIGN KEY constraint '%s'"}
	case MissingReferencedColumn:
		return definition{"HY000", "Failed to add the foreign key constraint. Missing column '%s' for constraint '%s' in the referenced table '%s'"}
	case MissingReferencedKey:
		return definition{"HY000", "Failed to add the foreign key constraint. Missing unique key for constraint '%s' in the referenced table '%s'"}
	case MissingReferencedIndex:
		return definition{"HY000", "Failed to add the foreign key constraint. Missing index for constraint '%s' in the referenced table '%s'"}
	case StackedWithoutHandler:
		return definition{"0Z002", "GET STACKED DIAGNOSTICS when handler not active"}
	case CascadeTooDeep:
		return definition{"HY000", "Foreign key cascade delete/update exceeds max depth of 15."}
	case IncompatibleReference:
		return definition{"HY000", "Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are incompatible."}
	case UnknownView:
		return definition{"42S02", "Unknown VIEW: '%s'"}
	case WrongCursorArguments:
		return definition{"42000", "Incorrect parameter count to cursor '%s'"}
	default:
		return definition{"HY000", "%s"}
	}
}

// New returns the error c with its text filled in from args, which must match the text's verbs.
func (c Code) New(args ...any) *Error {
	d := definitionOf(c)
	return &Error{Code: c, State: d.state, Message: fmt.Sprintf(d.format, args...)}
}
