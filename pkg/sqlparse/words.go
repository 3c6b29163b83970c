package sqlparse

import "strings"

// wordSlots is the size of the keyword table, a power of two well over the number of keywords.
const wordSlots = 2048

// maxWord is longer than any keyword.
const maxWord = 24

type wordFlag uint16

const (
	wordReserved wordFlag = 1 << iota // in MySQL and MariaDB: no name can be written so without quotes
	wordOperand                       // ends an operand: a minus after it subtracts
	wordCall                          // uses count only before an opening parenthesis
	wordSpaced                        // function name that must touch its parenthesis unless IGNORE_SPACE
	wordType                          // type name that can have a length
	wordText                          // a string after it is no value: it stays in the shape
	wordHint                          // can be followed by an optimizer hint
	wordCharset                       // _latin1: introducer
	wordVerb                          // begins a statement inside a stored program
	wordQuote                         // reserved to vitess, but not to the servers
)

// wordEntry is one keyword.
type wordEntry struct {
	text  string // lower case
	id    wordID
	flags wordFlag
	uses  Uses
}

type wordID uint16

// The words the package looks for by name. Others get numbers from firstOther on.
const (
	wNone wordID = iota
	wAlter
	wAnalyze
	wAnd
	wAs
	wBegin
	wBinary
	wBy
	wCall
	wCase
	wChange
	wChar
	wCharacter
	wCharset
	wCheck
	wChecksum
	wCollate
	wColumn
	wColumns
	wCommit
	wConvert
	wCreate
	wCross
	wDatabase
	wDate
	wDeallocate
	wDec
	wDeclare
	wDefault
	wDefiner
	wDelayed
	wDelete
	wDesc
	wDescribe
	wDistinct
	wDistinctRow
	wDo
	wDouble
	wDrop
	wDual
	wDuplicate
	wEach
	wElse
	wEnd
	wErrors
	wEvent
	wExcept
	wExecute
	wExists
	wExplain
	wExtended
	wFalse
	wFields
	wFlush
	wFor
	wForce
	wFormat
	wFrom
	wFull
	wFunction
	wGet
	wGrant
	wGroup
	wHandler
	wHaving
	wHighPriority
	wIf
	wIgnore
	wImmediate
	wIn
	wIndex
	wIndexes
	wInner
	wInsert
	wInt
	wIntersect
	wInterval
	wInto
	wIs
	wJoin
	wJSONTable
	wKey
	wKeys
	wKill
	wLastInsertID
	wLateral
	wLeft
	wLimit
	wLoad
	wLocal
	wLock
	wLoop
	wLowPriority
	wMinus
	wName
	wNames
	wNatural
	wNext
	wNot
	wNull
	wOf
	wOffset
	wOn
	wOnline
	wOptimize
	wOr
	wOrder
	wOuter
	wOutfile
	wPackage
	wPartition
	wPassword
	wPartitions
	wPersist
	wPrecedes
	wPrecision
	wPrepare
	wPrevious
	wProcedure
	wQuick
	wRecursive
	wRelease
	wRename
	wRepair
	wRepeat
	wReplace
	wReturn
	wReturning
	wRevoke
	wRight
	wRole
	wRollback
	wRow
	wRows
	wSavepoint
	wSchema
	wSelect
	wSeparator
	wSequence
	wSet
	wShare
	wShow
	wSigned
	wSpatial
	wSQL
	wSQLBigResult
	wSQLBufferResult
	wSQLCache
	wSQLCalcFoundRows
	wSQLNoCache
	wSQLSmallResult
	wStart
	wStatement
	wStraightJoin
	wSystemTime
	wTable
	wTables
	wTemporary
	wThen
	wTime
	wTimestamp
	wTo
	wTransaction
	wTrigger
	wTrue
	wTruncate
	wUnion
	wUnique
	wUnlock
	wUnsigned
	wUntil
	wUpdate
	wUse
	wUser
	wUsing
	wValue
	wValues
	wVarchar
	wView
	wWarnings
	wWhere
	wWhile
	wWindow
	wWith
	wXA
	wAggregate
	wAlgorithm
	wFollows
	wFulltext
	wIdentified
	wAll
	wLike
	wDumpfile
	wInfile
	wOj
	firstOther
)

// slot is where the search for a word begins: length, first, second and last byte, without case.
func slot(w []byte) uint32 {
	k := uint32(w[0]|0x20) | uint32(w[1]|0x20)<<8 | uint32(w[len(w)-1]|0x20)<<16 | uint32(len(w))<<24
	return k * 0x9E3779B1 >> (32 - 11)
}

