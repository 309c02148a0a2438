package shell

import (
	"path"
	"slices"
	"strings"
)

// Bounds of what is looked at; beyond them stands a doubt.
const (
	MaxLine          = 64 << 10 // bytes of a line
	MaxNesting       = 200      // brackets that are open at once
	MaxCommands      = 1000     // of a line
	MaxDepth         = 8        // lines within lines, as in sh -c
	maxSubstitutions = 32       // of $(…) and the like in one another
	maxFunctions     = 100      // of a line
	maxDirs          = 16       // directories where a command may run
)

// Script is what a line runs.
type Script struct {
	Commands []Command
	// Doubts are about the line as a whole; those about a command stand with it.
	Doubts []Doubt
	// Bomb says that a function calls itself in a pipe or in the background.
	Bomb bool
	// Ends are where a shell that lives on may run the next line; nil means unknown.
	Ends []string
}

// Doubt is what can't be decided, in words for people that follow "cannot decide: ".
type Doubt string

// Command is one command with its arguments.
type Command struct {
	// Assigns are the variables that are set for it, or for all that follows where
	// there are no Words.
	Assigns []Assign
	// Words are the name and the arguments, without their quotes. It is empty for
	// redirections and assignments that stand alone.
	Words []Word
	// Redirects are the files that it is connected to.
	Redirects []Redirect
	// Dirs are where it may run, "" being where the line does if that is not known.
	// Empty means unknown.
	Dirs []string
	// Built says that the same line compiles the program, of files that it does not make, or
	// writes it as a script that was read, or as a function.
	Built bool
	// Foreign says that it runs in, or names, what the same line clones or unpacks.
	Foreign bool
	// Runs are the names of commands whose output it runs.
	Runs []string
	// Doubts are about what it runs.
	Doubts []Doubt
}

// Word is one word of a command.
type Word struct {
	// Text is what the command sees; where the word is not Known, the source.
	Text string
	// Known says that the value doesn't depend on where and when the line runs, or that any other
	// would be judged alike: one number stands for those of a loop, one hash for what git prints.
	Known bool
	// Glob says that it is a pattern for names of files.
	Glob bool
	// Many says that it may be any number of words.
	Many bool
	// Deep says that its last name may be in any directory below the others.
	Deep bool
	// Runs are the names of commands whose output is in it.
	Runs []string
}

// plain reports whether a word is one text, which the command sees unchanged.
func (w Word) plain() bool { return w.Known && !w.Glob && !w.Deep }

// Redirect is a file that a command is connected to.
type Redirect struct {
	File Word
	// Here is what is in the line in place of a file: a here-document or here-string.
	Here Word
	// Write is false where the file is only read.
	Write bool
}

// Found says whether something holds.
type Found int

// What is not known only because the line has not run yet is Maybe.
const (
	No Found = iota
	Maybe
	Yes
)

// FoundIf is Yes where something holds, and No elsewhere.
func FoundIf(holds bool) Found {
	if holds {
		return Yes
	}
	return No
}

// Name is the command's name as rules know it: without its directory, in lower
// case, without .exe. It is empty where the name is not known.
func (c Command) Name() string {
	if len(c.Words) == 0 || !c.Words[0].plain() {
		return ""
	}
	return nameOf(c.Words[0].Text)
}

// Args are the words behind the name.
func (c Command) Args() []Word {
	if len(c.Words) == 0 {
		return nil
	}
	return c.Words[1:]
}

// Has reports whether an argument is one of some words.
func (c Command) Has(words ...string) bool {
	return c.AnyArg(func(text string) bool { return slices.Contains(words, text) })
}

// AnyArg reports whether an argument's text matches.
func (c Command) AnyArg(matches func(text string) bool) bool {
	return slices.ContainsFunc(c.Args(), func(w Word) bool { return matches(w.Text) })
}

// Connects reports whether a redirection of bash opens a connection.
func (c Command) Connects() bool {
	return slices.ContainsFunc(c.Redirects, func(r Redirect) bool {
		return strings.HasPrefix(r.File.Text, "/dev/tcp/") || strings.HasPrefix(r.File.Text, "/dev/udp/")
	})
}

// Verb is what a program such as git is told to do, by the first word that is none of its
// own options. It is empty where it is not known.
func (c Command) Verb() string {
	verb, _ := verb(c)
	return verb
}

// Writes reports whether output goes to a file that keeps it.
func (c Command) Writes() bool {
	return slices.ContainsFunc(c.Redirects, func(r Redirect) bool {
		return r.Write && (!r.File.Known || !slices.Contains(sinks, r.File.Text))
	})
}

var sinks = []string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"}

// String is the command as a line, for people: without the values of its variables,
// which may be secrets.
func (c Command) String() string {
	texts := make([]string, 0, len(c.Assigns)+len(c.Words))
	for _, a := range c.Assigns {
		texts = append(texts, a.Name+"=…")
	}
	for _, w := range c.Words {
		texts = append(texts, w.Text)
	}
	return strings.Join(texts, " ")
}

func nameOf(text string) string {
	if at := strings.LastIndexAny(text, `/\`); at >= 0 {
		text = text[at+1:]
	}
	return strings.TrimSuffix(strings.ToLower(text), ".exe")
}

// join is where a directory leads to from another one. What is above a home is /home.
func join(dir, to string) string {
	if dir != "" && !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "~") {
		to = dir + "/" + to
	}
	if !strings.HasPrefix(to, "~") {
		return path.Clean(to)
	}
	to = path.Clean("/home/" + to)
	if strings.HasPrefix(to, "/home/~") {
		to = to[len("/home/"):]
	}
	return to
}
