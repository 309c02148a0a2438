package shell

import "slices"

// calls is what code asks subprocess and urllib for: a command of words that are told, and what
// stands at an address. They are judged as if a line ran the command, or curl.
func (p *python) calls(i int) (more int, ok bool) {
	if p.at(i+1).kind != '.' {
		return 0, false
	}
	if p.is(i, "urllib") {
		return p.fetches(i)
	}
	switch does := p.at(i + 2).value; {
	case slices.Contains([]string{"PIPE", "DEVNULL", "STDOUT"}, does):
		return 2, true
	case !slices.Contains([]string{"run", "check_output", "check_call", "call"}, does) || p.at(i+3).kind != '(' || p.at(i+4).kind != '[':
		return 0, false
	}
	var words []Word
	for j := i + 5; ; j += 2 {
		w := p.word(j)
		if w.Text == "" || len(words) == 0 && !w.Known {
			return 0, false
		}
		words = append(words, w)
		switch p.at(j + 1).kind {
		case ',':
		case ']':
			p.runs = append(p.runs, words)
			return j + 1 - i, p.options(j + 2)
		default:
			return 0, false
		}
	}
}

// word is one of a command. What a name stands for is not known.
func (p *python) word(i int) Word {
	switch t := p.at(i); {
	case t.kind == 't' && t.plain:
		return Word{Text: t.value, Known: true}
	case t.kind == 'n' && p.known[t.value]:
		return Word{Text: "$" + t.value}
	}
	return Word{}
}

// options reports whether what stands behind the words of a command, up to the bracket that
// closes, only says what becomes of its output.
func (p *python) options(i int) bool {
	for ; p.at(i).kind == ','; i += 4 {
		name := p.at(i + 1).value
		if !slices.Contains([]string{"capture_output", "text", "check", "timeout", "stdout", "stderr", "encoding", "universal_newlines"}, name) || p.at(i+2).kind != '=' {
			return p.at(i+1).kind == ')'
		}
		if p.is(i+3, "subprocess") {
			i += 2
		}
	}
	return p.at(i).kind == ')'
}

// fetches is urllib.request.urlopen('address').
func (p *python) fetches(i int) (more int, ok bool) {
	t := p.at(i + 6)
	address, ok := p.fixed[t.value]
	if t.kind == 't' {
		address, ok = t.value, t.plain
	}
	timed := p.at(i+7).kind == ',' && p.is(i+8, "timeout") && p.at(i+9).kind == '=' && p.at(i+10).kind == '0' && p.at(i+11).kind == ')'
	if !ok || !p.is(i+2, "request") || p.at(i+3).kind != '.' || !p.is(i+4, "urlopen") || p.at(i+5).kind != '(' || p.at(i+7).kind != ')' && !timed {
		return 0, false
	}
	p.runs = append(p.runs, []Word{{Text: "curl", Known: true}, {Text: "--", Known: true}, {Text: address, Known: true}})
	return 6, true
}
