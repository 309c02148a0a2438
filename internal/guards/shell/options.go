package shell

import (
	"iter"
	"strings"
)

// Options describe the options of a program. The zero Options have none.
type Options struct {
	// Flags and Values are the letters of options without and with a value. Letters may be combined
	// after one dash, and the value may follow the last of them without a space.
	Flags, Values string
	// Long are options that are not combined, separated by spaces. One that takes a value ends with =;
	// leading dashes may be omitted.
	Long string
	// Any treats all other letters as flags.
	Any bool
}

// With returns the options of both.
func (o Options) With(more Options) Options {
	return Options{o.Flags + more.Flags, o.Values + more.Values, o.Long + " " + more.Long, o.Any || more.Any}
}

// Arg is an option with its value, or an operand.
type Arg struct {
	Word
	// Name is the option with its dashes; for combined letters, the one that takes a value. It is
	// empty for a word that does not begin with a dash.
	Name string
	// Listed reports whether the option is among those of [Options].
	Listed bool
	// Takes reports whether the option has a value, which is the next word unless it is Joined.
	Takes, Joined bool
	// Value is also set for an option that is not listed if = joins it. A missing value is Many.
	Value Word
	// From are the words from this one on, Rest those after it and its value.
	From, Rest []Word
}

// In returns the arguments in words. The caller handles -- and words that are known only at run time.
//
// The options must include all that take a value: otherwise a value may be read as an option, which
// hides the next one. If that is not certain, use [Options.Each].
func (o Options) In(words []Word) iter.Seq[Arg] {
	return func(yield func(Arg) bool) {
		for len(words) > 0 {
			a := o.first(words)
			if !yield(a) {
				return
			}
			words = a.Rest
		}
	}
}

// Each is like In, but returns the value of an option as an argument of its own too.
func (o Options) Each(words []Word) iter.Seq[Arg] {
	return func(yield func(Arg) bool) {
		for i := range words {
			if !yield(o.first(words[i:])) {
				return
			}
		}
	}
}

func (o Options) first(words []Word) Arg {
	a := Arg{Word: words[0], From: words, Rest: words[1:]}
	if !strings.HasPrefix(a.Text, "-") {
		return a
	}
	value := ""
	a.Name, value, a.Joined = strings.Cut(a.Text, "=")
	if !o.long(&a) && !strings.HasPrefix(a.Text, "--") {
		value = o.letters(&a, value)
	}
	switch {
	case a.Joined:
		a.Value = a.Word
		a.Value.Text = value
	case a.Takes && len(a.Rest) == 0:
		a.Value.Many = true
	case a.Takes:
		a.Value, a.Rest = a.Rest[0], a.Rest[1:]
	}
	return a
}

// long reports whether a is one of the Long options.
func (o Options) long(a *Arg) bool {
	for option := range strings.FieldsSeq(o.Long) {
		name, takes := strings.CutSuffix(option, "=")
		if bare, found := strings.CutSuffix(a.Name, name); found && (bare == "" || bare == "--") {
			a.Listed, a.Takes = true, takes
			return true
		}
	}
	return false
}

// letters reads combined letters and returns the value that follows the last one.
func (o Options) letters(a *Arg, value string) string {
	for i := 1; i < len(a.Text); i++ {
		switch letter := a.Text[i]; {
		case strings.IndexByte(o.Values, letter) >= 0:
			a.Name, a.Listed, a.Takes, a.Joined = "-"+a.Text[i:i+1], true, true, i+1 < len(a.Text)
			return a.Text[i+1:]
		case !o.Any && strings.IndexByte(o.Flags, letter) < 0:
			return value
		}
	}
	a.Listed = len(a.Text) > 1
	return value
}

// RunsCommand reports whether env is given a command. Without one it prints the environment.
func RunsCommand(env Command) bool {
	for a := range (Options{Long: "-u= --unset= -C= --chdir="}).In(env.Args()) {
		if a.Name == "" && !strings.Contains(a.Text, "=") {
			return true
		}
	}
	return false
}
