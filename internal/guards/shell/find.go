package shell

import (
	"slices"
	"strings"
)

// find runs the commands of -exec and similar actions for the files that find lists.
func (s source) find(c Command, ctx context, depth int) {
	args, names := c.Args(), listed(c)
	if len(names) == 0 || alternatives(args) { // it may run for only one of them
		names = []Word{{Text: "{}"}}
	}
	_, runs := SplitExec(args)
	for _, words := range runs {
		if words = put(words, "{}", names); len(words) > 0 {
			s.runWithin(words, ctx, depth+1)
		}
	}
}

// SplitExec separates the words of a find from the commands that its -exec actions run.
func SplitExec(words []Word) (own []Word, runs [][]Word) {
	within := false
	for i, w := range words {
		switch last := len(runs) - 1; {
		case within && (w.Text == ";" || w.Text == "+" && words[i-1].Text == "{}"):
			within = false
		case within:
			runs[last] = append(runs[last], w)
		default:
			own = append(own, w)
			if within = slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w.Text); within {
				runs = append(runs, nil)
			}
		}
	}
	return own, runs
}

// alternatives reports whether an -o at the top level makes tests of find optional.
func alternatives(args []Word) bool {
	depth := 0
	return slices.ContainsFunc(args, func(w Word) bool {
		switch w.Text {
		case "(":
			depth++
		case ")":
			depth--
		case "-o", "-or":
			return depth == 0
		}
		return false
	})
}

// fd runs the command that follows -x or -X, up to a ; or the end, for the files that fd finds.
func (s source) fd(c Command, ctx context, depth int) {
	args := c.Args()
	for i := 0; i < len(args); i++ {
		first, runs := fdRuns(args[i].Text)
		if !runs {
			continue
		}
		var words []Word
		if first != "" {
			words = append(words, Word{Text: first, Known: args[i].Known})
		}
		marked := false
		for i++; i < len(args) && args[i].Text != ";"; i++ {
			w := args[i]
			if strings.Contains(w.Text, "{") {
				marked, w.Known = true, false
			}
			words = append(words, w)
		}
		if !marked {
			words = append(words, Word{Text: "{}"})
		}
		s.runWithin(words, ctx, depth+1)
	}
}

// fdRuns reports whether an argument makes fd run a command, and returns the command's first word
// if the same argument contains it.
func fdRuns(text string) (first string, runs bool) {
	if long, is := strings.CutPrefix(text, "--exec"); is {
		_, first, _ = strings.Cut(long, "=")
		return first, true
	}
	if len(text) < 2 || text[0] != '-' || text[1] == '-' {
		return "", false
	}
	at := strings.IndexAny(text, "xX")
	if value := strings.IndexAny(text, "dEetScjoT"); at < 0 || value > 0 && value < at {
		return "", false // the rest is a value
	}
	return text[at+1:], true
}

// Starts returns the directories where find begins, and the number of arguments before its first
// test or action.
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

// given returns the words that xargs runs: its input is appended, or replaces the placeholder of
// option -I. The input is known if it is a list of files from find.
func given(options, words []Word, read *feed) []Word {
	from := []Word{{Text: "…", Many: true}}
	if read != nil && len(read.names) > 0 && !slices.ContainsFunc(options, func(o Word) bool { return hasOption(o.Text, "-a") || hasOption(o.Text, "--arg-file") }) {
		from = read.names
	}
	mark := ""
	for a := range wrappers["xargs"].options().In(options) {
		switch {
		case a.Name == "-I" || a.Name == "-J", a.Name == "--replace" && a.Joined:
			mark = a.Value.Text
		case a.Name == "--replace":
			mark = "{}"
		}
	}
	if mark == "" {
		return slices.Concat(words, from)
	}
	return put(words, mark, from)
}

// maxMarks is the maximum number of placeholders that are replaced.
const maxMarks = 8

// put replaces a placeholder by words. A word that only contains the placeholder becomes unknown.
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
