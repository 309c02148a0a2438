package events

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// commandOf reads a command: a line, or a list of words. ok is false for anything
// else.
func commandOf(v jsontext.Value) (line string, ok bool) {
	if v.Kind() == '"' {
		line, err := unquote(v)
		return line, err == nil
	}
	if v.Kind() != '[' {
		return "", false
	}
	ok = true
	var words []string
	for e := range elements(v) {
		word, err := unquote(e)
		if err != nil {
			word, ok = e.String(), false
		}
		words = append(words, word)
	}
	return commandLine(words), ok
}

// commandLine is the line that runs these words, or the script that they give to
// a shell. Only the plain form is taken for that: what else stands beside a shell's
// script (another flag, arguments, a shell from elsewhere) may be what matters.
func commandLine(words []string) string {
	if len(words) == 3 && isShell(words[0]) && slices.Contains(scriptFlags, strings.ToLower(words[1])) {
		return words[2]
	}
	line := make([]byte, 0, 64)
	for i, w := range words {
		if i > 0 {
			line = append(line, ' ')
		}
		line = appendWord(line, w)
	}
	return string(line)
}

var (
	shells      = []string{"sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh", "pwsh.exe"}
	shellDirs   = []string{"", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"}
	scriptFlags = []string{"-c", "-lc", "-ic", "-lic", "-ilc", "/c", "-command"}
)

func isShell(word string) bool {
	at := strings.LastIndexByte(word, '/') + 1
	return slices.Contains(shells, word[at:]) && slices.Contains(shellDirs, word[:at])
}

// appendWord quotes a word where a shell would not read it as it is.
func appendWord(line []byte, word string) []byte {
	plain := word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("@%+=:,./-_", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if plain {
		return append(line, word...)
	}
	line = append(line, '\'')
	line = append(line, strings.ReplaceAll(word, "'", `'\''`)...)
	return append(line, '\'')
}
