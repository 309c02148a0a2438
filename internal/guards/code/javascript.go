package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

var javaScript = &language{
	syntax: syntax{comments: []string{"//"}, blocks: true, quotes: "'\"`", fields: map[byte]string{'`': "${"}, slash: jsSlash, names: regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$]*`)},
	unread: regexp.MustCompile(`<!--|-->|(^|\n)#!|\bString\s*\.\s*raw\b`),
	refused: wordset.Of("eval Function globalThis global window self module exports Reflect Proxy WebAssembly Worker constructor prototype mainModule binding dlopen XMLHttpRequest WebSocket EventSource navigator" +
		" execSync execFileSync execFile spawnSync getBuiltinModule prepareStackTrace getThis getFunction arguments getOwnPropertyDescriptor getOwnPropertyDescriptors getOwnPropertySymbols getPrototypeOf runInThisContext runInNewContext runInContext Script openAsBlob WriteStream ReadStream loadEnvFile execve setPrototypeOf defineProperty createRequire userInfo homedir networkInterfaces with setEngine"),
	reached: true,
	globals: wordset.Of("child_process cluster dgram dns http http2 https inspector net repl tls v8 vm worker_threads"),
	allowed: wordset.Of("disconnect $disconnect call apply put isSymbolicLink dependencies devDependencies removeEventListener removeListener"),
	forms: map[string]func(*reader, int) (int, bool){
		"require": (*reader).jsRequire, "import": (*reader).jsImport, "process": (*reader).jsProcess, "fetch": (*reader).jsFetch, "this": (*reader).jsThis, "Deno": (*reader).jsRuntime, "Bun": (*reader).jsRuntime, "export": (*reader).jsExport,
	},
	check:   (*reader).checkJS,
	prepare: (*reader).prepareJS,
}

func init() {
	for name := range jsFiles {
		javaScript.forms[name] = (*reader).jsFile
	}
}

// jsTells are the harmless members of process.
var jsTells = wordset.Of("argv version versions arch platform exit exitCode cwd memoryUsage hrtime uptime stdout stderr stdin nextTick pid release title")

// jsSlash reports whether a slash begins a regular expression, as it does where a value is
// expected.
func jsSlash(l *lexer) slash {
	before := token{kind: ends}
	if n := len(l.all); n > 1 {
		before = l.all[n-2]
	}
	switch last := l.last(); last.kind {
	case ')', '0', 't', ']':
		return division
	case '}':
		return unclear
	case ends:
		if last.value == "\n" && len(l.all) > 0 {
			return unclear
		}
		return pattern
	case '+', '-':
		if before.kind == last.kind {
			return unclear
		}
		return pattern
	case 'n':
		if before.kind == '#' {
			return unclear
		}
		if before.kind != '.' && slices.Contains([]string{"return", "typeof", "case", "delete", "void", "instanceof", "new", "throw"}, last.value) {
			return pattern
		}
		if before.kind != '.' && slices.Contains([]string{"of", "in", "await", "yield", "else", "do", "default", "extends", "async", "let"}, last.value) {
			return unclear
		}
		return division
	case '!':
		if strings.IndexByte("n)]0t", before.kind) >= 0 {
			return unclear // x! / y
		}
	case '>':
		if before.kind != '=' {
			return unclear // f<T> / y
		}
	case field, dots, '.', '@', '#':
		return unclear
	}
	return pattern
}

// prepareJS rejects calls by computed names and redefinitions of special names. It finds the
// constants, and the variables that contain parsed JSON.
func (r *reader) prepareJS() bool {
	for i, t := range r.tokens {
		r.fs = r.fs || r.is(i, "fs") || t.kind == 't' && fsModule.MatchString(t.value)
		switch {
		case t.kind == 'n' && r.at(i+1).kind == '=' && r.at(i+2).kind != '=' && (t.value == "JSON" || t.value == "of" || t.value == "let" || t.value == "await" || t.value == "yield" || t.value == "async"):
			return false // the name would have another meaning
		case t.kind == '[' && r.indexes(i):
			if !r.indexed(i) {
				return false
			}
		case t.kind == 'n' && r.is(i-1, "const") && r.at(i+1).kind == '=' && r.parses(i+2):
			r.data[t.value] = true
		case t.kind == '[' && r.keyed(i) && r.destructures(), t.kind == 't' && !t.plain && r.at(i+1).kind == ':' && r.at(i-1).kind != '?', t.kind == 't' && r.at(i+1).kind == ':' && (r.refused[t.value] || r.forms[t.value] != nil || r.fs && reaches.MatchString(t.value)):
			return false
		case t.kind == 'n' && (r.at(i+1).kind == '=' && r.at(i+2).kind == '>' || r.is(i-1, "function") || slices.Contains([]string{"const", "let", "var", "class"}, r.at(i-1).value) && r.at(i-1).kind == 'n'):
			if r.refused[t.value] || r.forms[t.value] != nil && !jsOwn(t.value) {
				return false
			}
			if r.is(i-1, "function") || r.at(i+1).kind == '=' && (r.at(i+2).kind == '(' || r.is(i+2, "async") || r.is(i+2, "function") || r.at(i+3).kind == '=' && r.at(i+4).kind == '>') {
				r.given[t.value] = true
			}
		}
	}
	for name := range r.data {
		others := 0
		for i := range r.tokens {
			if !r.is(i, name) || r.member(i) {
				continue
			}
			next := r.at(i + 1).kind
			handed := r.at(i-1).kind == '(' && next == ')' && r.at(i-2).kind == 'n' && !r.is(i-2, "function") && r.at(i+2).kind != '=' && r.at(i+2).kind != '{'
			if next != '.' && next != '[' && !(next == '?' && r.at(i+2).kind == '.') && !handed && r.at(i-1).kind != dots {
				others++
			}
		}
		if others != 1 { // 1 is the assignment
			delete(r.data, name)
		}
	}
	if !r.modulesOfFiles() {
		return false
	}
	opening := wordset.Of("log require existsSync readFileSync writeFileSync")
	for name := range jsFiles {
		opening[name] = true
	}
	r.constants(opening)
	return true
}

