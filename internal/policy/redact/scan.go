package redact

import (
	"regexp"
	"slices"
	"strings"
)

// Texts are searched for hints: literals that every secret of a kind begins with or contains. A bit
// table contains three adjacent characters of each hint, its gram, so that text without hints is
// scanned at two or three cycles per byte. Expressions and detailed checks run only where a hint
// was found.

// codes map a byte to five bits: letters regardless of case, any digit, - and _, and the three
// other characters that distinguish hints; zero is any other character. The bits above mark bytes
// at which the scanners stop.
var codes = func() (t [256]uint8) {
	for c := range t {
		switch c := byte(c); {
		case isLetter(c):
			t[c] = c & codeMask
		case isDigit(c):
			t[c] = codeDigit
		case c == '-' || c == '_':
			t[c] = 28
		case c == '.':
			t[c] = 29
		case c == ':':
			t[c] = 30
		case c == ' ':
			t[c] = 31
		case c == '@':
			t[c] = markAt
		case c < ' ' || c == '"' || c == '\\':
			t[c] = markStop
		}
	}
	return t
}()

const (
	codeDigit = 27
	codeMask  = 31
	markAt    = 0x40 // @
	markStop  = 0x80 // ends a run of literal characters in a JSON string
	gramMask  = 1<<15 - 1
)

// trigger is a hint, and what to do where it is found.
type trigger struct {
	hint  string
	exact bool // compare bytes, not codes
	word  bool // no letter, digit, _ or - may follow
	kind  string
	// find returns the secret at a hint in text[at:end], or an empty span.
	find    func(text []byte, at, end int) (from, to int)
	pattern *pattern // used instead of find: searches the whole text
	offset  int      // of the gram in hint
	number  int      // of the kind, see kindNames
}

// pattern is an expression of a rules file.
type pattern struct {
	kind  string
	form  *regexp.Regexp
	group int // group of a match that is masked: 1, or 0 for the whole match
}

// matcher is a compiled set of rules. It is immutable once built.
type matcher struct {
	hot      [(gramMask + 1) / 32]uint32 // a bit for each gram of a trigger
	slots    [gramMask + 1]uint16        // by gram, the index in triggers
	triggers [][]trigger                 // the first one is empty
	url      bool
	email    bool
	assigned bool // members with secret names are assignments, too
	nested   bool // see Options.Nested
	approval bool // see Rules.ForApproval

	forApproval func() *matcher
	always      []*pattern
	keys        keySet
	allow       allowList
	markers     []string
}

func (m *matcher) add(t trigger) {
	var gram uint32
	gram, t.offset = rarest(t.hint)
	t.number = slices.Index(kindNames, t.kind)
	if m.slots[gram] == 0 {
		m.hot[gram>>5] |= 1 << (gram & 31)
		m.slots[gram] = uint16(len(m.triggers))
		m.triggers = append(m.triggers, nil)
	}
	slot := &m.triggers[m.slots[gram]]
	*slot = append(*slot, t)
}

// common lists the letters by descending frequency in text.
const common = "etaoinsrhldcumfpgwybvkxjqz"

// rarest returns the gram of a hint that is rarest in ordinary text.
func rarest(hint string) (gram uint32, offset int) {
	best := -1
	for i := range len(hint) - 2 {
		score := 0
		for _, c := range []byte(hint[i : i+3]) {
			if at := strings.IndexByte(common, c|0x20); at >= 0 {
				score += at
			} else {
				score += 12
			}
		}
		if score > best {
			best, offset = score, i
			gram = uint32(codes[hint[i]]&codeMask)<<10 | uint32(codes[hint[i+1]]&codeMask)<<5 | uint32(codes[hint[i+2]]&codeMask)
		}
	}
	return gram, offset
}

// stands reports whether the trigger's hint is in text with its gram ending at i, and where the
// hint begins.
func (t *trigger) stands(text []byte, i int) (at int, ok bool) {
	at = i - 2 - t.offset
	if at < 0 || at+len(t.hint) > len(text) {
		return 0, false
	}
	for j := range len(t.hint) {
		if c := text[at+j]; c != t.hint[j] && (t.exact || codes[c] != codes[t.hint[j]]) {
			return 0, false
		}
	}
	end := at + len(t.hint)
	return at, !t.word || end == len(text) || !isIdent(text[end])
}

// hinted reports whether one of the hints whose gram ends at text[i] is there. It scans JSON before
// decoding, so text may extend beyond the string.
func (m *matcher) hinted(text []byte, i int, gram uint32) bool {
	slot := m.triggers[m.slots[gram&gramMask]]
	for j := range slot {
		t := &slot[j]
		at, ok := t.stands(text, i)
		if !ok {
			continue
		}
		if t.kind != kindCard {
			return true
		}
		if from, to := t.find(text, at, 0); from < to {
			return true
		}
	}
	return false
}

// addressed reports whether the @ at text[i] may be part of an address.
func (m *matcher) addressed(text []byte, i int) bool {
	return (m.url || m.email) && i > 0 && i+1 < len(text) && text[i-1] > ' ' && (isIdent(text[i+1]) || text[i+1] == '[')
}

// quiet reports whether a text certainly has no secret: no gram of a hint, no @, and no expression
// without hints to try.
func (m *matcher) quiet(text string) bool {
	if len(m.always) > 0 {
		return false
	}
	gram := uint32(0)
	for i := range len(text) {
		c := codes[text[i]]
		gram = (gram<<5 | uint32(c&codeMask)) & gramMask
		if c == markAt || m.hot[gram>>5]&(1<<(gram&31)) != 0 {
			return false
		}
	}
	return true
}

// search returns the secrets in text in order, without overlaps. It appends them to found, which
// must be empty.
func (m *matcher) search(text []byte, found []span) []span {
	var hinted []*pattern
	// A hint within a long secret of its own kind is skipped, so that the text after hints is not
	// scanned again for each of them.
	var covered [32]int
	gram := uint32(0)
	for i, b := range text {
		c := codes[b]
		if c == markAt && m.addressed(text, i) {
			found = m.address(text, i, found)
		}
		gram = (gram<<5 | uint32(c&codeMask)) & gramMask
		if m.hot[gram>>5]&(1<<(gram&31)) == 0 {
			continue
		}
		slot := m.triggers[m.slots[gram&gramMask]]
		for j := range slot {
			t := &slot[j]
			at, ok := t.stands(text, i)
			switch {
			case !ok:
			case t.pattern != nil:
				if !slices.Contains(hinted, t.pattern) {
					hinted = append(hinted, t.pattern)
				}
			case at >= covered[t.number]:
				if from, to := t.find(text, at, at+len(t.hint)); from < to {
					found = append(found, span{start: from, end: to, kind: t.kind})
					if to-at > scanned {
						covered[t.number] = to
					}
				}
			}
		}
	}
	for _, p := range m.always {
		found = p.search(text, found)
	}
	for _, p := range hinted {
		found = p.search(text, found)
	}
	if m.approval {
		for i := range found {
			found[i].end = harmlessEnd(text, found[i])
		}
	}
	if len(found) == 0 {
		return found
	}
	return m.settle(text, found)
}

func (p *pattern) search(text []byte, found []span) []span {
	for _, at := range p.form.FindAllSubmatchIndex(text, -1) {
		g := 2 * p.group
		if at[g] < 0 {
			g = 0
		}
		found = append(found, span{start: at[g], end: at[g+1], kind: p.kind})
	}
	return found
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }

// isIdent reports whether c may be part of the name of a variable, a flag or a header.
func isIdent(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }
