package sqltypes

// Collation is one way of comparing character strings.
type Collation struct{ name string }
