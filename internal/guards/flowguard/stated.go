package flowguard

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Limits on what is stored for a session.
const (
	maxPrompts = 16 << 10 // bytes of the newest prompts
	maxPassed  = 64       // calls allowed since the last prompt
	maxValues  = 256      // of one call
)

// memory is the stored state of a session.
type memory struct {
	Prompts []string `json:"prompts,omitempty"` // of the user, the newest last
	// Passed are the ids of the events that a prompt let pass, by the digests of their calls.
	Passed map[string]string `json:"passed,omitempty"`
}

// add stores a prompt. A prompt that is too long is not stored: a truncated one would end at a
// place that the user did not choose.
func (m *memory) add(prompt string) {
	m.Passed = nil
	m.Prompts = append(m.Prompts, prompt)
	size := 0
	for i, prompt := range slices.Backward(m.Prompts) {
		if size += len(prompt); size > maxPrompts {
			m.Prompts = slices.Clone(m.Prompts[i+1:])
			return
		}
	}
}

// pass records that a call of an event is allowed because of a prompt. It reports whether this is
// the first such call since the last prompt. The same event may be evaluated twice.
func (m *memory) pass(call, event string) bool {
	if first, passed := m.Passed[call]; passed {
		return first == event && event != ""
	}
	if len(m.Passed) == maxPassed {
		return false
	}
	if m.Passed == nil {
		m.Passed = map[string]string{}
	}
	m.Passed[call] = event
	return true
}

// values are the parts of a call's input that can carry data.
type values struct {
	texts   []string
	numbers []string
	unread  bool // there are values that were not read
}

// valuesOf returns the values of a tool call: its command, its URLs, or otherwise all of its input.
func valuesOf(tool events.Tool, data events.Object) (v values) {
	switch {
	case tool.Class == events.ClassShell && tool.Command != "" && !tool.Partial:
		v.texts = []string{tool.Command}
		return v
	case tool.Class == events.ClassWeb && len(tool.URLs) > 0 && !tool.Partial:
		v.texts = tool.URLs
		return v
	}
	input, text := data.ToolInput()
	if text != "" {
		v.texts = append(v.texts, text)
	}
	for _, value := range input.All() {
		v.add(value, 0)
	}
	return v
}

// add adds the values in a JSON value, and the names of nested members, which an agent can choose,
// too.
func (v *values) add(value jsontext.Value, depth int) {
	if len(v.texts)+len(v.numbers) > maxValues || depth > 8 {
		v.unread = true
		return
	}
	switch value.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		v.unread = v.unread || err != nil
		if len(text) > 0 {
			v.texts = append(v.texts, string(text))
		}
	case '0':
		v.numbers = append(v.numbers, value.String())
	case '{':
		object, err := events.ParseObject(value)
		v.unread = v.unread || err != nil
		for name, inner := range object.All() {
			v.texts = append(v.texts, name)
			v.add(inner, depth+1)
		}
	case '[':
		var list []jsontext.Value
		v.unread = v.unread || json.Unmarshal(value, &list) != nil
		for _, inner := range list {
			v.add(inner, depth+1)
		}
	}
}

// states reports whether the user's prompts contain all values of a call, one of which is
// distinctive.
func (m *memory) states(v values) bool {
	if v.unread || len(v.texts) == 0 {
		return false
	}
	for _, text := range v.texts {
		if !slices.ContainsFunc(m.Prompts, func(prompt string) bool { return has(prompt, text) }) {
			return false
		}
	}
	for _, number := range v.numbers {
		if !slices.ContainsFunc(m.Prompts, func(prompt string) bool { return hasNumber(prompt, number) }) {
			return false
		}
	}
	return slices.ContainsFunc(v.texts, distinctive)
}

// distinctive reports whether a text is long enough not to occur in a prompt by accident.
func distinctive(text string) bool {
	letters, digits := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
		}
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return letters >= 4 || digits >= 6
}

// has reports whether a prompt contains a text as whole words. Part of an address or a number does
// not count.
func has(prompt, text string) bool {
	for from := 0; ; {
		at := strings.Index(prompt[from:], text)
		if at < 0 {
			return false
		}
		at += from
		if !joined(prompt[:at], text, true) && !joined(prompt[at+len(text):], text, false) {
			return true
		}
		_, width := utf8.DecodeRuneInString(prompt[at:])
		from = at + width
	}
}

// joined reports whether a text continues in the text before or after it.
func joined(rest, text string, before bool) bool {
	decode, inner := utf8.DecodeRuneInString, utf8.DecodeLastRuneInString
	if before {
		decode, inner = utf8.DecodeLastRuneInString, utf8.DecodeRuneInString
	}
	edge, _ := inner(text)
	next, width := decode(rest)
	if rest == "" || !word(edge) && !word(next) {
		return false
	}
	if word(next) {
		return word(edge) || strings.ContainsRune(joiners, edge)
	}
	if !strings.ContainsRune(joiners, next) {
		return false
	}
	if before {
		rest = rest[:len(rest)-width]
	} else {
		rest = rest[width:]
	}
	beyond, _ := decode(rest)
	return rest != "" && word(beyond)
}

// joiners are characters within addresses, paths and numbers.
const joiners = `@._-+/:%&=#~\,`

func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// hasNumber reports whether a prompt contains a number, in any notation.
func hasNumber(prompt, number string) bool {
	wanted, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	for part := range strings.FieldsFuncSeq(prompt, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".,-:/", r)
	}) {
		if n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(part, ".,:"), ",", ""), 64); err == nil && n == wanted {
			return true
		}
	}
	return false
}

// digest returns a digest of the tool's name and the values.
func (v values) digest(tool events.Tool) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{tool.Name}, v.texts, v.numbers), "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
