// Package wordlist is lists of words in one string each: constants, where a map would be a variable that is filled when the program starts.
package wordlist

import "strings"

// Has reports whether a word is one of list, in which there are spaces around each, and every line begins with one.
func Has(list, word string) bool {
	if word == "" { // as `` is read
		return false
	}
	at := 0
	for {
		i := strings.Index(list[at:], word)
		if i < 0 {
			return false
		}
		at += i + 1
		end := at - 1 + len(word)
		if at >= 2 && list[at-2] == ' ' && end < len(list) && (list[end] == ' ' || list[end] == '\n') {
			return true
		}
	}
}
