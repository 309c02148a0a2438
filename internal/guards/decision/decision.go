// Package decision is what the guards among the builtins have in common: what may
// happen to a tool call, which of two decisions is the graver one, and how a text of
// an agent is shown to a person.
package decision

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Decision is what happens to a tool call.
type Decision string

// The decisions, the gravest last.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Or is the decision, or byDefault where none was given. The error names the option
// that has another.
func (d Decision) Or(byDefault Decision, option jsontext.Pointer) (Decision, error) {
	switch d {
	case "":
		return byDefault, nil
	case Allow, Ask, Deny:
		return d, nil
	}
	return "", kind.At(option, "must be allow, ask or deny, not %q", d)
}

// Finding is a decision, and why. The zero Finding decides nothing.
type Finding struct {
	Decision Decision
	Reason   string
	Rule     string // that decided, as [kind.Rule] writes it
}

// Listed is the rule that a pattern is, by its place in a list of the options.
func Listed(list string, i int, pattern fmt.Stringer) string {
	return kind.Rule(jsontext.Pointer("").AppendToken(list).AppendToken(strconv.Itoa(i)), strconv.Quote(pattern.String()))
}

// Option is the rule that an option is, such as what happens to all else.
func Option(name string) string { return kind.Rule(jsontext.Pointer("").AppendToken(name), "") }

// BuiltIn is a rule that comes with the guard.
func BuiltIn(name string) string { return "built in: " + name }

// Graver is the one of two findings that decides; f where they weigh the same.
func (f Finding) Graver(other Finding) Finding {
	if other.weight() > f.weight() {
		return other
	}
	return f
}

func (f Finding) weight() int { return slices.Index([]Decision{Allow, Ask, Deny}, f.Decision) }

// Timeout is an option of how long a person is waited for, in seconds; nil for 0, the
// router's default.
func Timeout(seconds float64) (*float64, error) {
	if seconds < 0 {
		return nil, kind.At("/timeout", "must be a number of seconds above 0, not %v", seconds)
	}
	if seconds == 0 {
		return nil, nil //nolint:nilnil // none is no error
	}
	return &seconds, nil
}

// Tool is a tool's name as a person is shown it, where the event has one.
func Tool(name string) string {
	if strings.TrimSpace(name) == "" {
		return "a tool that the event doesn't name"
	}
	return Clip(name, 100)
}

// maxHeadline is how many characters of a command are in a question.
const maxHeadline = 200

// Question is a line that asks whether a call may be made, with the command, path or address
// that it is about, its secrets masked. whole reports whether that is all of what it is about.
func Question(tool events.Tool) (line string, whole bool) {
	subject := strings.TrimSpace(tool.Subject())
	if subject == "" {
		return "Allow " + Tool(tool.Name) + "?", true
	}
	shown, _ := redact.Text(subject)
	line = Clip(strings.NewReplacer("\n", " ⏎ ", "\t", " ").Replace(shown), maxHeadline)
	return "Allow " + Tool(tool.Name) + ": " + line + "?", line == shown && one(tool)
}

// one reports whether a call is about one thing.
func one(tool events.Tool) bool {
	n := len(tool.Paths) + len(tool.URLs)
	if tool.Command != "" {
		n++
	}
	return n == 1
}

// Clip is at most so many characters of a text, with what can't be seen made visible.
func Clip(text string, most int) string {
	runes := []rune(approval.Visible(text))
	if len(runes) > most {
		return string(runes[:most]) + fmt.Sprintf("… (%d more characters)", len(runes)-most)
	}
	return string(runes)
}

// Excerpt is Clip for what a person judges: of a text that is longer, its beginning and its
// end, and a digest in between, so that no other text has the same excerpt.
func Excerpt(text string, most int) string {
	runes := []rune(approval.Visible(text))
	if len(runes) <= most {
		return string(runes)
	}
	begin, end := runes[:most*3/4], runes[len(runes)-most/4:]
	return string(begin) + fmt.Sprintf("… (%d more characters, SHA-256 %s) …", len(runes)-most*3/4-most/4, approval.Digest([]byte(text))[:32]) + string(end)
}

// Patterns reads the list of patterns of an option.
func Patterns[P any](option jsontext.Pointer, texts []string, parse func(string) (P, error)) ([]P, error) {
	all := make([]P, 0, len(texts))
	for i, text := range texts {
		p, err := parse(text)
		if err != nil {
			return nil, kind.At(option.AppendToken(strconv.Itoa(i)), "the pattern %q %w", text, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// MustPatterns reads patterns that are built in.
func MustPatterns[P any](parse func(string) (P, error), texts ...string) []P {
	all, err := Patterns("", texts, parse)
	if err != nil {
		panic(err) // a test reads them all
	}
	return all
}
