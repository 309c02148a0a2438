package approval

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// beside lists the members of a shell's input that do not change what it runs.
var beside = []string{"command", "cmd", "description", "timeout", "timeout_ms", "cwd", "workdir"}

// WithCall returns f with Command and Cwd set if the event's data is a call of a shell with a plain
// command: see [PlainCommand]. They stay empty if the input has members that may change the
// command's meaning, such as other variables or no sandbox.
func (f Facts) WithCall(event string, data []byte) Facts {
	f.Command, f.Cwd = "", ""
	tool, _ := events.ToolOf(event, data) // known shell inputs hold no other calls
	if tool.Class != events.ClassShell || !tool.Known || tool.Partial || !PlainCommand(tool.Command) {
		return f
	}
	o, err := events.ParseObject(data)
	if err != nil {
		return f
	}
	raw, _ := o.Get("tool_input")
	input, err := events.ParseObject(raw)
	if err != nil {
		return f
	}
	for name := range input.All() {
		if !slices.Contains(beside, name) {
			return f
		}
	}
	f.Command, f.Cwd = tool.Command, tool.Cwd
	return f
}

// PlainCommand reports whether every shell splits a line into the same words: those between its
// single spaces. Words consist of letters, digits and @+=:,./_- only, so the line has no quotes,
// variables, globs, ~, second command or line breaks.
func PlainCommand(line string) bool {
	return !slices.ContainsFunc(strings.Split(line, " "), func(word string) bool { return !plainWord(word) })
}

func plainWord(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !wordRune(r) && !strings.ContainsRune("@+=:,./", r) })
}

func wordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// commandMatches reports whether a line is a plain command and matches the pattern word by word.
func commandMatches(pattern, line string) bool {
	want, have := strings.Split(pattern, " "), strings.Split(line, " ")
	if len(want) != len(have) || !PlainCommand(line) {
		return false
	}
	for i, w := range want {
		if w != have[i] && !fileMatches(w, have[i]) {
			return false
		}
	}
	return true
}

// delicate matches names that * never matches: files that may hold secrets or grant rights.
var delicate = regexp.MustCompile(`(?i)secret|credential|passw|passphrase|token|key|priv|auth|account|cert|vault|kube|env|_rsa|_dsa|_ecdsa|_ed25519|hook|worker|nats|agent|settings|wp-config|prod|staging|shadow|history`)

// fileMatches reports whether a word names a file in the directory of a pattern such as docs/*.md.
// Hidden files, paths with .. and names that match delicate do not match.
func fileMatches(pattern, word string) bool {
	dir, ending, is := strings.Cut(pattern, "*")
	name, in := strings.CutPrefix(word, dir)
	base, ends := strings.CutSuffix(name, ending)
	return is && in && ends && base != "" && !strings.HasPrefix(base, "-") && !strings.HasPrefix(base, ".") &&
		!delicate.MatchString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !wordRune(r) && r != '.' })
}

// checkCommand returns an error if a pattern would match nothing, or more than it seems to.
func checkCommand(pattern string) error {
	if len(pattern) > MaxGlob {
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(pattern), MaxGlob)
	}
	for i, word := range strings.Split(pattern, " ") {
		dir, ending, glob := strings.Cut(word, "*")
		switch {
		case !glob && !plainWord(word):
			return errors.New("has a word that is not plain: letters, digits and @+=:,./_- alone, with one space between words")
		case glob && (i == 0 || !strings.HasSuffix(dir, "/") || !plainWord(dir) || strings.HasPrefix(dir, "-") || slices.Contains(strings.Split(dir, "/"), "..")):
			return errors.New("has a * in another place than behind a directory, as in docs/*.md")
		case glob && ending != "" && (!strings.HasPrefix(ending, ".") || !plainWord(ending) || strings.Contains(ending, "/")):
			return errors.New("has something else than a file's ending behind a *, as in docs/*.md")
		}
	}
	return nil
}

// checkCwd returns an error unless a text can be a directory.
func checkCwd(dir string) error {
	if strings.TrimSpace(dir) == "" {
		return errors.New("is empty")
	}
	return nil
}
