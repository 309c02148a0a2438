package pathguard

import "strings"

// filter is the name that a search looks for in a directory and those below it, where it is
// narrowed by a pattern. It is empty for one that leaves something out, and for one that
// lets all through.
func filter(pattern string) (name string, a access) {
	name = strings.TrimSuffix(strings.ReplaceAll(pattern, "**/", ""), "/**")
	if name = strings.TrimLeft(name, "/"); strings.HasPrefix(name, "!") || strings.Trim(name, "*/") == "" {
		return "", a
	}
	return name, access{reads: true, below: true, glob: strings.ContainsAny(name, "*?[{"), deep: true}
}
