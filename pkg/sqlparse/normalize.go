package sqlparse

// Normalized returns the statement with its arguments replaced by `:vN` and `::vN`, comments removed, names quoted
// where the parser needs it, and only the first of VALUES rows of equal shape. Valid until the next Scan.
func (s *Statement) Normalized() []byte { return nil }

// Digest appends the statement for people: literals as `?`, lists as `(...)`, only the first row. It shows no
// values. It is not made for reading by machines.
func (s *Statement) Digest(dst []byte) []byte { return dst }

// ArgNumber returns the argument a name in a syntax tree stands for: "v3" or ":v3" is 3.
func ArgNumber(name string) (n int, ok bool) { return 0, false }
