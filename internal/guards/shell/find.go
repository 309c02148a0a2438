package shell

import (
	"slices"
	"strings"
)

// find runs what is between -exec and its end, for the files that it finds.
func (s source) find(c Command, ctx context, depth int) {
	args, names := c.Args(), listed(c)
	if len(names) == 0 || alternatives(args) { // it may run for one of them alone
		names = []Word{{Text: "{}"}}
	}
	_, runs := SplitExec(args)
	for _, words := range runs {
		if words = put(words, "{}", names); len(words) > 0 {
			s.runWithin(words, ctx, depth+1)
		}
	}
}

// SplitExec are the words of a find but those that it runs, and these, for each of its actions.
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

// alternatives reports whether some tests of find need not hold for what follows them.
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

// fd runs what follows -x or -X, to a ; or the end, for the files that it finds.
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

// fdRuns reports whether an argument of fd makes it run a command, and the word of it that stands
// in the same argument.
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

// given are the words that xargs runs: with what it reads at the end, or in the place of
// the mark that its option -I names. What it reads is known where it is what find lists.
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
