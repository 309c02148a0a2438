package code

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

// pythonOpen parses open('name') with its mode, also of gzip and the like.
func (r *reader) pythonOpen(i int) (more int, ok bool) {
	if r.member(i) && !slices.Contains([]string{"gzip", "bz2", "lzma", "io", "codecs", "Image"}, r.root(i)) {
		return 0, false
	}
	text, ok := r.text(i + 2)
	glob, found := r.globs[r.at(i+2).value]
	if found && r.at(i+2).kind == 'n' {
		text, ok = glob, true
	}
	if r.at(i+1).kind != '(' || !ok {
		return 0, false
	}
	mode, end := r.at(i+4), r.at(i+3).kind
	read := mode.kind == 't' && slices.Contains([]string{"r", "rb", "rt"}, mode.value) && (r.at(i+5).kind == ')' || r.at(i+5).kind == ',')
	decoded := (r.is(i+4, "encoding") || r.is(i+4, "newline")) && r.at(i+6).kind == 't' && r.at(i+7).kind == ')'
	r.reach.Files = append(r.reach.Files, File{Name: text, Glob: found, Write: end != ')' && !read && !decoded})
	return 2, end == ')' || end == ','
}

// pythonPath parses Path('name') / 'name', and the listing of files below it.
func (r *reader) pythonPath(i int) (more int, ok bool) {
	if r.member(i) && r.root(i) != "pathlib" || r.at(i+1).kind != '(' {
		return 0, false
	}
	text, ok := r.text(i + 2)
	if !ok || r.at(i+3).kind != ')' {
		return 0, false
	}
	j := i + 4
	for ; r.at(j).kind == '/' && r.at(j+1).kind == 't' && r.at(j+1).plain; j += 2 {
		if strings.HasPrefix(r.at(j+1).value, "/") {
			return 0, false
		}
		text += "/" + r.at(j+1).value
		r.joins--
	}
	for r.at(j).kind == ')' && r.at(j+1).kind == '.' {
		j++ // (Path('a') / 'b').read_text()
	}
	if r.at(j).kind != '.' || !r.is(j+1, "rglob") && !r.is(j+1, "glob") && !r.is(j+1, "iterdir") {
		r.opens(text, r.writes)
		return j - 1 - i, true
	}
	found := "*"
	if !r.is(j+1, "iterdir") {
		found, ok = r.text(j + 3)
		if !ok || r.at(j+2).kind != '(' || r.at(j+4).kind != ')' || strings.Contains(found, "..") {
			return 0, false
		}
	}
	r.reach.Files = append(r.reach.Files, File{Name: text, Pattern: found[strings.LastIndexByte(found, '/')+1:], Write: r.writes})
	return j + 1 - i, true
}

// pythonShutil parses shutil.rmtree('name'), which is rm -rf, and functions that only return
// information.
func (r *reader) pythonShutil(i int) (more int, ok bool) {
	if r.at(i+1).kind != '.' {
		return 0, false
	}
	name := r.at(i + 2).value
	if name != "rmtree" {
		return 2, slices.Contains([]string{"which", "disk_usage", "get_terminal_size"}, name)
	}
	text, plain := r.text(i + 4)
	ignores := r.at(i+5).kind == ',' && r.is(i+6, "ignore_errors") && r.at(i+7).kind == '=' && r.is(i+8, "True") && r.at(i+9).kind == ')'
	r.runs("rm", "-rf", "--", text)
	return 4, plain && r.at(i+3).kind == '(' && (r.at(i+5).kind == ')' || ignores)
}

// leading are methods of a path that return or create other paths.
var leading = wordset.Of("joinpath with_name with_stem with_suffix parent parents move copy copy_into move_into with_segments walk rglob glob iterdir cwd readlink")

// pythonGlobs finds the loop variables over the files of a pattern: for f in glob.glob('*.json').
func (r *reader) pythonGlobs() {
	for i := range r.tokens {
		if !r.is(i, "for") || r.at(i+1).kind != 'n' || !r.is(i+2, "in") {
			continue
		}
		j := i + 3
		if r.is(j, "sorted") && r.at(j+1).kind == '(' {
			j += 2
		}
		if !r.is(j, "glob") || r.at(j+1).kind != '.' || !r.is(j+2, "glob") || r.at(j+3).kind != '(' || r.at(j+5).kind != ')' && !(r.at(j+5).kind == ',' && r.is(j+6, "recursive")) {
			continue
		}
		name, set := r.at(i+1).value, 0
		for k, t := range r.tokens {
			if t.kind == 'n' && t.value == name && r.at(k-1).kind != '.' && !r.handed(k) {
				set++
			}
		}
		if found, ok := r.text(j + 4); ok && set == 1 && !strings.Contains(found, "..") {
			r.globs[name] = found
		}
	}
}

// takers are functions that take the name of a file and assign nothing to it.
var takers = wordset.Of("open print Path basename dirname getsize getmtime splitext exists isfile isdir join len str repr read_csv read_json read_parquet read_excel sorted")

// handed reports whether the name at i is passed to one of [takers], interpolated, or used with a
// member.
func (r *reader) handed(i int) bool {
	next := r.at(i + 1).kind
	switch {
	case next == '.', r.at(i-1).kind == field:
		return true
	case r.is(i+1, "in") && r.is(i-1, "for"):
		return false
	case next != ')' && next != ',':
		return false
	}
	return takers[r.caller(i)]
}

// pythonGlob parses glob.glob('*.json'), which lists names.
func (r *reader) pythonGlob(i int) (more int, ok bool) {
	if r.member(i) {
		return 0, false
	}
	if r.at(i+1).kind == '.' {
		return 2, r.is(i+2, "glob")
	}
	_, ok = r.text(i + 2)
	return 0, ok && r.at(i+1).kind == '('
}
