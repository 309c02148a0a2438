package code

import (
	"regexp"
	"strings"
)

var rLang = &language{
	syntax:  syntax{comments: []string{"#"}, quotes: `'"`, lines: true, prefixes: true, names: regexp.MustCompile(`^[A-Za-z.][\w.]*`)},
	unread:  regexp.MustCompile("`|\\\\\\("),
	refused: set("system system2 shell shell.exec unlink file.remove file.rename file.copy file.create file.symlink file.append eval evalq parse do.call get get0 mget match.fun match.arg getFunction Sys.getenv Sys.setenv Sys.chmod url socketConnection serverSocket pipe fifo processx callr reticulate sys httr httr2 RCurl curl .Internal .Call .External .C dyn.load library.dynam getNamespace getFromNamespace asNamespace environment globalenv assign source sys.source body formals install.packages Recall attach loadNamespace"),
	allowed: set("load_all read.csv set.seed testthat test_dir test_file test_local document check load drop_na"),
	reached: true, named: true,
	forms: map[string]func(*reader, int) (int, bool){"library": (*reader).named1, "require": (*reader).named1, "requireNamespace": (*reader).named1},
}

// named1 is a function that is given one name: library(dplyr).
func (r *reader) named1(i int) (more int, ok bool) {
	name := r.at(i + 2)
	r.library = true
	return 2, r.at(i+1).kind == '(' && (name.kind == 'n' || name.kind == 't' && name.plain) && !r.refused[name.value]
}

var julia = &language{
	syntax:  syntax{comments: []string{"#"}, quotes: `"`, lines: true, prefixes: true, names: regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*!?`)},
	unread:  regexp.MustCompile("`|\"\"\"|'|#=|\\$\\(|:\\("),
	refused: set("run rm mv cp open download ENV eval Meta ccall getfield getproperty include include_string Base Core Main Libc Sockets Downloads Distributed HTTP pipeline unsafe_load unsafe_store! invokelatest invoke touch mkdir mkpath mktemp chmod chown symlink write read readdir homedir popdisplay addprocs remotecall exit_code cglobal everywhere evalfile include_dependency develop rm! add Conda PyCall RCall"),
	reached: true, named: true,
	forms: map[string]func(*reader, int) (int, bool){"using": (*reader).juliaUsing, "import": (*reader).juliaUsing},
}

// juliaUsing is using A, B.
func (r *reader) juliaUsing(i int) (more int, ok bool) {
	r.library = true
	return 0, r.at(i+1).kind == 'n' || r.at(i+1).kind == '.' || r.at(i+1).kind == dots
}

var elixir = &language{
	syntax:  syntax{comments: []string{"#"}, quotes: `'"`, lines: true, fields: map[byte]string{'"': "#{", '\'': "#{"}, names: regexp.MustCompile(`^@?[A-Za-z_]\w*[?!]?`)},
	unread:  regexp.MustCompile("`|~[a-zA-Z]|\"\"\"|'''|\\?['\"#\\\\]|:\"|:[a-z_]\\w*\\."),
	refused: set("eval Port Code Node Mix Process Application Kernel EEx IEx GenServer Task Agent Supervisor apply spawn spawn_link send exec HTTPoison Req Tesla Finch Mint Path Macro Module quote unquote defmacro use require Function capture put_env get_env fetch_env Swoosh Oban"),
	reached: true, bare: true,
	forms: map[string]func(*reader, int) (int, bool){"System": (*reader).elixirSystem, "File": (*reader).elixirFile, "import": (*reader).elixirImport},
}

// elixirSystem is what tells of the system, and no secret.
func (r *reader) elixirSystem(i int) (more int, ok bool) {
	return 2, r.at(i+1).kind == '.' && set("halt stop version otp_release schedulers schedulers_online build_info monotonic_time system_time os_time unique_integer")[r.at(i+2).value]
}

// elixirImport is import Ecto.Query: of other modules, it is not known which functions there are then.
func (r *reader) elixirImport(i int) (more int, ok bool) {
	return 3, r.is(i+1, "Ecto") && r.at(i+2).kind == '.' && r.is(i+3, "Query")
}

// elixirFile is File.read!("name").
func (r *reader) elixirFile(i int) (more int, ok bool) {
	name, ok := r.text(i + 4)
	r.opens(name, false)
	return 4, ok && r.at(i+1).kind == '.' && set("read! read exists? stream! stat! regular? dir?")[r.at(i+2).value] && r.at(i+3).kind == '('
}

var golang = &language{
	syntax:  syntax{comments: []string{"//"}, blocks: true, quotes: "\"`'", names: plainNames, texts: goTexts},
	unread:  regexp.MustCompile(`//go:(linkname|embed|cgo)|#cgo|import "C"`),
	refused: set("unsafe syscall plugin"),
	closed:  true,
	forms:   map[string]func(*reader, int) (int, bool){"import": (*reader).goImport, "os": (*reader).goOS},
}

// goTexts reads a text of Go.
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

// goReaching are packages that run programs, open connections or change files, and goComputes others of
// the standard library.
var (
	goReaching = regexp.MustCompile(`^(C|os/exec|os/signal|os/user|syscall|unsafe|plugin|net|net/(http|rpc|smtp|mail|textproto).*|io/ioutil|io/fs|runtime/.*|debug/.*|testing/.*|database/.*|embed|go/.*|log/syslog|crypto/tls|golang\.org/x/(sys|net|crypto/ssh).*|github\.com/(docker|aws|nats-io|gorilla|jackc|lib/pq|go-redis|redis|mattn)/.*|k8s\.io/.*|cloud\.google\.com/.*)$`)
	goPackage  = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*$`)
)

// goImport is import "name", or several in brackets.
func (r *reader) goImport(i int) (more int, ok bool) {
	j := i + 1
	open := r.at(j).kind == '('
	if open {
		j++
	}
	for ; ; j++ {
		switch t := r.at(j); {
		case t.kind == 't':
			if !t.plain || !goPackage.MatchString(t.value) || goReaching.MatchString(t.value) {
				return 0, false
			}
			if strings.Contains(t.value, ".") {
				r.library = true
			}
			if !open {
				return j - i, true
			}
		case t.kind == ')' && open:
			return j - i, true
		case t.kind == 'n' && !r.refused[t.value], t.kind == ends && open && j < len(r.tokens):
		default:
			return 0, false
		}
	}
}

// goOS is what a program is given, and where it prints.
func (r *reader) goOS(i int) (more int, ok bool) {
	name, plain := r.text(i + 4)
	switch does := r.at(i + 2).value; does {
	case "Args", "Exit", "Stdout", "Stderr", "Stdin":
		return 2, r.at(i+1).kind == '.' && !r.member(i)
	case "ReadFile", "Open":
		r.opens(name, false)
		return 4, plain && r.at(i+3).kind == '('
	}
	return 0, false
}
