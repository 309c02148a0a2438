// Package wordset builds the sets of words that guards know.
package wordset

import "strings"

// Of returns the set of words in a text, separated by white space.
func Of(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
