// Package decision contains what the builtin guards share: the possible decisions on a tool call,
// their order, and how text of an agent is shown to a person.
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

// The decisions, by ascending gravity.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Or returns the decision, or byDefault if it is empty. For an invalid decision, the error names
// the option.
func (d Decision) Or(byDefault Decision, option jsontext.Pointer) (Decision, error) {
	switch d {
	case "":
		return byDefault, nil
	case Allow, Ask, Deny:
		return d, nil
	}
	return "", kind.At(option, "must be allow, ask or deny, not %q", d)
}

// Finding is a decision and its reason. The zero Finding decides nothing.
type Finding struct {
	Decision Decision
	Reason   string
	Rule     string // that decided, in the form of [kind.Rule]
}

// Listed returns the rule of a pattern at index i of an option's list.
func Listed(list string, i int, pattern fmt.Stringer) string {
	return kind.Rule(jsontext.Pointer("").AppendToken(list).AppendToken(strconv.Itoa(i)), strconv.Quote(pattern.String()))
}

// Option returns the rule of an option, such as the one for everything else.
func Option(name string) string { return kind.Rule(jsontext.Pointer("").AppendToken(name), "") }

// BuiltIn returns the rule of a built-in part of the guard.
func BuiltIn(name string) string { return "built in: " + name }

// Graver returns the graver one of two findings, or f if they are equal.
func (f Finding) Graver(other Finding) Finding {
	if other.weight() > f.weight() {
		return other
	}
	return f
}

func (f Finding) weight() int { return slices.Index([]Decision{Allow, Ask, Deny}, f.Decision) }

// Timeout checks an option for the time to wait for a person, in seconds. It returns nil for 0,
// which means the router's default.
func Timeout(seconds float64) (*float64, error) {
	if seconds < 0 {
		return nil, kind.At("/timeout", "must be a number of seconds above 0, not %v", seconds)
	}
	if seconds == 0 {
		return nil, nil //nolint:nilnil // none is no error
	}
	return &seconds, nil
}

// Tool returns a tool's name as it is shown to people.
func Tool(name string) string {
	if strings.TrimSpace(name) == "" {
		return "a tool that the event doesn't name"
	}
	return Clip(name, 100)
}

// maxHeadline is the maximum number of characters of a command in a question.
const maxHeadline = 200

// Question returns a line that asks whether a call may be made, with its command, path or address,
// in which secrets are masked. whole reports whether the line shows everything that the call is
// about.
func Question(tool events.Tool) (line string, whole bool) {
	subject := strings.TrimSpace(tool.Subject())
	if subject == "" {
		return "Allow " + Tool(tool.Name) + "?", true
	}
	shown, _ := redact.Text(subject)
	line = Clip(strings.NewReplacer("\n", " ⏎ ", "\t", " ").Replace(shown), maxHeadline)
	return "Allow " + Tool(tool.Name) + ": " + line + "?", line == shown && one(tool)
}

// one reports whether a call is about a single thing.
func one(tool events.Tool) bool {
	n := len(tool.Paths) + len(tool.URLs)
	if tool.Command != "" {
		n++
	}
	return n == 1
}

// Clip returns at most the given number of characters of a text, with invisible characters made
// visible.
func Clip(text string, most int) string {
	runes := []rune(approval.Visible(text))
	if len(runes) > most {
		return string(runes[:most]) + fmt.Sprintf("… (%d more characters)", len(runes)-most)
	}
	return string(runes)
}

// Excerpt is like Clip, for text that a person must evaluate. Of a longer text it returns the
// beginning and the end with a digest of the whole in between, so that no other text has the same
// excerpt.
func Excerpt(text string, most int) string {
	runes := []rune(approval.Visible(text))
	if len(runes) <= most {
		return string(runes)
	}
	begin, end := runes[:most*3/4], runes[len(runes)-most/4:]
	return string(begin) + fmt.Sprintf("… (%d more characters, SHA-256 %s) …", len(runes)-most*3/4-most/4, approval.Digest([]byte(text))[:32]) + string(end)
}

// Patterns parses the list of patterns of an option.
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

// MustPatterns parses built-in patterns.
func MustPatterns[P any](parse func(string) (P, error), texts ...string) []P {
	all, err := Patterns("", texts, parse)
	if err != nil {
		panic(err) // a test parses them all
	}
	return all
}
