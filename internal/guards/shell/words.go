package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxBraces is the maximum number of words that a brace expansion may produce.
const maxBraces = 64

// words returns words as a command sees them.
func (s source) words(from []*syntax.Word) []Word {
	words := make([]Word, 0, len(from))
	for _, w := range from {
		if names := s.listing(w); len(names) > 0 {
			words = append(words, names...)
			continue
		}
		words = append(words, s.braces(w)...)
	}
	return words
}

// braces expands {a,b} to two words.
func (s source) braces(from *syntax.Word) []Word {
	if strings.Count(s.sourceOf(from), "{") > maxBraces/4 {
		return []Word{s.word(from).many()}
	}
	split := *from
	if !syntax.SplitBraces(&split) {
		return []Word{s.word(from)}
	}
	var words []Word
	for w, err := range expand.BracesSeq(&expand.Config{}, &split) {
		if err != nil || len(words) == maxBraces {
			return []Word{{Text: s.sourceOf(from), Many: true}}
		}
		words = append(words, s.word(w))
	}
	return words
}

// many returns the word as one that may be several.
func (w Word) many() Word {
	w.Known, w.Many = w.Known && !strings.Contains(w.Text, "{"), true
	return w
}

// word returns a word without brace expansion.
func (s source) word(from *syntax.Word) Word {
	w := Word{Known: true}
	var text strings.Builder
	for i, part := range from.Parts {
		text.WriteString(s.part(&w, part, i == 0 || begins(text.String()), false))
	}
	w.Text = text.String()
	return w
}

// part returns the text of a part of a word, or its source if the text is unknown.
func (s source) part(w *Word, part syntax.WordPart, first, quoted bool) string {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			return unescape(p.Value, "$`\"\\")
		}
		w.Glob = w.Glob || hasGlob(p.Value)
		return unescape(p.Value, "")
	case *syntax.SglQuoted:
		if !p.Dollar {
			return p.Value
		}
		text, err := expand.Literal(&expand.Config{}, &syntax.Word{Parts: []syntax.WordPart{p}})
		if err == nil {
			return text
		}
	case *syntax.DblQuoted:
		var text strings.Builder
		for i, inner := range p.Parts {
			text.WriteString(s.part(w, inner, first && i == 0 || begins(text.String()), true))
		}
		return text.String()
	case *syntax.ParamExp:
		if text, ok := directory(p); ok && first {
			return text
		}
		if round, ok := s.round(p, quoted); ok {
			w.Glob, w.Deep = w.Glob || round.Glob, w.Deep || round.Deep
			if !round.Known {
				w.Known, w.Many, w.Runs = false, w.Many || !quoted, append(w.Runs, round.Runs...)
			}
			return round.Text
		}
		w.Many = w.Many || !quoted || p.Param != nil && p.Param.Value == "@" || p.Index != nil
	case *syntax.CmdSubst:
		if text, ok := s.substituted(p, first, quoted); ok {
			return text
		}
		w.Many = w.Many || !quoted
		w.Runs = append(w.Runs, names(s, p)...)
	case *syntax.ProcSubst:
		w.Runs = append(w.Runs, names(s, p)...)
	case *syntax.ExtGlob:
		w.Glob = true
	case *syntax.ArithmExp:
	}
	w.Known = false
	return s.sourceOf(part)
}

// begins reports whether a path may begin after a text, as in x=$HOME and file://$HOME.
func begins(text string) bool {
	return text != "" && strings.ContainsAny(text[len(text)-1:], "=@:,") || strings.HasSuffix(text, "file://")
}

// directory returns the path that $HOME and $PWD represent.
func directory(p *syntax.ParamExp) (string, bool) {
	switch plainName(p) {
	case "HOME":
		return "~", true
	case "PWD":
		return ".", true
	}
	return "", false
}

// plainName returns the name in $NAME and ${NAME}, or "" for any other expansion.
func plainName(p *syntax.ParamExp) string {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0 {
		return ""
	}
	return p.Param.Value
}

// document returns the text of a here-document.
func (s source) document(from *syntax.Word, quoted bool) (text string, known bool) {
	w := Word{Known: true}
	var b strings.Builder
	for _, part := range from.Parts {
		if lit, ok := part.(*syntax.Lit); ok && quoted {
			b.WriteString(lit.Value)
			continue
		} else if ok {
			b.WriteString(unescape(lit.Value, "$`\\"))
			continue
		}
		b.WriteString(s.part(&w, part, false, true))
	}
	return b.String(), w.Known
}

// names returns the names of the commands within a node.
func names(s source, within syntax.Node) (all []string) {
	if s.plain {
		return nil
	}
	s = s.shallow()
	syntax.Walk(within, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			for _, w := range s.words(call.Args) { // sudo curl, env curl
				if name := nameOf(w.Text); !slices.Contains(all, name) && len(all) < maxBraces {
					all = append(all, name)
				}
			}
		}
		return true
	})
	return all
}

// unescape removes backslashes: those before one of the given characters, or all if before is
// empty.
func unescape(text, before string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			next := text[i+1]
			if next == '\n' {
				i++
				continue
			}
			if before == "" || strings.IndexByte(before, next) >= 0 {
				b.WriteByte(next)
				i++
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// hasGlob reports whether a text has an unescaped wildcard.
func hasGlob(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return text != "["
		}
	}
	return false
}
