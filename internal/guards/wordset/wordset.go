// Package wordset makes sets of the words that guards know, from text that is easy to read.
package wordset

import "strings"

// Of is the set of the words of a text, which white space separates.
func Of(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
