package shell

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Pattern is a command as rules write it: a name and words, with * for any run of
// characters and ? for any one, as in "git push --force*". Variables that are set for
// the command may precede its name.
type Pattern struct {
	assigns, words []string
}

// maxPattern bounds the words of a pattern.
const maxPattern = 64

// assignment is what an assignment of a pattern begins with.
var assignment = regexp.MustCompile(`^[A-Za-z_*?][\w*?]*=`)

// ParsePattern reads a pattern. It is one command: no quotes, pipes or variables.
func ParsePattern(text string) (Pattern, error) {
	words := strings.Fields(text)
	name := slices.IndexFunc(words, func(w string) bool { return !assignment.MatchString(w) })
	switch {
	case len(words) == 0:
		return Pattern{}, errors.New("is empty: write the words of a command, such as \"git push --force*\"")
	case len(words) > maxPattern:
		return Pattern{}, fmt.Errorf("has %d words: at most %d are allowed", len(words), maxPattern)
	case strings.ContainsAny(text, "|;&<>`'\"\\\n"):
		return Pattern{}, errors.New("is of one command, and has no quotes, pipes or redirections")
	case name < 0:
		return Pattern{}, errors.New("sets variables for no command: write its name behind them, or *")
	case strings.HasPrefix(words[name], "-"):
		return Pattern{}, errors.New("begins with an option: write the command's name first, or *")
	}
	return Pattern{words[:name], words[name:]}, nil
}

// String is the pattern as it was written.
func (p Pattern) String() string { return strings.Join(slices.Concat(p.assigns, p.words), " ") }

// In says whether the pattern is in a command, wherever it may be meant: options in
// any order, joined (-fr has -r) or shortened (--recurs), other words in the
// pattern's order with others between them. The name is taken without its directory
// and in any case, and with whatever variables. A word that is not known makes it Maybe.
func (p Pattern) In(c Command) Found {
	name := c.Name()
	if name == "" || !approval.Glob(strings.ToLower(p.words[0]), name) && !approval.Glob(p.words[0], c.Words[0].Text) {
		return No
	}
	var options, operands []string
	behind := false // a --, where nothing is an option
	for _, w := range p.words[1:] {
		switch {
		case w == "*":
		case w == "--" && !behind:
			behind = true
		case len(w) > 1 && w[0] == '-' && !behind:
			options = append(options, w)
		default:
			operands = append(operands, w)
		}
	}
	if verb, known := verb(c); known && len(operands) > 0 && operands[0] == p.words[1] && !approval.Glob(operands[0], verb) {
		return No
	}
	if verbs := c.Verbs(2); len(verbs) == 2 && len(operands) > 1 && operands[0] == verbs[0] && slices.Contains(groups, verbs[0]) && !approval.Glob(operands[1], verbs[1]) {
		return No
	}
	found := Yes
	for _, o := range options {
		found = min(found, Option(c, o))
	}
	return min(found, inOrder(operands, c.Args()))
}

// groups are verbs behind which another one stands.
var groups = []string{"compose", "container", "image", "volume", "network", "system"}

// verb is what a program that has verbs does, where that is known.
func verb(c Command) (verb string, known bool) {
	if _, found := verbal[c.Name()]; !found {
		return "", false
	}
	verbs := c.Verbs(1)
	if len(verbs) == 0 {
		return "", false
	}
	return verbs[0], true
}

// Option says whether a command has an option: "-r" also in -fr, "--recursive" also
// as --recurs and with =value.
func Option(c Command, option string) Found {
	found := No
	for _, w := range c.Args() {
		if w.Known && w.Text == "--" {
			break
		}
		switch {
		case hasOption(w.Text, option):
			return Yes
		case !w.Known && !w.dated() && (w.Many || strings.HasPrefix(w.Text, "$") || strings.HasPrefix(w.Text, "`") || strings.HasPrefix(w.Text, "-")):
			found = Maybe
		}
	}
	if cluster(option) && len(option) > 2 {
		all := Yes
		for _, letter := range option[1:] {
			all = min(all, Option(c, "-"+string(letter)))
		}
		found = max(found, all)
	}
	return found
}

// MayHave reports whether a command has one of some options, or may have it.
func (c Command) MayHave(options ...string) bool {
	return slices.ContainsFunc(options, func(option string) bool { return Option(c, option) != No })
}

// dated reports whether a word is unknown only for what a command prints that prints no options:
// backup-$(date +%F).tgz
func (w Word) dated() bool {
	return strings.Count(w.Text, "$") == 1 && !strings.Contains(w.Text, "`") && !slices.ContainsFunc(w.Runs, func(name string) bool { return name != "date" && !strings.HasPrefix(name, "+") }) && len(w.Runs) > 0
}

// cluster reports whether an option is letters behind one dash, few enough not to be
// a word as that of find -delete.
func cluster(option string) bool {
	return len(option) > 1 && len(option) <= 4 && option[0] == '-' && option[1] != '-' && !strings.ContainsAny(option, "*?=")
}

func hasOption(word, option string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	name, _, _ := strings.Cut(word, "=")
	if approval.Glob(option, word) || approval.Glob(option, name) {
		return true
	}
	if strings.HasPrefix(option, "--") {
		return len(name) > 3 && strings.HasPrefix(strings.TrimRight(option, "*"), name)
	}
	return cluster(option) && len(option) == 2 && word[1] != '-' && strings.Contains(word[1:], option[1:])
}

// inOrder looks for the patterns among the words, one after another.
func inOrder(patterns []string, words []Word) Found {
	found := Yes
	for _, p := range patterns {
		at := slices.IndexFunc(words, func(w Word) bool { return w.Known && approval.Glob(p, w.Text) })
		if at < 0 {
			at = slices.IndexFunc(words, func(w Word) bool { return (!w.Known || w.Deep) && w.mayBe(p) || w.Glob && approval.Glob(w.Text, p) })
			found = min(found, Maybe)
		}
		switch {
		case at < 0:
			return No
		case !words[at].Many:
			at++
		}
		words = words[at:]
	}
	return found
}

// mayBe reports whether a word that is not known may be one of a pattern: it begins as
// its text does up to the first variable.
func (w Word) mayBe(pattern string) bool {
	at := strings.IndexAny(w.Text, "$`<>(")
	return w.Many || w.Glob || at < 0 || strings.ContainsAny(pattern, "*?") || strings.HasPrefix(pattern, w.Text[:at])
}
