package pathguard

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/pkg/events"
)

var (
	// filters are the members that restrict a text search to files with some names, without the
	// separators of their words.
	filters = []string{"glob", "include", "includepattern", "filepattern"}
	joiners = strings.NewReplacer("_", "", "-", "")
	escaped = regexp.MustCompile(`\\(.)`) // \. is a dot
)

// searched returns the files that a search tool reads, if its input restricts them by patterns.
// They are not paths of the tool, which is given a directory. whole is false if some can't be read,
// or if there are too many.
func searched(tool events.Tool, ev events.Event) (all []access, whole bool) {
	if tool.Class != events.ClassFile || tool.Operation != events.OperationSearch {
		return nil, true
	}
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return nil, false
	}
	dirs := tool.Paths
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	input, _ := data.ToolInput()
	patterns, whole := narrowed(input)
	for _, pattern := range patterns {
		from := dirs
		if strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~") { // some searches take it as an absolute path
			from = append(slices.Clip(dirs), "")
		}
		for _, dir := range from {
			names, a := filter(pattern)
			if len(all)+len(names) > events.MaxToolPaths {
				return all, false
			}
			for _, name := range names {
				if dir != "" || pattern[0] == '/' {
					name = dir + "/" + name
				}
				a.path = paths.Resolve(name, tool.Cwd)
				all = append(all, a)
			}
		}
	}
	return all, whole
}

// narrowed returns the patterns in an input, including those of nested calls. ok is false if some
// can't be read.
func narrowed(input events.Object) (patterns []string, ok bool) {
	ok = true
	for member, value := range input.All() {
		if slices.Contains(filters, strings.ToLower(joiners.Replace(member))) {
			more, read := patternsOf(value)
			patterns, ok = append(patterns, more...), ok && read
			continue
		}
		held := []jsontext.Value{value}
		if value.Kind() == '[' {
			held = nil
			_ = json.Unmarshal(value, &held) // it has been parsed before
		}
		for _, v := range held {
			if text := ""; v.Kind() == '"' && json.Unmarshal(v, &text) == nil && strings.HasPrefix(text, "{") {
				v = jsontext.Value(text) // arguments as JSON in a string
			}
			if inner, err := events.ParseObject(v); err == nil {
				more, read := narrowed(inner)
				patterns, ok = append(patterns, more...), ok && read
			}
		}
	}
	return patterns, ok
}

// patternsOf returns the patterns in a string or a list. They are separated by spaces, and possibly
// by commas.
func patternsOf(value []byte) (all []string, ok bool) {
	var texts []string
	if json.Unmarshal(value, &texts) != nil {
		texts = make([]string, 1)
		if json.Unmarshal(value, &texts[0]) != nil {
			return nil, false
		}
	}
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			all = append(all, word)
			if parts := strings.Split(word, ","); len(parts) > 1 {
				all = append(all, parts...)
			}
		}
	}
	return all, true
}

// filter returns the names that a recursive search with a pattern matches. Unlike in a shell, *.env
// and *env match .env too. It returns nothing for a pattern that excludes files or matches all of
// them.
func filter(pattern string) (names []string, a access) {
	pattern = escaped.ReplaceAllString(pattern, "$1")
	name := strings.TrimSuffix(strings.ReplaceAll(pattern, "**/", ""), "/**")
	if name = strings.TrimLeft(name, "/"); strings.HasPrefix(name, "!") || strings.Trim(name, "*/") == "" {
		return nil, a
	}
	names = []string{name}
	dir, base := path.Split(name)
	if strings.Trim(base, "*") != base {
		rest := strings.TrimLeft(base, "*")
		if names = append(names, dir+rest, dir+"."+rest); rest != base && !strings.ContainsAny(rest, ".*?[{") {
			names = append(names, dir+".*"+rest)
		}
	}
	if strings.HasPrefix(base, "?") {
		names = append(names, dir+"."+base[1:])
	}
	return names, access{reads: true, below: true, glob: strings.ContainsAny(name, "*?[{"), deep: true}
}
