package exechook

import (
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Command is a program and its arguments. A text in a file is a line for a shell; it
// is decoded as an empty program, and the line.
type Command []string

// UnmarshalJSONFrom decodes a list of texts, or a single text.
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

// line returns the line for a shell. ok is false for a program with arguments.
func (c Command) line() (line string, ok bool) {
	if len(c) == 2 && c[0] == "" {
		return c[1], true
	}
	return "", false
}
