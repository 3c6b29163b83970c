package placement

// Key is how the values of a distribution key become a partition: one KeyColumn for each of its columns.
type Key []KeyColumn

// KeyColumn is what hashing needs to know of one distribution column.
type KeyColumn struct{}
