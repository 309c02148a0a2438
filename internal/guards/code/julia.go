package code

import (
	"regexp"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

var julia = &language{
	syntax: syntax{comments: []string{"#"}, quotes: `"`, lines: true, prefixes: true, names: regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*!?`)},
	unread: regexp.MustCompile("`|\"\"\"|'|#=|\\$\\(|:\\("),
	refused: wordset.Of(`run rm mv cp open download ENV eval Meta ccall getfield getproperty getglobal Symbol include include_string Base Core Main Libc Sockets Downloads Distributed HTTP pipeline unsafe_load unsafe_store! invokelatest invoke touch mkdir
		mkpath mktemp chmod chown symlink write read readdir readlines eachline homedir popdisplay addprocs remotecall cglobal everywhere evalfile include_dependency develop rm! add success Cmd redirect_stdio redirect_stdout redirect_stderr
		redirect_stdin serialize deserialize writedlm readdlm cd cmd dlopen edit readline Conda PyCall RCall`),
	reached: true, named: true, listed: true,
	forms: map[string]func(*reader, int) (int, bool){"using": (*reader).juliaUsing, "import": (*reader).juliaUsing},
}

// juliaUsing parses using A, B.
func (r *reader) juliaUsing(i int) (more int, ok bool) {
	r.loads(r.at(i + 1).value)
	return 0, r.at(i+1).kind == 'n' || r.at(i+1).kind == '.' || r.at(i+1).kind == dots
}
