package wire

// Status is the server's state flags at the end of a statement, in OK and EOF packets.
type Status uint16

// The flags of a Status.
const (
	StatusInTrans             Status = 1 << 0 // a transaction is open
	StatusAutocommit          Status = 1 << 1
	StatusMoreResults         Status = 1 << 3 // another result follows this one
	StatusNoGoodIndexUsed     Status = 1 << 4
	StatusNoIndexUsed         Status = 1 << 5
	StatusCursorExists        Status = 1 << 6 // rows wait for COM_STMT_FETCH
	StatusLastRowSent         Status = 1 << 7
	StatusDBDropped           Status = 1 << 8
	StatusNoBackslashEscapes  Status = 1 << 9
	StatusMetadataChanged     Status = 1 << 10
	StatusQueryWasSlow        Status = 1 << 11
	StatusPSOutParams         Status = 1 << 12
	StatusInTransReadonly     Status = 1 << 13
	StatusSessionStateChanged Status = 1 << 14 // an OK packet carries session state
	StatusANSIQuotes          Status = 1 << 15 // MariaDB
)

// Has reports whether every flag of want is in s.
func (s Status) Has(want Status) bool { return s&want == want }
