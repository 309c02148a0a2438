package shell

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Pattern is a command as rules write it: a name and words, in which * matches any characters and ?
// matches one, as in "git push --force*". Variables that are set for the command may precede its
// name.
type Pattern struct {
	assigns, words []string
}

// maxPattern is the maximum number of words of a pattern.
const maxPattern = 64

// assignment matches the beginning of an assignment in a pattern.
var assignment = regexp.MustCompile(`^[A-Za-z_*?][\w*?]*=`)

// ParsePattern parses a pattern. It is one command without quotes, pipes or variables in its words.
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

// String returns the words of the pattern, separated by single spaces.
func (p Pattern) String() string { return strings.Join(slices.Concat(p.assigns, p.words), " ") }

// In reports whether the pattern applies to a command in any of its spellings: options in any
// order, combined (-fr has -r) or abbreviated (--recurs), and operands in the pattern's order with
// others between them. The name is compared without its directory and regardless of case; variables
// are ignored. An unknown word makes it Maybe.
func (p Pattern) In(c Command) Found {
	name := c.Name()
	if name == "" || !approval.Glob(strings.ToLower(p.words[0]), name) && !approval.Glob(p.words[0], c.Words[0].Text) {
		return No
	}
	var options, operands []string
	behind := false // after a --, where nothing is an option
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

// groups are verbs that are followed by another verb.
var groups = []string{"compose", "container", "image", "volume", "network", "system"}

// verb returns the verb of a program that has verbs, if it is known.
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

// Option reports whether a command has an option: "-r" also as part of -fr, "--recursive" also as
// --recurs and with =value.
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

// MayHave reports whether a command has, or may have, one of some options.
func (c Command) MayHave(options ...string) bool {
	return slices.ContainsFunc(options, func(option string) bool { return Option(c, option) != No })
}

// dated reports whether a word is unknown only because of a command that prints no options, such as
// backup-$(date +%F).tgz.
func (w Word) dated() bool {
	return strings.Count(w.Text, "$") == 1 && !strings.Contains(w.Text, "`") && !slices.ContainsFunc(w.Runs, func(name string) bool { return name != "date" && !strings.HasPrefix(name, "+") }) && len(w.Runs) > 0
}

// cluster reports whether an option is combined letters after one dash, short enough not to be a
// word such as find's -delete.
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

// mayBe reports whether an unknown word may match a pattern, judging by its text up to the first
// variable.
func (w Word) mayBe(pattern string) bool {
	at := strings.IndexAny(w.Text, "$`<>(")
	return w.Many || w.Glob || at < 0 || strings.ContainsAny(pattern, "*?") || strings.HasPrefix(pattern, w.Text[:at])
}
