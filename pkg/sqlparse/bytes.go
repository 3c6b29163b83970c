package sqlparse

// byteClass tells the lexer what a byte can begin: one letter for each of the 256 bytes.
const byteClass = "" +
	"0bbbbbbbbsssssbb" +
	"bbbbbbbbbbbbbbbb" +
	"smQ#womqoo*oo-./" +
	"ddddddddddmommm?" +
	"@wwwwwwwwwwwwwww" +
	"wwwwwwwwwwwo\\oow" +
	"kwwwwwwwwwwwwwww" +
	"wwwwwwwwwwwomoob" +
	"wwwwwwwwwwwwwwww" +
	"wwwwwwwwwwwwwwww" +
	"wwwwwwwwwwwwwwww" +
	"wwwwwwwwwwwwwwww" +
	"wwwwwwwwwwwwwwww" +
	"wwwwwwwwwwwwwwww" +
	"wwwwwwwwwwwwwwww" +
	"wwwwwwwwwwwwwwww"

// The classes in byteClass.
const (
	byteSpace     = 's'
	byteWord      = 'w' // letters, _ and $, and every byte from 128 on
	byteDigit     = 'd'
	byteQuote     = 'q'
	byteDouble    = 'Q'
	byteBackquote = 'k'
	byteAt        = '@'
	byteDot       = '.'
	byteMinus     = '-'
	byteSlash     = '/'
	byteHash      = '#'
	byteParam     = '?'
	byteStar      = '*'
	byteBackslash = '\\'
	byteSingle    = 'o' // an operator of one byte
	byteMulti     = 'm' // can begin an operator of several bytes
	byteNUL       = '0'
	byteBad       = 'b'
)

// isWordByte reports whether c can continue a name.
func isWordByte(c byte) bool { k := byteClass[c]; return k == byteWord || k == byteDigit }

func isDigit(c byte) bool { return c-'0' < 10 }
