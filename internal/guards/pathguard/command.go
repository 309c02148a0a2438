package pathguard

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// invocation is a command that accesses files.
type invocation struct {
	shell.Command
	does  use
	below bool // including the contents of directories
	file  bool // each word that may be a file is one

	operands, targets []shell.Word
	late              bool // an option follows an operand

	all      bool   // it changes all its operands
	settings []bool // by operand: it follows an option for a file that is only read
}

// command finds the files that a command reads and writes.
func (s *collector) command(c shell.Command) {
	c = cmakeTool(dashed(c))
	if slices.Contains(patchers, c.Name()) {
		s.patches(c, slices.Clone(c.Args()))
		return
	}
	if readsPatch(c) {
		s.patches(c, nil)
	}
	does, known := useOf(c)
	if does == none || does == copies && fromTemplate(c) {
		return
	}
	v := &invocation{Command: c, does: does, below: goesDown(c) && !s.listsNames, file: known && does != unknown && !runner[c.Name()]}
	v.all = does == unknown && rewritesAll(c)
	started := s.dirs
	s.contains = slices.Contains(containers, c.Name())
	s.prefixed = slices.Contains(media, c.Name())
	s.enter(c.Name(), c.Args())
	s.unnamed(c)
	args, patterns := wordingOf(c).files(c)
	for _, w := range patterns {
		if w.Known {
			s.matching(w.Text)
		}
	}
	s.arguments(v, args, started)
	if to, found := pours(c, v.operands); found && to.Known {
		s.all = append(s.all, s.found(to.Text, access{unsure: true, pours: true})...)
	}
	s.operands(v)
	if strings.HasSuffix(c.Name(), "sed") {
		for _, w := range c.Args() {
			s.scripted(w.Text)
		}
	}
}

// unnamed finds files that a command accesses without an operand that names them.
func (s *collector) unnamed(c shell.Command) {
	if w, found := copiedOut(c); found {
		s.word(w, w.Text, access{reads: true}, false)
	}
	if fills(c) { // under names that others choose
		s.all = append(s.all, s.found(".", access{unsure: true, fills: true})...)
		s.fetched(c)
	}
}

// matching finds the files that a program selects by its own pattern.
func (s *collector) matching(pattern string) {
	names, a := filter(pattern)
	for _, name := range names {
		s.all = append(s.all, s.found(name, a)...)
	}
}

// arguments splits the arguments into targets, which are recorded as written, options, whose values
// are recorded if they may name files, and operands. started are the command's directories before
// its option -C.
func (s *collector) arguments(v *invocation, args []shell.Word, started []string) {
	written, listed := outputs[v.Name()]
	usual := !listed && (v.does == unknown || v.does == runs)
	if isTar(v.Command) && !archives(v.Command) {
		written = output{}
	}
	named := false // the previous word was an option for an output
	before := ""
	for _, w := range args {
		target, next := written.of(w.Text)
		if option, value, joined := strings.Cut(w.Text, "="); usual && slices.Contains(writing, option) {
			target, next = value, !joined
		}
		if target == "" && !next && !named {
			target, next = s.writtenByOption(v.Name(), w.Text, before, usual)
		}
		switch option := len(w.Text) > 1 && w.Text[0] == '-'; {
		case named || target != "":
			w.Text = cmp.Or(target, w.Text)
			v.targets = append(v.targets, w)
			dirs := s.dirs
			if isTar(v.Command) { // -C does not apply to the archive
				s.dirs = started
			}
			s.word(w, w.Text, access{writes: true, below: v.below, fills: true, key: makesKey(v.Command)}, v.file)
			s.dirs = dirs
		case option && !next && (w.Known || strings.ContainsAny(w.Text, "/~")):
			unsure := v.does == unknown && !installsLater(v.Command, w.Text) || v.does == runs && len(v.operands) > 0
			s.words(w, access{reads: true, writes: v.does == writes, unsure: unsure, below: v.below, fills: unsure && v.does == unknown}, v.file)
		case !option:
			v.operands = append(v.operands, w)
			v.settings = append(v.settings, settingsOption.MatchString(before))
		}
		v.late = v.late || len(v.operands) > 0 && strings.HasPrefix(w.Text, "-")
		named, before = next, w.Text
	}
}

// operands finds the files that the operands name.
func (s *collector) operands(v *invocation) {
	sources, destination := v.operands, len(v.operands) // index of the operand that is written, if any
	into := v.does == copies || v.does == moves || v.does == links
	switch {
	case !into || len(v.targets) > 0:
	case len(v.operands) > 1:
		destination = len(v.operands) - 1
		sources, v.targets = v.operands[:destination], v.operands[destination:]
	case v.does == links:
		v.targets = []shell.Word{{Text: ".", Known: true}}
	}
	modifies := edits(v.Command)
	for i, w := range v.operands {
		a := v.access(i, w, modifies)
		a.writes = a.writes || i == destination
		s.operand(v, w, a)
	}
	if into {
		s.into(sources, v.targets, v.below)
	}
}

// access returns what a command does with its operand i, unless that is the destination.
func (v *invocation) access(i int, w shell.Word, modifies bool) access {
	a := access{reads: true, below: v.below}
	switch v.does {
	case unknown:
		a.unsure, a.fills, a.writes = true, true, v.rewrites(i)
	case links:
		a.unsure = true
	case copies:
		a.unsure = v.late
	case writes, moves:
		a.writes = v.Name() != "dd" || strings.HasPrefix(w.Text, "of=")
	case runs:
		a.fills = i > 0
		a.unsure = i > 0 && (v.Name() != "make" || !strings.Contains(w.Text, "=")) || modifies
		a.writes = i > 0 && modifies
	}
	return a
}

// operand finds the files that one operand names.
func (s *collector) operand(v *invocation, w shell.Word, a access) {
	name := v.Name()
	if (name == "kubectl" || name == "oc") && printed.MatchString(w.Text) {
		return
	}
	lists := slices.Contains(listing, name)
	w.Glob = w.Glob && !lists
	s.words(w, a, v.file && (w.Known || !lists))
	if name != "git" {
		return
	}
	if !w.Glob && w.Known && strings.ContainsAny(w.Text, "*?[") && slices.Contains(showing, v.Verb()) {
		s.matching(magic.ReplaceAllString(w.Text, ""))
	}
	if _, file, found := strings.Cut(w.Text, ":"); found { // as in HEAD:file
		if said := magic.FindString(w.Text); !strings.Contains(said, "exclude") {
			file = strings.TrimPrefix(file, strings.TrimPrefix(said, ":")) // as in :(top)file
		}
		s.words(shell.Word{Text: file, Known: w.Known}, a, false)
	}
}

// printed matches an output format of kubectl.
var printed = regexp.MustCompile(`^(custom-columns|jsonpath|jsonpath-as-json|go-template)=`)

// showing are the verbs of git that print the files that match a pattern. magic matches what may
// precede the pattern.
var (
	showing = strings.Fields("log show diff grep checkout restore archive whatchanged cat-file stash")
	magic   = regexp.MustCompile(`^:\([a-z,]*\)|^:/`)
)
