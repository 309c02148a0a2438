package shell

import (
	"regexp"
	"strings"
)

// jsWords are names that code of JavaScript may have beside codeWords: what its values can do, and
// what modules of node that compute are asked for.
var jsWords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`new Set Map URL return function else switch case default break continue do while try catch finally throw instanceof void
		toLocaleString toUpperCase toLowerCase padStart padEnd repeat charCodeAt fromCharCode codePointAt flat flatMap fill at test match matchAll replaceAll substring substr splice unshift shift pop has get set add size assign freeze
		Intl DateTimeFormat NumberFormat format timeZone
		then json text ok status await async
		now getTime getFullYear isNaN isFinite isInteger localeCompare indexOf lastIndexOf findIndex table warn info startsWith endsWith searchParams href hostname pathname
		resolve basename dirname extname relative normalize createHash update digest randomUUID inspect strictEqual deepStrictEqual`) {
		all[word] = true
	}
	return all
}()

var (
	// codeNth is an element by its number.
	codeNth = regexp.MustCompile(`([\w)\]])\[\d+\]`)
	// codeComputes are modules of node that only compute.
	codeComputes = regexp.MustCompile(`^(node:)?(path|crypto|util|url|assert)$`)
	codeBase     = regexp.MustCompile(`(?:^|[^.\w$)\]?])(\w+)(?:\??\.\w+)*\??\.\s*$`)
)

// ofGiven reports whether the name at a place is a member of a value that the code has, and is not
// called: such values are data, or the project's.
func ofGiven(code string, at []int, given map[string]bool) bool {
	if powerful(code[at[0]:at[1]]) || strings.HasPrefix(strings.TrimSpace(code[at[1]:]), "(") {
		return false
	}
	m := codeBase.FindStringSubmatch(code[max(0, at[0]-200):at[0]])
	return len(m) > 1 && given[m[1]]
}
