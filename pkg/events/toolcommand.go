package events

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// commandOf returns a command that is a line or a list of words. ok is false for other values.
func commandOf(v jsontext.Value) (line string, ok bool) {
	if v.Kind() == '"' {
		line, err := unquote(v)
		return line, err == nil
	}
	words, ok := wordsOf(v)
	return commandLine(words), ok
}

// wordsOf returns a list of words. ok is false for other values, and if an element is not a string.
func wordsOf(v jsontext.Value) (words []string, ok bool) {
	if v.Kind() != '[' {
		return nil, false
	}
	ok = true
	for e := range elements(v) {
		word, err := unquote(e)
		if err != nil {
			word, ok = e.String(), false
		}
		words = append(words, word)
	}
	return words, ok
}

// arguments are the arguments of a command in a separate member: words, or a text.
type arguments struct {
	words []string
	line  string
}

func argumentsOf(v jsontext.Value) (a arguments, ok bool) {
	if v.Kind() == '"' {
		line, err := unquote(v)
		return arguments{line: line}, err == nil
	}
	words, ok := wordsOf(v)
	return arguments{words, quoteWords(words)}, ok
}

// behind returns the line of a command with the arguments appended.
func (a arguments) behind(command string) string {
	if likeBash(command) && len(a.words) > 0 {
		return commandLine(append([]string{command}, a.words...))
	}
	return command + " " + a.line
}

func isOperator(word string) bool { return slices.Contains([]string{"&&", "||", ";", "|", "&"}, word) }

// maxJoined is the maximum size of the lines for all combinations of commands and arguments, in
// bytes. Guards can't judge more than this.
const maxJoined = 128 << 10

// joinArguments appends the arguments to the commands. If there are several arguments, it is
// unknown which ones count, so it makes a line for each.
func (m *members) joinArguments() {
	if len(m.args) == 0 {
		return
	}
	if len(m.commands) == 0 && m.argv {
		m.takesCommand = true
		for _, args := range m.args {
			line := args.line
			if len(args.words) > 0 {
				line = commandLine(args.words)
			}
			m.commands = append(m.commands, line)
		}
		return
	}
	commands, size := m.commands, 0
	m.commands = nil
	for _, command := range commands {
		for _, args := range m.args {
			if size > maxJoined {
				m.partial = true
				return
			}
			line := args.behind(command)
			m.commands, size = append(m.commands, line), size+len(line)
			if slices.ContainsFunc(args.words, isOperator) { // a tool may join the words without quotes
				m.commands = append(m.commands, command+" "+strings.Join(args.words, " "))
			}
		}
	}
}

// commandLine returns the line that runs words, or the script that words run in a shell. It returns
// a script only for the plain form with three words: anything else (other flags, arguments, a shell
// elsewhere or with other quoting rules) may matter.
func commandLine(words []string) string {
	if len(words) == 3 && likeBash(words[0]) && slices.Contains(scriptFlags, words[1]) {
		return words[2]
	}
	return quoteWords(words)
}

// quoteWords returns a line that a shell splits into words.
func quoteWords(words []string) string {
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
	bashShells  = []string{"sh", "bash", "zsh", "dash", "ksh"}
	otherShells = []string{"fish", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh", "pwsh.exe"}
	shellDirs   = []string{"", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"}
	scriptFlags = []string{"-c", "-lc", "-ic", "-lic", "-ilc"}
)

// isShell reports whether a word names a shell.
func isShell(word string) bool {
	return isProgram(word, bashShells) || isProgram(word, otherShells)
}

// likeBash reports whether a word names a shell with the quoting rules that guards assume. Others
// may run what bash takes for a quoted word.
func likeBash(word string) bool { return isProgram(word, bashShells) }

func isProgram(word string, names []string) bool {
	at := strings.LastIndexByte(word, '/') + 1
	return slices.Contains(names, word[at:]) && slices.Contains(shellDirs, word[:at])
}

// appendWord appends a word, quoted if a shell would not take it literally.
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
