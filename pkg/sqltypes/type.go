// Package sqltypes is values, columns and collations as MySQL has them: what types exist on the wire, how a
// value is written as SQL text, and how two values compare and hash. It does not parse SQL and reads no packets.
package sqltypes

// Type is the type byte of the MySQL protocol (column definitions and binary parameters).
type Type uint8

// The protocol's types; numbers are those of the protocol.
const (
	TypeDecimal    Type = 0
	TypeTiny       Type = 1
	TypeShort      Type = 2
	TypeLong       Type = 3
	TypeFloat      Type = 4
	TypeDouble     Type = 5
	TypeNull       Type = 6
	TypeTimestamp  Type = 7
	TypeLongLong   Type = 8
	TypeInt24      Type = 9
	TypeDate       Type = 10
	TypeTime       Type = 11
	TypeDatetime   Type = 12
	TypeYear       Type = 13
	TypeVarchar    Type = 15
	TypeBit        Type = 16
	TypeVector     Type = 242 // MySQL's, and in its binary log; MariaDB sends another one
	TypeJSON       Type = 245
	TypeNewDecimal Type = 246
	TypeEnum       Type = 247
	TypeSet        Type = 248
	TypeTinyBlob   Type = 249
	TypeMediumBlob Type = 250
	TypeLongBlob   Type = 251
	TypeBlob       Type = 252
	TypeVarString  Type = 253
	TypeString     Type = 254
	TypeGeometry   Type = 255
)

// Flag bits of a result column, as in the protocol.
const (
	FlagNotNull       uint16 = 1
	FlagPrimaryKey    uint16 = 2
	FlagUniqueKey     uint16 = 4
	FlagMultipleKey   uint16 = 8
	FlagBlob          uint16 = 16
	FlagUnsigned      uint16 = 32
	FlagZerofill      uint16 = 64
	FlagBinary        uint16 = 128
	FlagEnum          uint16 = 256
	FlagAutoIncrement uint16 = 512
	FlagTimestamp     uint16 = 1024
	FlagSet           uint16 = 2048
	FlagNoDefault     uint16 = 4096
	FlagPartOfKey     uint16 = 16384
)

// Column describes one column of a result, field by field as a column definition packet does.
type Column struct {
	Schema, Table, OrgTable, Name, OrgName string
	// Extended is what MariaDB says of a type or format that the protocol has no number for (uuid, json), as it is sent to clients
	// that have agreed to it.
	Extended string
	Charset  uint16 // collation number
	Length   uint32
	Type     Type
	Flags    uint16
	Decimals uint8
}

// Kind says how a Value was written or sent, which decides how MySQL compares and converts it.
type Kind uint8

// The kinds of values.
const (
	Null     Kind = iota
	Int           // decimal digits with an optional sign: fits no particular width
	Decimal       // exact number with a point: 1.50
	Float         // 1e0, or a float or double parameter; Raw is its shortest exact decimal text
	String        // character string, unescaped, in the connection's character set
	Binary        // byte string: x'..', _binary'..', blob parameter
	Date          // 2006-01-02 (parameters only; in text such values are Strings)
	Datetime      // 2006-01-02 15:04:05[.ffffff] (parameters only)
	Time          // [-]HHH:MM:SS[.ffffff] (parameters only)
	Bool          // TRUE or FALSE keyword; Raw is 1 or 0
)

// Value is one scalar. Raw is text (see Kind); it usually points into the packet or statement it was read from
// and is valid as long as that is. The zero Value is NULL.
type Value struct {
	Kind Kind
	Raw  []byte
}

// IsNull reports whether v is SQL NULL.
func (v Value) IsNull() bool { return v.Kind == Null }