// lookup returns the keyword w is, in any case of letters, or nil.
func (d *Dialect) lookup(w []byte) *wordEntry {
	if len(w) < 2 || len(w) > maxWord {
		return nil
	}
	for i := slot(w); ; i++ {
		e := &d.words[i%wordSlots]
		if len(e.text) == 0 {
			return nil
		}
		if equalFold(w, e.text) {
			return e
		}
	}
}

// equalFold compares w without case to text, which is lower case ASCII letters, digits and _.
func equalFold(w []byte, text string) bool {
	if len(w) != len(text) {
		return false
	}
	for i := range w {
		c := w[i]
		if c-'A' < 26 {
			c |= 0x20
		}
		if c != text[i] {
			return false
		}
	}
	return true
}

// define enters a keyword, or adds flags and uses to one that is there.
func (d *Dialect) define(text string, id wordID, flags wordFlag, uses Uses, other *wordID) {
	text = strings.ToLower(text)
	i := slot([]byte(text)) % wordSlots
	for d.words[i].text != "" && d.words[i].text != text {
		i = (i + 1) % wordSlots
	}
	e := &d.words[i]
	if e.text == "" {
		e.text = text
		if id == wNone {
			id = *other
			*other++
		}
		e.id = id
	}
	e.flags |= flags
	e.uses |= uses
}

