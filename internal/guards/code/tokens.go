package code

// at returns the token at i, or the end of a line outside the code.
func (r *reader) at(i int) token {
	if i < 0 || i >= len(r.tokens) {
		return token{kind: ends}
	}
	return r.tokens[i]
}

func (r *reader) is(i int, name string) bool { return r.at(i).kind == 'n' && r.at(i).value == name }

// follow reports whether the tokens from i on are of these kinds.
func (r *reader) follow(i int, kinds string) bool {
	for j := range len(kinds) {
		if r.at(i+j).kind != kinds[j] {
			return false
		}
	}
	return true
}

// member reports whether the name at i is a member of an object: x.i, x?.i, x->i, x::i.
func (r *reader) member(i int) bool {
	switch before := r.at(i - 1).kind; before {
	case '.', '$':
		return true
	case '>':
		return r.fold && r.at(i-2).kind == '-' // PHP
	case ':':
		return r.symbols || r.at(i-2).kind == ':'
	}
	return false
}

// root returns the name at the beginning of a chain of members.
func (r *reader) root(i int) string {
	for r.member(i) {
		i -= 2
		if k := r.at(i).kind; k == '?' || k == '-' || k == ':' {
			i--
		}
		for r.at(i).kind == ']' || r.at(i).kind == '!' {
			for ; i >= 0 && r.at(i).kind != '['; i-- {
			}
			i--
			if r.at(i).kind == '.' && r.at(i-1).kind == '?' {
				i -= 2
			}
		}
		if r.at(i).kind != 'n' {
			return ""
		}
	}
	return r.at(i).value
}

// closing returns the index of the bracket that closes the one at i.
func (r *reader) closing(i int) int {
	depth := 0
	for j := i; j < len(r.tokens); j++ {
		switch r.at(j).kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return len(r.tokens)
}

// caller returns the name of the function whose argument contains i, or "".
func (r *reader) caller(i int) string {
	depth := 0
	for j := i - 1; j >= 0; j-- {
		switch r.at(j).kind {
		case ')', ']', '}':
			depth++
		case '[', '{':
			if depth--; depth < 0 {
				return ""
			}
		case '(':
			if depth--; depth < 0 {
				if r.at(j-1).kind == 'n' && !r.is(j-2, "def") && !r.is(j-2, "class") {
					return r.at(j - 1).value
				}
				return ""
			}
		case ends:
			if depth == 0 {
				return ""
			}
		}
	}
	return ""
}

// argument returns the index at which an argument begins, counting arguments from 0, for the call
// whose bracket is at i. It returns -1 if there is no such argument.
func (r *reader) argument(i, which int) int {
	depth := 0
	for j := i; j < len(r.tokens); j++ {
		switch r.at(j).kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 1 {
				which--
			}
		}
		switch next := r.at(j + 1).kind; {
		case depth == 0:
			return -1
		case depth == 1 && which == 0 && (r.at(j).kind == ',' || j == i) && next != ')' && next != ends:
			return j + 1
		case which < 0:
			return -1
		}
	}
	return -1
}
