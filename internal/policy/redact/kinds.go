package redact

import (
	"bytes"
	"encoding/base64"
)

// The kinds that are not tokens with a prefix; for those see tokens.
const (
	kindCard          = "card"
	kindPrivateKey    = "private-key"
	kindJWT           = "jwt"
	kindAuthorization = "authorization"
	kindURLPassword   = "url-password"
	kindEmail         = "email"
	kindAssignment    = "assignment"
	kindKey           = "key"
)

// scanned is the maximum distance, in bytes, that is searched for evidence of a secret. It keeps
// the search linear in a text that is full of hints.
const scanned = 256

// prefixed describes the secrets of a kind that begin with a prefix.
type prefixed struct {
	kind, prefix string
	chars        func(byte) bool // characters after the prefix
	least, most  int             // number of these; a most of 0 means no limit
	apart        bool            // no letter, digit or _ precedes the prefix
	digit        bool            // there is a digit in it, unlike in words
}

var tokens = []prefixed{
	{kind: "aws-key", prefix: "AKIA", chars: isUpper, least: 16, most: 16},
	{kind: "aws-key", prefix: "ASIA", chars: isUpper, least: 16, most: 16},
	{kind: "github-token", prefix: "ghp_", chars: isAlnum, least: 36},
	{kind: "github-token", prefix: "gho_", chars: isAlnum, least: 36},
	{kind: "github-token", prefix: "ghu_", chars: isAlnum, least: 36},
	{kind: "github-token", prefix: "ghs_", chars: isAlnum, least: 36},
	{kind: "github-token", prefix: "ghr_", chars: isAlnum, least: 36},
	{kind: "github-token", prefix: "github_pat_", chars: isWord, least: 22},
	{kind: "gitlab-token", prefix: "glpat-", chars: isIdent, least: 20, apart: true},
	{kind: "gitlab-token", prefix: "gldt-", chars: isIdent, least: 20, apart: true},
	{kind: "gitlab-token", prefix: "glrt-", chars: isIdent, least: 20, apart: true},
	{kind: "gitlab-token", prefix: "glptt-", chars: isIdent, least: 20, apart: true},
	{kind: "slack-token", prefix: "xapp-", chars: isDashed, least: 10, apart: true},
	{kind: "api-key", prefix: "sk-", chars: isIdent, least: 20, apart: true, digit: true},
	{kind: "google-key", prefix: "AIza", chars: isIdent, least: 35, most: 35},
	{kind: "google-key", prefix: "ya29.", chars: isDotted, least: 20, apart: true},
	{kind: "google-key", prefix: "GOCSPX-", chars: isIdent, least: 20, apart: true},
	{kind: "stripe-key", prefix: "sk_live_", chars: isAlnum, least: 16},
	{kind: "stripe-key", prefix: "rk_live_", chars: isAlnum, least: 16},
	{kind: "stripe-key", prefix: "sk_test_", chars: isAlnum, least: 16},
	{kind: "stripe-key", prefix: "rk_test_", chars: isAlnum, least: 16},
	{kind: "npm-token", prefix: "npm_", chars: isAlnum, least: 36, apart: true},
	{kind: "pypi-token", prefix: "pypi-", chars: isIdent, least: 50, apart: true},
	{kind: "nkey-seed", prefix: "SUA", chars: isBase32, least: 55, most: 55, apart: true},
	{kind: "nkey-seed", prefix: "SAA", chars: isBase32, least: 55, most: 55, apart: true},
	{kind: "nkey-seed", prefix: "SOA", chars: isBase32, least: 55, most: 55, apart: true},
	{kind: "webhook-secret", prefix: "whsec_", chars: isBase64, least: 24, apart: true},
	{kind: "access-token", prefix: "hf_", chars: isAlnum, least: 30, apart: true},
	{kind: "access-token", prefix: "hvs.", chars: isIdent, least: 24, apart: true},
	{kind: "access-token", prefix: "dop_v1_", chars: isAlnum, least: 40, apart: true},
	{kind: "access-token", prefix: "dckr_pat_", chars: isIdent, least: 20, apart: true},
	{kind: "access-token", prefix: "SG.", chars: isDotted, least: 60, apart: true},
}

// find returns the token whose prefix is text[at:end].
func (k prefixed) find(text []byte, at, end int) (from, to int) {
	if k.apart && at > 0 && isWord(text[at-1]) {
		return 0, 0
	}
	digit := false
	for to = end; to < len(text) && (k.most == 0 || to-end < k.most) && k.chars(text[to]); to++ {
		digit = digit || isDigit(text[to])
		if k.digit && !digit && to-end == scanned {
			return 0, 0
		}
	}
	if to-end < k.least || k.digit && !digit {
		return 0, 0
	}
	return at, to
}