// fillWords makes the keyword table.
func (d *Dialect) fillWords() {
	other := firstOther
	for text, id := range namedWords() {
		d.define(text, id, 0, 0, &other)
	}
	all := func(flags wordFlag, uses Uses, words string) {
		for _, w := range strings.Fields(words) {
			d.define(w, wNone, flags, uses, &other)
		}
	}
	// Reserved on both servers, in every version Skarv works with.
	all(wordReserved, 0, `ACCESSIBLE ADD ALL ALTER ANALYZE AND AS ASC ASENSITIVE BEFORE BETWEEN BIGINT BINARY BLOB BOTH BY
		CALL CASCADE CASE CHANGE CHAR CHARACTER CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE CONVERT CREATE CROSS
		CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASES DAY_HOUR DAY_MICROSECOND
		DAY_MINUTE DAY_SECOND DEC DECIMAL DECLARE DEFAULT DELAYED DELETE DESC DESCRIBE DETERMINISTIC DISTINCT DISTINCTROW
		DIV DOUBLE DROP DUAL EACH ELSE ELSEIF ENCLOSED ESCAPED EXISTS EXIT EXPLAIN FALSE FETCH FLOAT FLOAT4 FLOAT8 FOR
		FORCE FOREIGN FROM FULLTEXT GRANT GROUP HAVING HIGH_PRIORITY HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND IF IGNORE IN
		INDEX INFILE INNER INOUT INSENSITIVE INSERT INT INT1 INT2 INT3 INT4 INT8 INTEGER INTERVAL INTO IS ITERATE JOIN KEY
		KEYS KILL LEADING LEAVE LEFT LIKE LIMIT LINEAR LINES LOAD LOCALTIME LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP
		LOW_PRIORITY MATCH MEDIUMBLOB MEDIUMINT MEDIUMTEXT MIDDLEINT MINUTE_MICROSECOND MINUTE_SECOND MOD MODIFIES
		NATURAL NOT NO_WRITE_TO_BINLOG NULL NUMERIC ON OPTIMIZE OPTIONALLY OR ORDER OUT OUTER OUTFILE PARTITION
		PRECISION PRIMARY PROCEDURE PURGE RANGE READ READS READ_WRITE REAL REFERENCES REGEXP RELEASE RENAME REPEAT REPLACE
		REQUIRE RESIGNAL RESTRICT RETURN REVOKE RIGHT RLIKE SCHEMAS SECOND_MICROSECOND SELECT SENSITIVE SEPARATOR SET
		SHOW SIGNAL SMALLINT SPATIAL SPECIFIC SQL SQLEXCEPTION SQLSTATE SQLWARNING SQL_BIG_RESULT SQL_CALC_FOUND_ROWS
		SQL_SMALL_RESULT SSL STARTING STRAIGHT_JOIN TABLE TERMINATED THEN TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER TRUE
		UNDO UNION UNIQUE UNLOCK UNSIGNED UPDATE USAGE USE USING UTC_DATE UTC_TIME UTC_TIMESTAMP VALUES VARBINARY VARCHAR
		VARCHARACTER VARYING WHEN WHERE WHILE WITH WRITE XOR YEAR_MONTH ZEROFILL`)
	all(wordOperand, 0, `NULL TRUE FALSE DEFAULT DUAL CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER LOCALTIME
		LOCALTIMESTAMP UTC_DATE UTC_TIME UTC_TIMESTAMP DAY_HOUR DAY_MICROSECOND DAY_MINUTE DAY_SECOND HOUR_MICROSECOND
		HOUR_MINUTE HOUR_SECOND MINUTE_MICROSECOND MINUTE_SECOND SECOND_MICROSECOND YEAR_MONTH`)
	all(wordHint, 0, `SELECT INSERT REPLACE UPDATE DELETE`)
	all(wordText, 0, `AS SEPARATOR COLLATE OUTFILE DUMPFILE INFILE USING BY CHARSET CHARACTER SET NAMES`)
	all(wordType, 0, `DECIMAL DEC NUMERIC FIXED CHAR NCHAR VARCHAR CHARACTER BINARY VARBINARY FLOAT DOUBLE REAL TIME DATETIME
		TIMESTAMP YEAR BIT SIGNED UNSIGNED VECTOR
		CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP UTC_TIME UTC_TIMESTAMP`) // and functions with a precision
	all(wordSpaced, 0, `ADDDATE BIT_AND BIT_OR BIT_XOR CAST COUNT CURDATE CURTIME DATE_ADD DATE_SUB EXTRACT GROUP_CONCAT MAX
		MID MIN NOW POSITION SESSION_USER STD STDDEV STDDEV_POP STDDEV_SAMP SUBDATE SUBSTR SUBSTRING SUM SYSDATE
		SYSTEM_USER TRIM VARIANCE VAR_POP VAR_SAMP`)
	all(wordVerb, 0, `SELECT INSERT REPLACE UPDATE DELETE SET CALL RETURN WITH OPEN FETCH CLOSE SIGNAL RESIGNAL GET DO EXECUTE
		PREPARE DEALLOCATE COMMIT ROLLBACK START SAVEPOINT CREATE DROP ALTER TRUNCATE LEAVE ITERATE SHOW LOCK UNLOCK LOAD
		ANALYZE FLUSH KILL RENAME GRANT REVOKE VALUES`)
	all(wordQuote, 0, `CUME_DIST DATABASE DENSE_RANK EMPTY FIRST_VALUE GENERATED LAG LAST_VALUE LATERAL LEAD NEXT NTILE NTH_VALUE OFF
		PERCENT_RANK POSTPONE RANK REVERT ROW SAVEPOINT SCHEMA STORED VIRTUAL VSTREAM WINDOW`)
	all(wordCall, Nondeterministic, `NOW SYSDATE CURDATE CURTIME RAND UUID UUID_SHORT SYS_GUID UNIX_TIMESTAMP RANDOM_BYTES
		SLEEP BENCHMARK LOCALTIME LOCALTIMESTAMP`)
	all(0, Nondeterministic, `CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP UTC_DATE UTC_TIME
		UTC_TIMESTAMP`)
	all(wordCall, ReadsSession, `CONNECTION_ID USER SESSION_USER SYSTEM_USER DATABASE SCHEMA CURRENT_ROLE ROLES_GRAPHML`)
	all(0, ReadsSession, `CURRENT_USER CURRENT_ROLE`)
	all(wordCall, ReadsDiagnostics, `FOUND_ROWS ROW_COUNT`)
	all(wordCall, ReadsLastInsertID, `LAST_INSERT_ID`)
	all(wordCall, UserLock, `GET_LOCK RELEASE_LOCK IS_FREE_LOCK IS_USED_LOCK RELEASE_ALL_LOCKS`)
	all(wordCall, Sequence, `NEXTVAL LASTVAL SETVAL`)
	all(wordCall, IntoFile, `LOAD_FILE`)
	all(0, IntoFile, `OUTFILE DUMPFILE`)
	all(0, CalcFoundRows, `SQL_CALC_FOUND_ROWS`)
	all(0, Returning, `RETURNING`)
	all(0, Not, `NOT`)
	all(wordCharset, 0, `_armscii8 _ascii _big5 _binary _cp1250 _cp1251 _cp1256 _cp1257 _cp850 _cp852 _cp866 _cp932 _dec8 _eucjpms
		_euckr _gb18030 _gb2312 _gbk _geostd8 _greek _hebrew _hp8 _keybcs2 _koi8r _koi8u _latin1 _latin2 _latin5 _latin7
		_macce _macroman _sjis _swe7 _tis620 _ucs2 _ujis _utf16 _utf16le _utf32 _utf8 _utf8mb3 _utf8mb4`)
}
