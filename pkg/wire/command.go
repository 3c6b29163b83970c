package wire

import "strconv"

// Command is the first byte of a request.
type Command byte

// The commands a client can send. Those between are internal to a server or long gone.
const (
	ComSleep            Command = 0
	ComQuit             Command = 1
	ComInitDB           Command = 2
	ComQuery            Command = 3
	ComFieldList        Command = 4
	ComCreateDB         Command = 5
	ComDropDB           Command = 6
	ComRefresh          Command = 7
	ComShutdown         Command = 8
	ComStatistics       Command = 9
	ComProcessInfo      Command = 10
	ComProcessKill      Command = 12
	ComDebug            Command = 13
	ComPing             Command = 14
	ComChangeUser       Command = 17
	ComBinlogDump       Command = 18
	ComTableDump        Command = 19
	ComRegisterReplica  Command = 21
	ComStmtPrepare      Command = 22
	ComStmtExecute      Command = 23
	ComStmtSendLongData Command = 24
	ComStmtClose        Command = 25
	ComStmtReset        Command = 26
	ComSetOption        Command = 27
	ComStmtFetch        Command = 28
	ComBinlogDumpGTID   Command = 30
	ComResetConnection  Command = 31
	ComClone            Command = 32
	ComStmtBulkExecute  Command = 250 // MariaDB
)

// NoAnswer reports whether the server sends nothing back for c.
func (c Command) NoAnswer() bool {
	return c == ComQuit || c == ComStmtClose || c == ComStmtSendLongData
}

// String is the name the protocol's documentation gives the command.
func (c Command) String() string {
	switch c {
	case ComSleep:
		return "COM_SLEEP"
	case ComQuit:
		return "COM_QUIT"
	case ComInitDB:
		return "COM_INIT_DB"
	case ComQuery:
		return "COM_QUERY"
	case ComFieldList:
		return "COM_FIELD_LIST"
	case ComCreateDB:
		return "COM_CREATE_DB"
	case ComDropDB:
		return "COM_DROP_DB"
	case ComRefresh:
		return "COM_REFRESH"
	case ComShutdown:
		return "COM_SHUTDOWN"
	case ComStatistics:
		return "COM_STATISTICS"
	case ComProcessInfo:
		return "COM_PROCESS_INFO"
	case ComProcessKill:
		return "COM_PROCESS_KILL"
	case ComDebug:
		return "COM_DEBUG"
	case ComPing:
		return "COM_PING"
	case ComChangeUser:
		return "COM_CHANGE_USER"
	case ComBinlogDump:
		return "COM_BINLOG_DUMP"
	case ComTableDump:
		return "COM_TABLE_DUMP"
	case ComRegisterReplica:
		return "COM_REGISTER_SLAVE"
	case ComStmtPrepare:
		return "COM_STMT_PREPARE"
	case ComStmtExecute:
		return "COM_STMT_EXECUTE"
	case ComStmtSendLongData:
		return "COM_STMT_SEND_LONG_DATA"
	case ComStmtClose:
		return "COM_STMT_CLOSE"
	case ComStmtReset:
		return "COM_STMT_RESET"
	case ComSetOption:
		return "COM_SET_OPTION"
	case ComStmtFetch:
		return "COM_STMT_FETCH"
	case ComBinlogDumpGTID:
		return "COM_BINLOG_DUMP_GTID"
	case ComResetConnection:
		return "COM_RESET_CONNECTION"
	case ComClone:
		return "COM_CLONE"
	case ComStmtBulkExecute:
		return "COM_STMT_BULK_EXECUTE"
	default:
		return "COM_" + strconv.Itoa(int(c))
	}
}
