package code

import (
	"cmp"
	"slices"
	"strings"
)

// pythonLoad parses load. Some libraries execute code in the file that they load.
func (r *reader) pythonLoad(i int) (more int, ok bool) {
	root := r.root(i)
	if r.member(i) && r.at(i-2).kind != 'n' {
		return 0, false
	}
	module := strings.TrimSuffix(cmp.Or(r.alias[root], root), ".")
	if module == "numpy" && r.argument(i+1, 1) >= 0 {
		return 0, false // it may allow pickled data, which executes code
	}
	return 0, !r.member(i) || !slices.Contains([]string{"torch", "keras", "tensorflow", "whisper", ""}, module)
}

// pythonDrop parses drop and reset, which only affect a data frame in memory.
func (r *reader) pythonDrop(i int) (more int, ok bool) { return 0, r.frames && r.member(i) }

// pythonFrameText parses query. pandas evaluates it, so it must be a literal.
func (r *reader) pythonFrameText(i int) (more int, ok bool) {
	if slices.Contains(r.reach.Modules, "duckdb") {
		return r.pythonDuck(i)
	}
	if !r.frames || !r.member(i) || r.at(i+1).kind != '(' {
		return 0, true
	}
	_, ok = r.text(i + 2)
	return 0, ok
}

// pythonDuck parses a query of DuckDB, which can name files. It is evaluated as one of the program
// duckdb.
func (r *reader) pythonDuck(i int) (more int, ok bool) {
	if !slices.Contains(r.reach.Modules, "duckdb") {
		return 0, true
	}
	t := r.at(i + 2)
	if !r.follow(i+1, "(t") || !t.plain {
		return 0, false
	}
	r.runs("duckdb", "-c", t.value)
	return 2, true
}
