package sessionnaming

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
)

var (
	code     = regexp.MustCompile("(?s)```.*?(```|$)")
	tags     = regexp.MustCompile(`(?s)<[a-zA-Z][^<>]*>|</[a-zA-Z][^<>]*>`)
	address  = regexp.MustCompile(`[a-zA-Z][a-zA-Z+.-]*://\S+`)
	longPath = regexp.MustCompile(`(?:[~.\w-]*/){2,}([\w.-]+)`)
	sentence = regexp.MustCompile(`[.!?:;](\s|$)|\n`)

	// courtesies matches words at the start of a prompt that do not describe the task.
	courtesies = regexp.MustCompile(`(?i)^(?:hi|hello|hey|hallo|ok|okay|yes|no|sure|thanks|thank you|great|now|so|well|then|and|also|please|kindly|just|` +
		`can you|could you|would you|will you|can we|could we|i want you to|i want to|i would like you to|i would like to|i'd like you to|i'd like to|` +
		`i need you to|i need to|you should|let's|lets|let us|help me to|help me with|help me|we need to|we should|there|again|claude|codex|gemini|copilot)\b[\s,.!-]*`)
	// nothing matches the rest of prompts that do not describe a task.
	nothing = regexp.MustCompile(`(?i)^(?:go on|go ahead|continue|proceed|do it|do that|go|start|stop|next|retry|try|fine|good|perfect|you|it|that|this)$`)
)

// nameOf returns a name made from a prompt; empty if no sentence of it describes a task.
func nameOf(prompt string, limit int) string {
	if len(prompt) > 16<<10 {
		prompt = strings.ToValidUTF8(prompt[:16<<10], "")
	}
	text := code.ReplaceAllString(prompt, "\n")
	text = tags.ReplaceAllString(text, " ")
	text = address.ReplaceAllString(text, "")
	text = longPath.ReplaceAllString(text, "$1")
	for text != "" {
		first, rest := text, ""
		if at := sentence.FindStringIndex(text); at != nil {
			first, rest = text[:at[0]], text[at[1]:]
		}
		if name := clean(first, limit); name != "" {
			return name
		}
		text = rest
	}
	return ""
}

// clean returns a sentence without courtesies, cut to limit; empty if nothing is left.
func clean(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	text = strings.Trim(text, " \t#*-_>`\"'.,!?:;")
	for {
		rest := courtesies.ReplaceAllString(text, "")
		if rest == text {
			break
		}
		text = rest
	}
	if text = strings.Trim(text, " #*-_>`\"'.,!?:;"); nothing.MatchString(text) || !strings.ContainsFunc(text, unicode.IsLetter) {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return cutWords(string(unicode.ToUpper(first))+text[size:], limit)
}

// cutWords cuts a text to limit characters, between words if possible.
func cutWords(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	short := string(runes[:limit])
	if at := strings.LastIndex(short, " "); at > 0 && runes[limit] != ' ' {
		short = short[:at]
	}
	return strings.TrimRight(short, " ,.-")
}

// rules mask secrets in prompts and names.
var rules = redact.Default()

func masked(text string) string {
	text, _ = rules.Text(text)
	return text
}
