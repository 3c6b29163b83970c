package wire

// Capability is a set of protocol capabilities as client and server agree on them in the handshake. The low 32 bits are
// MySQL's, the high 32 MariaDB's extended ones. A MariaDB server leaves out CapLongPassword to say that it
// is one; a client that sets it gets no extended capability.
type Capability uint64

// MySQL's capabilities.
const (
	CapLongPassword         Capability = 1 << 0 // MariaDB calls it CLIENT_MYSQL: the peer is not MariaDB
	CapFoundRows            Capability = 1 << 1 // affected rows counts rows found, not rows changed
	CapLongFlag             Capability = 1 << 2
	CapConnectWithDB        Capability = 1 << 3
	CapNoSchema             Capability = 1 << 4
	CapCompress             Capability = 1 << 5
	CapODBC                 Capability = 1 << 6
	CapLocalFiles           Capability = 1 << 7
	CapIgnoreSpace          Capability = 1 << 8
	CapProtocol41           Capability = 1 << 9
	CapInteractive          Capability = 1 << 10
	CapSSL                  Capability = 1 << 11
	CapIgnoreSigpipe        Capability = 1 << 12
	CapTransactions         Capability = 1 << 13
	CapReserved             Capability = 1 << 14
	CapSecureConnection     Capability = 1 << 15
	CapMultiStatements      Capability = 1 << 16
	CapMultiResults         Capability = 1 << 17
	CapPSMultiResults       Capability = 1 << 18
	CapPluginAuth           Capability = 1 << 19
	CapConnectAttrs         Capability = 1 << 20
	CapPluginAuthLenenc     Capability = 1 << 21
	CapExpiredPasswords     Capability = 1 << 22
	CapSessionTrack         Capability = 1 << 23
	CapDeprecateEOF         Capability = 1 << 24
	CapOptionalMetadata     Capability = 1 << 25
	CapZstd                 Capability = 1 << 26
	CapQueryAttributes      Capability = 1 << 27
	CapMultiFactorAuth      Capability = 1 << 28
	CapExtension            Capability = 1 << 29
	CapSSLVerifyServerCert  Capability = 1 << 30
	CapRememberOptions      Capability = 1 << 31
	CapMariaProgress        Capability = 1 << 32
	CapMariaComMulti        Capability = 1 << 33
	CapMariaBulkOperations  Capability = 1 << 34
	CapMariaExtendedTypes   Capability = 1 << 35 // column definitions carry a type or format name
	CapMariaCacheMetadata   Capability = 1 << 36
	CapMariaBulkUnitResults Capability = 1 << 37
)

// Has reports whether every capability of want is in c.
func (c Capability) Has(want Capability) bool { return c&want == want }
