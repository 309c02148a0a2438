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

// notOne is how kong says that a value is none of those that a flag or an argument takes.
var notOne = regexp.MustCompile(`^(.+) must be one of (".*") but got (".*")$`)

// notALevel is how kong says that a flag got no log level.
var notALevel = regexp.MustCompile(`^(.+): slog: level string (".*"): unknown name$`)

// Readable is an error of kong in words for people: an empty choice is left out, and the one that
// was probably meant is named. Errors about something else stay as they are.
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

// misspelt adds the command that was probably meant to an error about an argument of the default
// command, which takes none.
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
