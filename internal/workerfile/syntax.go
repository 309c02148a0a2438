package workerfile

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
)

// syntaxError explains a YAML syntax error, with a hint about what was probably meant.
func (d *document) syntaxError(err error) error {
	syntax, ok := errors.AsType[yaml.Error](err)
	if !ok || syntax.GetToken() == nil {
		return d.errorAt("", err)
	}
	message := strings.Join(strings.Fields(strings.ReplaceAll(syntax.GetMessage(), "\t", `\t`)), " ")
	at := syntax.GetToken().Position
	hint := d.quotingHint(at.Line)
	if hint == "" {
		hint = d.syntaxHint(message, at.Line, at.Column)
	}
	return d.errorIn(at.Line, at.Column, "", errors.New(message+hint))
}

var (
	quoted    = regexp.MustCompile(`"(\\.|[^"\\])*"|'[^']*'`)
	loneStar  = regexp.MustCompile(`(^|[\s\[,:])\*([\s\],}]|$)`)
	twoColons = regexp.MustCompile(`:\s.*:(\s|$)`)
	tightKey  = regexp.MustCompile(`^[\s-]*\w+:[^\s:]`)
)

// quotingHint returns what to quote in a line with characters that mean one thing in YAML and
// another in a worker file, or "" if there is nothing to quote.
func (d *document) quotingHint(line int) string {
	if line < 1 || line > len(d.lines) {
		return ""
	}
	switch bare := quoted.ReplaceAllString(d.lines[line-1], ""); {
	case strings.Contains(bare, "{{"):
		return `: put a text with {{ }} in quotes, like "no {{ data.x }}"`
	case loneStar.MatchString(bare):
		return `: put * in quotes, like ["*"]`
	}
	return ""
}

const (
	columnHint = ": the keys of one mapping begin in the same column, and deeper than the key that they belong to"
	colonHint  = `: put a text with a colon and a space in quotes, like "no: ask first"`
	startHint  = `: a text that begins with a quote or a bracket is put in quotes as a whole, or in the lines after a |`
)

// syntaxHint returns a hint about what was probably meant at a syntax error, or "" if that is
// unknown.
func (d *document) syntaxHint(message string, line, column int) string {
	if line < 1 || line > len(d.lines) {
		return ""
	}
	text := d.lines[line-1]
	before := text[:byteOffset(text, column-1)]
	switch {
	case strings.ContainsRune(text, '\u00a0'):
		return ": the line has a space that does not break (U+00A0), as web pages have it: use plain spaces"
	case strings.Contains(message, "reserved character"):
		return ": put the text in quotes"
	case strings.Contains(message, `\t`):
		return ": YAML is indented with spaces, not tabs"
	case tightKey.MatchString(text) && strings.Contains(message, "key name"):
		return ": a space follows the colon of a key, like id: guard"
	case !strings.Contains(message, "value is not allowed"):
		return ""
	case twoColons.MatchString(quoted.ReplaceAllString(text, "")):
		return colonHint
	case strings.HasPrefix(message, "mapping value") || strings.TrimLeft(before, " -") == "":
		return columnHint
	}
	return startHint
}

// shapeHint returns a hint about how to write a value of the required type, or "" if that is
// unknown.
func (d *document) shapeHint(at jsontext.Pointer, sem *jsonv2.SemanticError) string {
	switch wanted := underlying(sem.GoType).Kind(); {
	case at == "":
		return `: a worker file begins with "hooks:", and the hooks stand below`
	case wanted == reflect.Slice && sem.JSONKind == '"' && !strings.ContainsAny(d.places[at].text, "[]{}\n"):
		return ": put it in brackets, like [" + d.places[at].text + "]"
	case wanted == reflect.Slice && sem.JSONKind == '{' && sem.GoType.Elem().Kind() == reflect.String:
		return `: put texts in brackets and quotes, like ["a", "b"]`
	case wanted == reflect.Slice && sem.JSONKind == '{':
		return `: each of its items begins with "- "`
	case wanted == reflect.Struct && sem.JSONKind == '"':
		return ": its keys are " + list(fieldNamesOf(sem.GoType))
	case typeWord(sem.GoType) == wholeNumber && sem.JSONKind == '"':
		return numberHint(at.LastToken(), d.places[at].text)
	case wanted == reflect.String && sem.JSONKind == '{':
		return `: put a text with a colon in quotes, like "tool:pre"`
	}
	return ""
}

// numberHint returns a hint about a text in place of a whole number.
func numberHint(member, text string) string {
	if took, err := time.ParseDuration(text); err == nil && strings.HasSuffix(member, "_ms") {
		return fmt.Sprintf(": %s is written %d", text, took.Milliseconds())
	}
	if _, err := strconv.ParseInt(text, 10, 64); errors.Is(err, strconv.ErrRange) {
		return ": the number is too large"
	}
	return ""
}
