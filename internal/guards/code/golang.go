package code

import (
	"regexp"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

var golang = &language{
	syntax:  syntax{comments: []string{"//"}, blocks: true, quotes: "\"`'", names: plainNames, texts: goTexts},
	unread:  regexp.MustCompile(`//go:(linkname|embed|cgo)|#cgo|import "C"`),
	refused: wordset.Of("unsafe syscall plugin ParseFiles ParseGlob OpenReader Chdir Chmod Chown Truncate"),
	closed:  true, listed: true,
	forms: map[string]func(*reader, int) (int, bool){"import": (*reader).goImport, "os": (*reader).goOS},
}

// goTexts lexes a string literal of Go.
func goTexts(l *lexer) bool {
	if l.code[l.pos] != '`' {
		return l.text()
	}
	end := strings.IndexByte(l.code[l.pos+1:], '`')
	if end < 0 {
		return false
	}
	l.add(token{kind: 't', value: l.code[l.pos : l.pos+end+2]})
	return true
}

var (
	// goReaching are packages that run programs, open connections or change files. goStandard are
	// the first path elements of other packages in the standard library.
	goReaching = regexp.MustCompile(`^(C|os/exec|os/signal|os/user|syscall|unsafe|plugin|net|net/(http|rpc|smtp|mail|textproto).*|io/ioutil|io/fs|runtime/.*|debug/.*|testing/.*|database/.*|embed|go/.*|log/syslog|crypto/tls|golang\.org/x/(sys|net|crypto/ssh).*|github\.com/(docker|aws|nats-io|gorilla|jackc|lib/pq|go-redis|redis|mattn)/.*|k8s\.io/.*|cloud\.google\.com/.*)$`)
	goStandard = wordset.Of("fmt strings strconv errors sort slices maps math time regexp encoding bytes unicode net text html sync context reflect path bufio log testing hash crypto container iter cmp image index archive compress io os unique weak")
	goPackage  = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*$`)
)

// goImport parses import "name", or several imports in parentheses.
func (r *reader) goImport(i int) (more int, ok bool) {
	j := i + 1
	open := r.at(j).kind == '('
	if open {
		j++
	}
	for ; ; j++ {
		switch t := r.at(j); {
		case t.kind == 't':
			if !r.goPackage(j, i) {
				return 0, false
			}
			if !open {
				return j - i, true
			}
		case t.kind == ')' && open:
			return j - i, true
		case t.kind == 'n' && !r.refused[t.value] && r.at(j+1).kind == 't', t.kind == ends && open && j < len(r.tokens):
		default:
			return 0, false
		}
	}
}

// goPackage records the package at j, of the import at i. It rejects another name for a package of
// the standard library.
func (r *reader) goPackage(j, i int) bool {
	t := r.at(j)
	root, _, _ := strings.Cut(t.value, "/")
	switch {
	case !t.plain || !goPackage.MatchString(t.value) || goReaching.MatchString(t.value):
		return false
	case goStandard[root]:
		return r.at(j-1).kind != 'n' || j-1 == i
	}
	r.loads(t.value)
	return true
}

// goOS parses the arguments and standard streams of the program, os.Exit and os.ReadFile.
func (r *reader) goOS(i int) (more int, ok bool) {
	name, plain := r.text(i + 4)
	switch does := r.at(i + 2).value; does {
	case "Args", "Exit", "Stdout", "Stderr", "Stdin":
		return 2, r.at(i+1).kind == '.' && !r.member(i)
	case "ReadFile":
		r.opens(name, false)
		return 4, plain && r.at(i+3).kind == '('
	}
	return 0, false
}