// checkJS rejects functions of fs that were extracted from the module.
func (r *reader) checkJS(i int) bool {
	name := r.at(i).value
	return r.member(i) || !r.fs || r.allowed[name] || r.given[name] || !reaches.MatchString(name)
}

// parses reports whether the value at i is parsed JSON.
func (r *reader) parses(i int) bool {
	if r.is(i, "await") {
		i++
	}
	data := r.at(i + 2)
	if r.is(i, "JSON") && r.at(i+1).kind == '.' && r.is(i+2, "parse") && r.at(i+3).kind == '(' {
		return r.at(r.closing(i+3)+1).kind == ends && r.argument(i+3, 1) < 0
	}
	return r.is(i, "require") && data.kind == 't' && jsData.MatchString(data.value) && r.at(i+3).kind == ')'
}

// jsProcess parses harmless members of process.
func (r *reader) jsProcess(i int) (more int, ok bool) {
	if r.member(i) || r.at(i+1).kind != '.' {
		return 0, false
	}
	if r.is(i+2, "env") {
		name := r.at(i + 4)
		return 4, r.at(i+3).kind == '.' && name.kind == 'n' && !secretName.MatchString(name.value)
	}
	return 2, jsTells[r.at(i+2).value]
}

// jsFetch parses fetch('address').
func (r *reader) jsFetch(i int) (more int, ok bool) {
	address, ok := r.text(i + 2)
	alone := r.at(i+3).kind == ')'
	options := alone || r.at(i+3).kind == ',' && r.at(i+4).kind == '{'
	if !ok || r.member(i) || r.at(i+1).kind != '(' || !options || !alone && !local.MatchString(address) || strings.HasPrefix(address, "-") {
		return 0, false
	}
	method := "GET"
	for j := i; !alone && j < len(r.tokens); j++ {
		switch {
		case r.is(j, "method") && r.at(j+1).kind == ':' && r.at(j+2).kind == 't' && r.at(j+2).plain && (r.at(j+3).kind == ',' || r.at(j+3).kind == '}'):
			method = strings.ToUpper(r.at(j + 2).value)
		case r.is(j, "method"), r.at(j).kind == 't' && r.at(j).value == "method", r.at(j).kind == dots:
			return 0, false
		}
	}
	r.runs("curl", "-X", method, "--", address)
	return 2, true
}

// jsRuntime parses Deno.readTextFileSync('name'), Bun.file('name') and the versions of the
// runtimes.
func (r *reader) jsRuntime(i int) (more int, ok bool) {
	name, plain := r.text(i + 4)
	switch does := r.at(i + 2).value; {
	case r.member(i) || r.at(i+1).kind != '.':
		return 0, false
	case does == "version":
		return 2, true
	case does == "readTextFileSync", does == "readTextFile", r.is(i, "Bun") && does == "file":
		r.opens(name, slices.ContainsFunc(r.tokens, func(t token) bool { return t.kind == 'n' && (t.value == "writer" || t.value == "write") }))
		return 4, plain && r.at(i+3).kind == '(' && r.at(i+5).kind == ')'
	}
	return 0, false
}

// jsThis parses this.name. A lone this is the global object.
func (r *reader) jsThis(i int) (more int, ok bool) {
	class := slices.ContainsFunc(r.tokens, func(t token) bool { return t.kind == 'n' && t.value == "class" })
	name := r.at(i + 2).value
	builtin := r.globals[name] || jsModules[name] || name == "fs" || name == "process"
	return 0, r.member(i) || class && r.at(i+1).kind == '.' && !builtin
}

// jsModules are modules that code in an argument can use without loading them.
var jsModules = wordset.Of("path crypto util url assert os events querystring string_decoder perf_hooks timers timers/promises readline stream zlib buffer punycode test")

// jsExport parses an export of the module's own names, but no re-export.
func (r *reader) jsExport(i int) (more int, ok bool) {
	for j := i + 1; j < len(r.tokens) && r.at(j).kind != ends; j++ {
		if r.is(j, "from") || r.at(j).kind == '*' {
			return 0, false
		}
	}
	return 0, r.at(i+1).kind == 'n'
}

// destructures reports whether the code destructures objects.
func (r *reader) destructures() bool {
	for i, t := range r.tokens {
		if t.kind == '}' && (r.at(i+1).kind == '=' && r.at(i+2).kind != '=' || r.at(i+1).kind == ']' || r.at(i+1).kind == ',' || r.at(i+1).kind == ')' && r.at(i+2).kind == '=' || r.at(i+1).kind == ')' && r.at(i+2).kind == '{' || r.is(i+1, "of") || r.is(i+1, "in")) {
			return true
		}
	}
	return false
}
