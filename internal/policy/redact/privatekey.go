package redact

import (
	"bytes"
	"regexp"
)

var (
	pemBegin = regexp.MustCompile(`^-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	pemEnd   = regexp.MustCompile(`^-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	// pemHeader matches a header line before the key, up to characters that a shell would
	// interpret.
	pemHeader = regexp.MustCompile("^(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\\\\\\r\\n$;|&<>()`\"']*")
)

// shortRun is the minimum number of base64 characters in a line of a key, except for its last line.
const shortRun = 16

// privateKey finds a PEM block: its first line, everything after it that looks like a key, and its
// last line. Other text stays visible, or an agent could hide a command in a block.
func privateKey(text []byte, at, _ int) (from, to int) {
	if at < 4 {
		return 0, 0
	}
	begin := pemBegin.Find(text[at-4:])
	if begin == nil {
		return 0, 0
	}
	from, to = at-4, at-4+len(begin)
	for {
		next := skipGap(text, to)
		if end := pemEnd.Find(text[next:]); end != nil {
			return from, next + len(end)
		}
		if header := pemHeader.Find(text[next:]); header != nil {
			to = next + len(header)
			continue
		}
		run := while(text, next, isBase64)
		if !isKeyLike(text[next:run]) || run-next < shortRun && !atEnd(text, run) {
			return from, to
		}
		to = run
	}
}

// skipGap skips what may be between the lines of a key: blanks, escapes, quotes, diff markers and
// line numbers.
func skipGap(text []byte, at int) int {
	for at < len(text) {
		switch c := text[at]; {
		case c == '\\' && at+1 < len(text) && bytes.IndexByte([]byte(`nrt\"`), text[at+1]) >= 0:
			at += 2
		case c <= ' ' || bytes.IndexByte([]byte(`"',>|`), c) >= 0:
			at++
		case bytes.HasPrefix(text[at:], []byte("→")):
			at += len("→")
		case c == '+' && at > 0 && (text[at-1] == '\n' || text[at-1] == ' '):
			at++
		case isDigit(c):
			end := while(text, at, isDigit)
			if end < len(text) && isBase64(text[end]) {
				return at
			}
			at = end
		default:
			return at
		}
	}
	return at
}

// isKeyLike reports whether base64 looks random. Commands and paths seldom have as many capital
// letters.
func isKeyLike(run []byte) bool {
	if len(run) == len("=abcd") && run[0] == '=' { // an OpenPGP checksum
		return true
	}
	capitals := 0
	for _, c := range run {
		if 'A' <= c && c <= 'Z' {
			capitals++
		}
	}
	path := bytes.Contains(run, []byte("/")) && (len(run) < shortRun || !bytes.ContainsFunc(run, isDecimal))
	return capitals > 0 && capitals >= len(run)/8 && !path
}

// atEnd reports whether the block or the text ends after a run.
func atEnd(text []byte, run int) bool {
	next := skipGap(text, run)
	return next == len(text) || pemEnd.Match(text[next:]) || text[next] == '='
}