// kinds are the triggers of all default kinds except addresses.
var kinds = func() []trigger {
	all := []trigger{
		{kind: kindCard, hint: "0000", find: card},
		{kind: kindPrivateKey, hint: "-BEGIN ", exact: true, find: privateKey},
		{kind: kindJWT, hint: "eyJ", exact: true, find: jwt},
		{kind: kindAuthorization, hint: "bearer ", find: bearer},
		{kind: kindAuthorization, hint: "basic ", find: basic},
		{kind: "slack-token", hint: "xox", exact: true, find: slackToken},
	}
	for _, k := range tokens {
		all = append(all, trigger{kind: k.kind, hint: k.prefix, exact: true, find: k.find})
	}
	for _, word := range assigned {
		all = append(all, trigger{kind: kindAssignment, hint: word, word: true, find: assignment})
	}
	for _, word := range headers {
		all = append(all, trigger{kind: kindAssignment, hint: word, word: true, find: header})
	}
	return all
}()

func isUpper(c byte) bool  { return isDigit(c) || 'A' <= c && c <= 'Z' }
func isBase32(c byte) bool { return '2' <= c && c <= '7' || 'A' <= c && c <= 'Z' }
func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }
func isWord(c byte) bool   { return isAlnum(c) || c == '_' }
func isDashed(c byte) bool { return isAlnum(c) || c == '-' }
func isDotted(c byte) bool { return isIdent(c) || c == '.' }

// isBearer reports whether c may be part of a token in an Authorization header.
func isBearer(c byte) bool { return isBase64(c) || isDotted(c) || c == '~' }

func while(text []byte, at int, is func(byte) bool) int {
	for at < len(text) && is(text[at]) {
		at++
	}
	return at
}

func slackToken(text []byte, at, end int) (from, to int) {
	if end+1 >= len(text) || text[end] < 'a' || text[end] > 'z' || text[end+1] != '-' {
		return 0, 0
	}
	if to = while(text, end+2, isDashed); to-end < 12 {
		return 0, 0
	}
	return at, to
}

// jwt finds a JSON Web Token: parts in base64url, joined by dots, the first of which decodes to
// {"….
func jwt(text []byte, at, end int) (from, to int) {
	if at > 0 && isIdent(text[at-1]) {
		return 0, 0
	}
	header := while(text, end, isIdent)
	if header-at < 12 || header == len(text) || text[header] != '.' {
		return 0, 0
	}
	if claims := while(text, header+1, isIdent); claims-header < 5 || claims < len(text) && text[claims] != '.' {
		return 0, 0
	}
	return at, while(text, header, isDotted)
}

// bearer finds the token after the word Bearer. It must be long and contain a digit.
func bearer(text []byte, at, end int) (from, to int) {
	if at > 0 && isWord(text[at-1]) {
		return 0, 0
	}
	from = while(text, end, isSpace)
	to = while(text, from, isBearer)
	if to-from < 16 || !bytes.ContainsFunc(text[from:to], isDecimal) {
		return 0, 0
	}
	return from, to
}

// basic finds the base64-encoded name and password after the word Basic.
func basic(text []byte, at, end int) (from, to int) {
	if at > 0 && isWord(text[at-1]) {
		return 0, 0
	}
	from = while(text, end, isSpace)
	to = while(text, from, isBase64)
	plain, err := base64.StdEncoding.DecodeString(string(text[from:to]))
	if err != nil {
		plain, err = base64.RawStdEncoding.DecodeString(string(text[from:to]))
	}
	if err != nil || !bytes.Contains(plain, []byte(":")) {
		return 0, 0
	}
	return from, to
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func isDecimal(r rune) bool { return '0' <= r && r <= '9' }

// address finds what the @ at text[i] belongs to: the password in a URL, or an e-mail address.
func (m *matcher) address(text []byte, i int, found []span) []span {
	if from, ok := userinfo(text, i); ok {
		if colon := bytes.IndexByte(text[from:i], ':'); m.url && colon >= 0 && !placeholder(text[from+colon+1:i]) {
			if end := literal(text, from+colon+1, i); end > from+colon+1 {
				found = append(found, span{start: from + colon + 1, end: end, kind: kindURLPassword})
			}
		}
		return found
	}
	if from, to, ok := email(text, i); m.email && ok {
		found = append(found, span{start: from, end: to, kind: kindEmail})
	}
	return found
}

// userinfo returns where the user information of a URL that ends at text[i] begins.
func userinfo(text []byte, i int) (from int, ok bool) {
	for from = i; from > 0; from-- {
		switch c := text[from-1]; {
		case c <= ' ' || c == '"' || c == '<' || c == '>':
			return 0, false
		case c == '/':
			return from, from >= 3 && text[from-2] == '/' && text[from-3] == ':'
		case i-from == scanned:
			return 0, false
		}
	}
	return 0, false
}

// email returns the e-mail address around the @ at text[i]. git@ is not a person, and icon@2x.png
// is not an address.
func email(text []byte, i int) (from, to int, ok bool) {
	for from = i; from > 0 && isLocal(text[from-1]); from-- {
	}
	for label := i + 1; ; {
		end := while(text, label, isDashed)
		letters := while(text, label, isLetter)
		if label > i+1 && letters-label >= 2 {
			to = letters
		}
		if end == label || end == len(text) || text[end] != '.' {
			break
		}
		label = end + 1
	}
	domain := text[i+1:]
	retina := len(domain) > 2 && isDigit(domain[0]) && domain[1] == 'x' && domain[2] == '.'
	return from, to, from < i && to > 0 && string(text[from:i]) != "git" && !retina
}

func isLocal(c byte) bool { return isDotted(c) || c == '%' || c == '+' }
