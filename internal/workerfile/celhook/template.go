package celhook

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
)

// template is text with expressions in it. The zero template is the empty text.
type template []part

// part is plain text, or an expression.
type part struct {
	text string
	expr *match.Expr // nil for plain text
}

// parseTemplate compiles the expressions between {{ and }}. The position of an
// error is the position in text.
func parseTemplate(text string) (template, error) {
	var t template
	rest := text
	for rest != "" {
		plain, tail, found := strings.Cut(rest, "{{")
		if plain != "" {
			t = append(t, part{text: plain})
		}
		if !found {
			break
		}
		offset := len(text) - len(tail)
		end := exprEnd(tail)
		if end < 0 {
			return nil, errorAt(text, offset-len("{{"), "{{ is not closed: }} is missing")
		}
		expr, err := match.InRule.CompileExpr(tail[:end])
		if wrong, ok := errors.AsType[*match.Error](err); ok {
			return nil, shift(text, offset, wrong)
		}
		if err != nil {
			return nil, err
		}
		t = append(t, part{expr: expr})
		rest = tail[end+len("}}"):]
	}
	return t, nil
}

// exprEnd returns the index of the }} that closes an expression, outside of quotes and of the
// expression's own braces. It returns -1 if there is none.
func exprEnd(s string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}' && strings.HasPrefix(s[i:], "}}"):
			return i
		}
	}
	return -1
}

// errorAt returns an error at a byte offset of text.
func errorAt(text string, offset int, message string) *match.Error {
	before := text[:offset]
	lineStart := strings.LastIndexByte(before, '\n') + 1
	return &match.Error{
		Line:    strings.Count(before, "\n") + 1,
		Column:  utf8.RuneCountInString(before[lineStart:]) + 1,
		Message: message,
	}
}

// shift translates the position of an error within an expression to its position in text.
func shift(text string, offset int, inner *match.Error) *match.Error {
	outer := errorAt(text, offset, inner.Message)
	if inner.Line == 1 {
		outer.Column += inner.Column - 1
	} else {
		outer.Column = inner.Column
	}
	outer.Line += inner.Line - 1
	return outer
}

func (t template) render(in *match.Input) (string, error) {
	var b []byte
	for _, p := range t {
		if p.expr == nil {
			b = append(b, p.text...)
			continue
		}
		v, err := p.expr.EvalJSON(in)
		if err != nil {
			return "", explain(err)
		}
		if v.Kind() != '"' {
			b = append(b, v...)
		} else if b, err = jsontext.AppendUnquote(b, v); err != nil {
			return "", fmt.Errorf("unquote a text: %w", err)
		}
	}
	return string(b), nil
}
