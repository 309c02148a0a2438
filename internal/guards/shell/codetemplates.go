package shell

import "strings"

// maxTemplates bounds the values that stand in templates of JavaScript.
const maxTemplates = 32

// withoutTemplates is code of JavaScript with sums in the place of its templates: `a ${b} c` is
// (""+(b)+""), since what the text between the values says does not matter. It is false where a
// template can't be read.
func withoutTemplates(code string) (rest string, ok bool) {
	var b strings.Builder
	quote := byte(0)
	for i, left := 0, maxTemplates; i < len(code); i++ {
		switch c := code[i]; {
		case quote != 0:
			if c == '\\' && i+1 < len(code) {
				b.WriteByte(c)
				i++
			} else if c == quote || c == '\n' {
				quote = 0
			}
			b.WriteByte(code[i])
		case c == '\'' || c == '"':
			quote = c
			b.WriteByte(c)
		case c != '`':
			b.WriteByte(c)
		default:
			sum, end := template(code[i+1:], &left)
			if end < 0 || strings.HasSuffix(strings.TrimSpace(b.String()), "String.raw") {
				return "", false
			}
			b.WriteString(sum)
			i += end + 1
		}
	}
	return b.String(), true
}

// template is the sum that a template is, and where it ends; -1 for one that can't be read, as one
// with a value that has quotes or brackets of its own.
func template(code string, left *int) (sum string, end int) {
	sum = `(""`
	for i := 0; i < len(code); i++ {
		switch {
		case code[i] == '`':
			return sum + ")", i
		case code[i] == '\\':
			i++
		case strings.HasPrefix(code[i:], "${"):
			length := strings.IndexAny(code[i+2:], "}{`'\"\n")
			if *left--; length < 0 || code[i+2+length] != '}' || *left < 0 {
				return "", -1
			}
			sum += "+(" + code[i+2:i+2+length] + `)+""`
			i += 2 + length
		}
	}
	return "", -1
}
