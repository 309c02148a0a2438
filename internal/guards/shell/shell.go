package shell

import (
	"path"
	"slices"
	"strings"
)

// Limits of the analysis. Beyond them, a doubt is raised.
const (
	MaxLine          = 64 << 10 // bytes of a line
	MaxNesting       = 200      // brackets that are open at once
	MaxCommands      = 1000     // commands of a line
	MaxDepth         = 8        // lines within lines, as in sh -c
	maxSubstitutions = 32       // nested $(…) and the like
	maxFunctions     = 100      // functions of a line
	maxDirs          = 16       // directories where a command may run
)

// Script is what a line runs.
type Script struct {
	Commands []Command
	// Doubts concern the line as a whole. Those about one command are in [Command.Doubts].
	Doubts []Doubt
	// Bomb is true if a function calls itself in a pipe or in the background.
	Bomb bool
	// Ends are the directories where a persistent shell may run the next line. Nil means unknown.
	Ends []string
}

// Doubt is a reason why the line can't be decided, in words that follow "cannot decide: ".
type Doubt string

// Command is one command with its arguments.
type Command struct {
	// Assigns are the variables that are set for the command, or for the rest of the line if there
	// are no Words.
	Assigns []Assign
	// Words are the name and the arguments, without quotes. It is empty for redirections and
	// assignments without a command.
	Words []Word
	// Redirects are the files that the command's descriptors are connected to.
	Redirects []Redirect
	// Dirs are the directories where it may run. "" is the line's directory if that is unknown.
	// Empty means unknown.
	Dirs []string
	// Built is true if the line itself compiles the program from files that it does not create, or
	// if the program is a function or an analyzed script of the line.
	Built bool
	// Foreign is true if it runs in, or names, a directory that the line clones or unpacks.
	Foreign bool
	// Runs are the names of the commands whose output it runs.
	Runs []string
	// Doubts concern what it runs.
	Doubts []Doubt
}

// Word is one word of a command.
type Word struct {
	// Text is what the command sees, or the source if the word is not Known.
	Text string
	// Known is true if the value does not depend on where and when the line runs, or if it
	// represents values that would be judged alike: one number for those of a loop, one hash for
	// the output of git.
	Known bool
	// Glob is true if it is a pattern for file names.
	Glob bool
	// Many is true if it may expand to any number of words.
	Many bool
	// Deep is true if its last element may be in any directory below the preceding ones.
	Deep bool
	// Runs are the names of the commands whose output is part of it.
	Runs []string
}

// plain reports whether a word is one text that the command sees unchanged.
func (w Word) plain() bool { return w.Known && !w.Glob && !w.Deep }

// Redirect is a file that a command's descriptor is connected to.
type Redirect struct {
	File Word
	// Here is the text of a here-document or here-string, which replaces the file.
	Here Word
	// Write is false if the file is only read.
	Write bool
}

// Found is the result of a search: No, Maybe or Yes.
type Found int

// Maybe means that the answer depends on values that are known only at run time.
const (
	No Found = iota
	Maybe
	Yes
)

// FoundIf returns Yes or No.
func FoundIf(holds bool) Found {
	if holds {
		return Yes
	}
	return No
}

// Name returns the command's name as rules use it: without its directory, in lower case, without
// .exe. It is empty if the name is unknown.
func (c Command) Name() string {
	if len(c.Words) == 0 || !c.Words[0].plain() {
		return ""
	}
	return nameOf(c.Words[0].Text)
}

// Args returns the words after the name.
func (c Command) Args() []Word {
	if len(c.Words) == 0 {
		return nil
	}
	return c.Words[1:]
}

// Has reports whether any argument is one of words.
func (c Command) Has(words ...string) bool {
	return c.AnyArg(func(text string) bool { return slices.Contains(words, text) })
}

// AnyArg reports whether matches is true for the text of any argument.
func (c Command) AnyArg(matches func(text string) bool) bool {
	return slices.ContainsFunc(c.Args(), func(w Word) bool { return matches(w.Text) })
}

// Connects reports whether a redirection opens a network connection, as /dev/tcp does in bash.
func (c Command) Connects() bool {
	return slices.ContainsFunc(c.Redirects, func(r Redirect) bool {
		return strings.HasPrefix(r.File.Text, "/dev/tcp/") || strings.HasPrefix(r.File.Text, "/dev/udp/")
	})
}

// Verb returns the subcommand of a program such as git: the first word that is not one of its own
// options. It is empty if it is unknown.
func (c Command) Verb() string {
	verb, _ := verb(c)
	return verb
}

// Writes reports whether output goes to a file that stores it.
func (c Command) Writes() bool {
	return slices.ContainsFunc(c.Redirects, func(r Redirect) bool {
		return r.Write && (!r.File.Known || !slices.Contains(sinks, r.File.Text))
	})
}

var sinks = []string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"}

// String returns the command as a line for people, without the values of its variables, which may
// be secrets.
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

// join returns the directory that a path leads to from another directory. The parent of a home is
// /home.
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
