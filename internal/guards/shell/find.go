package shell

import (
	"path"
	"slices"
	"strings"
)

// find runs what stands between -exec and its end, for the files that it finds.
func (s source) find(c Command, ctx context, depth int) {
	args, names := c.Args(), listed(c)
	if len(names) == 0 {
		names = []Word{{Text: "{}"}}
	}
	for i := 0; i < len(args); i++ {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, args[i].Text) {
			continue
		}
		begin := i + 1
		for i = begin; i < len(args) && args[i].Text != ";" && (args[i].Text != "+" || args[i-1].Text != "{}"); {
			i++
		}
		if words := put(args[begin:i], "{}", names); len(words) > 0 {
			s.runWithin(words, ctx, depth+1)
		}
	}
}

// Starts are the directories where find begins, and how many of its arguments stand
// before the first that is a test or an action.
func Starts(find Command) (dirs []Word, end int) {
	args, begin := find.Args(), 0
	for begin < len(args) && slices.Contains([]string{"-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x"}, args[begin].Text) {
		begin++
	}
	end = begin
	for end < len(args) && !(args[end].Known && strings.ContainsAny(args[end].Text[:min(1, len(args[end].Text))], "-(!")) {
		end++
	}
	if begin == end {
		return []Word{{Text: ".", Known: true}}, end
	}
	return args[begin:end], end
}

// tracked reports whether git lists files that it has.
func tracked(git Command) bool {
	switch git.Verb() {
	case "ls-files":
		return Option(git, "-o") == No && Option(git, "--others") == No && Option(git, "-i") == No && Option(git, "--ignored") == No
	case "diff":
		return Option(git, "--name-only") == Yes
	case "grep":
		return Option(git, "-l") == Yes || Option(git, "--name-only") == Yes
	}
	return false
}

// listed are the files that find lists, as patterns: of a name, in or below each
// directory where it begins. It is empty where they are not known by one name.
func listed(find Command) (all []Word) {
	if find.Name() == "git" && tracked(find) {
		return []Word{{Text: "./*", Known: true, Glob: true, Deep: true}}
	}
	if find.Name() != "find" {
		return nil
	}
	dirs, end := Starts(find)
	name := ""
	tests := find.Args()[end:]
	for i, w := range tests {
		switch {
		case slices.Contains([]string{"-o", "-or", ",", "!", "-not"}, w.Text):
			return nil
		case w.Text != "-name" && w.Text != "-iname":
		case name != "" || i+1 == len(tests) || !tests[i+1].plain():
			return nil
		default:
			name = tests[i+1].Text
		}
	}
	if strings.Trim(name, "*?.") == "" || strings.ContainsAny(name, "[/\\") {
		return nil
	}
	if len(dirs) > maxDirs {
		return nil
	}
	for _, dir := range dirs {
		if !dir.Known {
			return nil
		}
		w := Word{Text: path.Join(dir.Text, name), Known: true, Glob: dir.Glob || strings.ContainsAny(name, "*?"), Deep: true}
		if !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "~") {
			w.Text = "./" + w.Text
		}
		all = append(all, w)
		if strings.ContainsAny(name[:1], "*?") { // a shell's wildcard has no name that begins with a dot
			w.Text = w.Text[:len(w.Text)-len(name)] + ".*" + name[1:]
			all = append(all, w)
		}
	}
	return all
}

// given are the words that xargs runs: with what it reads at the end, or in the place of
// the mark that its option -I names. What it reads is known where it is what find lists.
func given(options, words []Word, read *feed) []Word {
	from := []Word{{Text: "…", Many: true}}
	if read != nil && len(read.names) > 0 && !slices.ContainsFunc(options, func(o Word) bool { return hasOption(o.Text, "-a") || hasOption(o.Text, "--arg-file") }) {
		from = read.names
	}
	mark := ""
	for i, w := range options {
		switch text := w.Text; {
		case text == "-I" && i+1 < len(options):
			mark = options[i+1].Text
		case strings.HasPrefix(text, "-I"):
			mark = text[len("-I"):]
		case text == "--replace":
			mark = "{}"
		case strings.HasPrefix(text, "--replace="):
			mark = text[len("--replace="):]
		}
	}
	if mark == "" {
		return slices.Concat(words, from)
	}
	return put(words, mark, from)
}

// maxMarks bounds the words that others are put in the place of.
const maxMarks = 8

// put puts words in the place of a mark. What the mark is only a part of is not known.
func put(words []Word, mark string, from []Word) []Word {
	var all []Word
	marks := 0
	for _, w := range words {
		if w.Text == mark && from[0].Known && marks < maxMarks {
			all = append(all, from...)
			marks++
			continue
		}
		w.Known = w.Known && !strings.Contains(w.Text, mark)
		all = append(all, w)
	}
	return all
}
