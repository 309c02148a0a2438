package execkind

import (
	"errors"
	"regexp"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Command is a program and its arguments. A text in a file is a line for a shell; it
// is decoded as an empty program, and the line.
type Command []string

// UnmarshalJSONFrom reads a list of texts, or one text.
func (c *Command) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		var line string
		err := jsonv2.UnmarshalDecode(dec, &line)
		*c = Command{"", line}
		return err
	}
	var list []string
	if err := jsonv2.UnmarshalDecode(dec, &list); err != nil {
		return err
	}
	if len(list) > 0 && list[0] == "" {
		return errors.New("the program, the first of the list, is empty")
	}
	*c = list
	return nil
}

// line is the line for a shell; ok is false for a program with arguments.
func (c Command) line() (line string, ok bool) {
	if len(c) == 2 && c[0] == "" {
		return c[1], true
	}
	return "", false
}

// pathWord is a first word that can only be the path of a program, once the variable
// of the project's directory is put in and the quotes are taken away.
var pathWord = regexp.MustCompile(`^[A-Za-z0-9_./+@-]*/[A-Za-z0-9_./+@-]*$`)

// scriptOf is the program that a line begins with, where it plainly is the path of
// one; empty where only a shell can say. dir is the project's directory.
func scriptOf(line, dir string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	word = strings.NewReplacer(`"`, "", "${CLAUDE_PROJECT_DIR}", "\x00", "$CLAUDE_PROJECT_DIR", "\x00").Replace(word)
	rest, inProject := strings.CutPrefix(word, "\x00")
	if !pathWord.MatchString(rest) {
		return ""
	}
	if inProject {
		return dir + rest
	}
	return rest
}
