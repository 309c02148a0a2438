package commandline

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// notOne matches kong's error for a value that a flag or an argument does not accept.
var notOne = regexp.MustCompile(`^(.+) must be one of (".*") but got (".*")$`)

// notALevel matches kong's error for an invalid log level.
var notALevel = regexp.MustCompile(`^(.+): slog: level string (".*"): unknown name$`)

// Readable rewrites kong's error about an invalid choice for people: it omits an empty choice, and
// suggests the one that was probably meant. It returns other errors unchanged, or with a suggestion
// for a misspelled command.
func Readable(err error) error {
	parts := notOne.FindStringSubmatch(err.Error())
	if level := notALevel.FindStringSubmatch(err.Error()); level != nil {
		parts = []string{"", level[1], `"debug","info","warn","error"`, level[2]}
	}
	if parts == nil {
		return misspelt(err)
	}
	var known []string
	for quoted := range strings.SplitSeq(parts[2], ",") {
		if word, err := strconv.Unquote(quoted); err == nil && word != "" {
			known = append(known, word)
		}
	}
	text := parts[1] + " must be one of " + strings.Join(known, ", ") + ", not " + parts[3]
	word, unquoted := strconv.Unquote(parts[3])
	if best := kind.Closest(word, known); unquoted == nil && best != "" {
		text += ": did you mean " + strconv.Quote(best) + "?"
	}
	return errors.New(text)
}

// misspelt adds the command that was probably meant to an error about an unexpected argument of the
// default command.
func misspelt(err error) error {
	word, found := strings.CutPrefix(err.Error(), "unexpected argument ")
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !found || !ok || parse.Context == nil || parse.Context.Selected() == nil || parse.Context.Selected().Parent == nil {
		return err
	}
	parent := parse.Context.Selected().Parent
	var names []string
	for _, command := range parent.Children {
		if !command.Hidden {
			names = append(names, command.Name)
		}
	}
	if best := kind.Closest(word, names); parent.DefaultCmd == parse.Context.Selected() && best != "" {
		return fmt.Errorf("%w, did you mean %q?", err, best)
	}
	return err
}
