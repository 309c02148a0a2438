package commandline

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// notOne is how kong says that a value is none of those that a flag or an argument takes.
var notOne = regexp.MustCompile(`^(.+) must be one of (".*") but got (".*")$`)

// Readable is an error of kong in words for people: an empty choice is left out, and the one that
// was probably meant is named. Errors about something else stay as they are.
func Readable(err error) error {
	parts := notOne.FindStringSubmatch(err.Error())
	if parts == nil {
		return err
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
