package shell

import (
	"slices"
	"strings"
)

// escapes are the characters that printf prints for escape sequences.
var escapes = map[byte]string{'n': "\n", 't': "\t", '\\': "\\", '"': `"`, '\'': "'"}

// printedText returns the text that a lone echo or printf prints.
func printedText(commands []Command) (string, bool) {
	if len(commands) != 1 || len(commands[0].Words) < 2 {
		return "", false
	}
	args := commands[0].Args()
	if slices.ContainsFunc(args, func(w Word) bool { return !w.Known || w.Glob }) {
		return "", false
	}
	switch commands[0].Name() {
	case "echo":
		return echoed(args)
	case "printf":
		return formatted(args)
	}
	return "", false
}

// echoed returns what echo prints. Shells differ in how they treat a backslash, so it is not
// supported.
func echoed(args []Word) (string, bool) {
	var texts []string
	for _, w := range args {
		if strings.HasPrefix(w.Text, "-") || strings.Contains(w.Text, `\`) {
			return "", false
		}
		texts = append(texts, w.Text)
	}
	return strings.Join(texts, " "), true
}

// formatted returns what printf prints. The format may contain %s and %% only.
func formatted(args []Word) (string, bool) {
	format, values := args[0].Text, args[1:]
	if strings.HasPrefix(format, "-") {
		return "", false
	}
	var b strings.Builder
	for {
		used := 0
		for i := 0; i < len(format); i++ {
			next := byte(0)
			if i+1 < len(format) {
				next = format[i+1]
			}
			switch c := format[i]; {
			case c == '\\':
				text, ok := escapes[next]
				if !ok {
					return "", false
				}
				b.WriteString(text)
				i++
			case c == '%' && next == '%':
				b.WriteByte('%')
				i++
			case c == '%' && next == 's':
				if used < len(values) {
					b.WriteString(values[used].Text)
				}
				used++
				i++
			case c == '%':
				return "", false
			default:
				b.WriteByte(c)
			}
		}
		if used == 0 || used >= len(values) || b.Len() > MaxLine {
			return b.String(), b.Len() <= MaxLine
		}
		values = values[used:]
	}
}
