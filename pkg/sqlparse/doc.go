// Package sqlparse reads SQL text: into tokens, a fingerprint and arguments, without a syntax tree and without
// allocation, for every statement; into a syntax tree, for shapes not seen before. It knows the lexical rules of
// MySQL and MariaDB. It knows no schema, no placement and no plan.
//
// # Shape and arguments
//
// Two statements have the same shape, and so the same Fingerprint, when they differ only in white space, comments,
// the case of reserved words, and the text of their arguments. Arguments are numbered from 0 in order of appearance:
//
//   - a literal or a `?` is one argument. The class of a literal (integer, decimal, float, string with its
//     character set introducer, hex, bit, date...) and "parameter" belong to the shape. A sign directly before a
//     number belongs to it.
//   - the parenthesised list after IN is one argument when it holds nothing but literals and parameters, whatever
//     its length. Which classes occur in it belongs to the shape.
//   - in the VALUES rows of INSERT and REPLACE a value that is a literal, a parameter, NULL, TRUE, FALSE or DEFAULT
//     is one argument (class Plain in the shape: it does not matter which). Rows of one shape count once: only the
//     first row of each distinct shape is numbered, and every row with a subquery; see Statement.Row for all of them.
//
// Everything else is in the shape: names as written, NULL, TRUE and FALSE outside VALUES, optimizer hints, what
// executable comments add, aliases written as strings, lengths in type names.
//
// Argument N stands in the normalised text as `:vN` (a list as `::vN`): Argument numbers and names agree.
package sqlparse
