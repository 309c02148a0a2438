package bashvalidator

import "strings"

// hereDoc is text for a command, up to a line that is end.
type hereDoc struct {
	to      *command
	end     string
	indent  bool // tabs before a line do not count
	literal bool // command substitutions are not made
}

// redirection reads an operator; what it is for is the next word.
func (p *parser) redirection() {
	if strings.Trim(p.word.String(), "0123456789") == "" { // 2>file: the digit is no word
		p.word.Reset()
		p.inWord = false
	}
	p.endWord()
	begin := p.pos - 1
	for p.pos < len(p.src) && strings.IndexByte("<>&|", p.src[p.pos]) >= 0 {
		p.pos++
	}
	p.redirect = p.src[begin:p.pos]
	if p.redirect == "<<" && strings.HasPrefix(p.src[p.pos:], "-") {
		p.redirect = "<<-"
		p.pos++
	}
}

// hereDocs reads the here documents that the line before began.
func (p *parser) hereDocs() {
	for _, doc := range p.pending {
		var text strings.Builder
		for p.pos < len(p.src) {
			line := p.until('\n')
			if doc.indent {
				line = strings.TrimLeft(line, "\t")
			}
			if line == doc.end {
				break
			}
			text.WriteString(line)
			text.WriteByte('\n')
		}
		doc.to.input = text.String()
		if !doc.literal {
			p.substitutionsIn(doc.to.input)
		}
	}
	p.pending = nil
}

// substitutionsIn reads the command substitutions of a here document.
func (p *parser) substitutionsIn(text string) {
	sub := parser{src: text, nesting: p.nesting + 1, current: &command{}}
	for sub.pos < len(text) && sub.err == nil && sub.nesting <= maxNesting {
		sub.doubleQuoted()
	}
	p.commands, p.err = append(p.commands, sub.commands...), sub.err
}
