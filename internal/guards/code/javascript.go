package code

import (
	"regexp"
	"slices"
	"strings"
)

var javaScript = &language{
	syntax: syntax{comments: []string{"//"}, blocks: true, quotes: "'\"`", fields: map[byte]string{'`': "${"}, slash: jsSlash, names: regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$]*`)},
	unread: regexp.MustCompile(`<!--|-->|(^|\n)#!|\bString\s*\.\s*raw\b`),
	refused: set("eval Function globalThis global window self module exports Reflect Proxy WebAssembly Worker constructor prototype mainModule binding dlopen Deno Bun XMLHttpRequest WebSocket EventSource navigator" +
		" child_process execSync execFileSync execFile spawnSync getBuiltinModule prepareStackTrace getThis getFunction arguments getOwnPropertyDescriptor getOwnPropertyDescriptors getPrototypeOf setPrototypeOf defineProperty createRequire userInfo homedir networkInterfaces with setEngine"),
	reached: true,
	globals: set("cluster dgram dns http http2 https inspector net repl tls v8 vm worker_threads"),
	allowed: set("disconnect $disconnect call apply put isSymbolicLink dependencies devDependencies removeEventListener removeListener"),
	forms: map[string]func(*reader, int) (int, bool){
		"require": (*reader).jsRequire, "import": (*reader).jsImport, "process": (*reader).jsProcess, "fetch": (*reader).jsFetch, "this": (*reader).jsThis, "export": (*reader).jsExport,
	},
	prepare: (*reader).prepareJS,
}

// jsFiles are functions of the module fs, and whether they write.
var jsFiles = map[string]bool{
	"readFileSync": false, "readFile": false, "existsSync": false, "statSync": false, "lstatSync": false, "readdirSync": false, "readdir": false, "stat": false, "createReadStream": false, "accessSync": false,
	"writeFileSync": true, "writeFile": true, "appendFileSync": true, "appendFile": true, "createWriteStream": true,
}

func init() {
	for name := range jsFiles {
		javaScript.forms[name] = (*reader).jsFile
	}
}

var (
	// jsReaching are modules that run programs, open connections or change files: of Node.js, and others.
	jsReaching = set(`child_process cluster dgram dns dns/promises http http2 https inspector module net process repl tls v8 vm worker_threads wasi sea sqlite trace_events
		axios node-fetch undici got ky request superagent needle ws socket.io-client puppeteer puppeteer-core playwright playwright-core shelljs execa cross-spawn zx fs-extra graceful-fs rimraf del trash mkdirp dotenv pg mysql mysql2 mongodb mongoose redis ioredis
		aws-sdk googleapis nodemailer ssh2 simple-git dockerode keytar node-pty sudo-prompt open vm2 tar unzipper adm-zip sqlite3 better-sqlite3 knex sequelize typeorm kafkajs amqplib nats stripe twilio openai clipboardy node-cmd`)
	fsModule  = regexp.MustCompile(`^(node:)?fs(/promises)?$`)
	jsPackage = regexp.MustCompile(`^@?[\w-][\w.-]*(/[\w-][\w.-]*)*$`)
	jsProject = regexp.MustCompile(`^(\.{1,2}|/(home|Users|repo|srv|workspaces?|app|code|work|usr/src)/[\w.-]+)(/[\w.-]+)*/?$`)
	jsData    = regexp.MustCompile(`^\.[\w./-]*\.json$`)
	jsTells   = set("argv version versions arch platform exit exitCode cwd memoryUsage hrtime uptime stdout stderr stdin nextTick pid on uptime release title")
)

// jsSlash says whether a slash begins a pattern: where a value is expected.
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
		if before.kind != '.' && slices.Contains([]string{"return", "typeof", "case", "delete", "void", "instanceof", "new", "throw"}, last.value) {
			return pattern
		}
		if before.kind != '.' && slices.Contains([]string{"of", "in", "await", "yield", "else", "do", "default", "extends", "async", "let"}, last.value) {
			return unclear
		}
		return division
	case field, dots, '.', '@', '#':
		return unclear
	}
	return pattern
}

// prepareJS looks at what is called by a name that is known only when it runs, and finds names that are
// one text, or hold what JSON does.
func (r *reader) prepareJS() bool {
	for i, t := range r.tokens {
		r.fs = r.fs || r.is(i, "fs") || t.kind == 't' && fsModule.MatchString(t.value)
		switch {
		case t.kind == '[' && r.indexes(i):
			if !r.indexed(i) {
				return false
			}
		case t.kind == 'n' && r.is(i-1, "const") && r.at(i+1).kind == '=' && r.parses(i+2):
			r.data[t.value] = true
		case t.kind == '[' && r.keyed(i) && r.destructures(), t.kind == 't' && r.at(i+1).kind == ':' && (r.refused[t.value] || r.forms[t.value] != nil || r.fs && reaches.MatchString(t.value)):
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
		if others != 1 { // where it is given its value
			delete(r.data, name)
		}
	}
	if !r.modulesOfFiles() {
		return false
	}
	opening := set("log require existsSync readFileSync writeFileSync")
	for name := range jsFiles {
		opening[name] = true
	}
	r.constants(opening)
	return true
}

// jsOwn reports whether a name may be one that the code takes out of the module fs.
func jsOwn(name string) bool { _, is := jsFiles[name]; return is }

// parses reports whether a value is what JSON holds.
func (r *reader) parses(i int) bool {
	if r.is(i, "await") {
		i++
	}
	data := r.at(i + 2)
	return r.is(i, "JSON") && r.at(i+1).kind == '.' && r.is(i+2, "parse") || r.is(i, "require") && data.kind == 't' && jsData.MatchString(data.value) && r.at(i+3).kind == ')'
}

// indexes reports whether a bracket stands behind a value, and not before a list.
func (r *reader) indexes(i int) bool {
	switch before := r.at(i - 1); before.kind {
	case ')', ']', 't':
		return true
	case 'n':
		return r.member(i-1) || !slices.Contains([]string{"return", "const", "let", "var", "of", "in", "typeof", "case", "await", "yield", "new", "else"}, before.value)
	case '.':
		return true // ?.[
	}
	return false
}

// indexed reports whether a member that is named by a value leads to data: it is not called, and no text
// there is put together.
func (r *reader) indexed(i int) bool {
	depth := 0
	for j := i; j < len(r.tokens); j++ {
		switch t := r.at(j); t.kind {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			if depth--; depth == 0 {
				numbered := j == i+2 && r.at(i+1).kind == '0'
				return numbered || r.at(j+1).kind != '(' && r.at(j+1).kind != '[' && !(r.at(j+1).kind == '.' && r.at(j+2).kind == '[') && !(r.at(j+1).kind == '?' && r.at(j+2).kind == '.' && r.at(j+3).kind != 'n') || r.numbered(j+1)
			}
		case 't':
			if !t.plain || r.refused[t.value] || strings.HasPrefix(t.value, "__") || r.at(j+1).kind == '+' && r.at(j+2).kind == 't' {
				return false
			}
		}
	}
	return false
}

// numbered reports whether [0] stands at i, or the name of a counter.
func (r *reader) numbered(i int) bool {
	index := r.at(i + 1)
	return r.at(i).kind == '[' && r.at(i+2).kind == ']' && r.at(i+3).kind != '(' && r.at(i+3).kind != '[' && (index.kind == '0' || index.kind == 'n' && len(index.value) == 1)
}

// jsModule reports whether a module may be loaded, and notes the file of one of the project.
func (r *reader) jsModule(name string) bool {
	bare := strings.TrimPrefix(name, "node:")
	switch {
	case fsModule.MatchString(name):
		return true
	case strings.HasPrefix(bare, "_") || strings.Contains(name, "node_modules"):
		return false
	case jsProject.MatchString(name):
		r.opens(name, false)
		r.loads(name)
		return true
	case reachingPackage(bare) || !jsPackage.MatchString(bare):
		return false
	case bare != name || slices.Contains(strings.Fields("path crypto util url assert os events querystring string_decoder perf_hooks timers timers/promises readline stream zlib buffer punycode test"), name):
		return true
	}
	r.loads(name)
	return true
}

func reachingPackage(name string) bool {
	root, _, _ := strings.Cut(name, "/")
	return jsReaching[name] || jsReaching[root] || strings.HasPrefix(name, "@aws-sdk/") || strings.HasPrefix(name, "@google-cloud/") || strings.HasPrefix(name, "@azure/") || strings.HasPrefix(name, "@octokit/") || strings.HasPrefix(name, "@kubernetes/")
}

// jsRequire is require('name'), and require('name').version of whatever it is.
func (r *reader) jsRequire(i int) (more int, ok bool) {
	name, ok := r.text(i + 2)
	if r.member(i) || r.at(i+1).kind != '(' || !ok || r.at(i+3).kind != ')' {
		return 0, false
	}
	if jsPackage.MatchString(name) && r.at(i+4).kind == '.' && shown[r.at(i+5).value] && !strings.HasPrefix(name, "node:") {
		return 5, true
	}
	if jsData.MatchString(name) {
		r.opens(name, false)
		j := i + 4
		for r.at(j).kind == '.' && r.at(j+1).kind == 'n' && r.at(j+2).kind != '(' { // of data, each member is data
			j += 2
		}
		return j - 1 - i, r.at(j).kind != '.' || !r.refused[r.at(j+1).value]
	}
	return 3, r.jsModule(name)
}

// jsImport is import … from 'name', import 'name' and import('name').
func (r *reader) jsImport(i int) (more int, ok bool) {
	if r.at(i+1).kind == '(' {
		return r.jsRequire(i)
	}
	if r.at(i-1).kind != ends {
		return 0, false
	}
	j := i + 1
	for ; r.at(j).kind != 't'; j++ {
		switch t := r.at(j); t.kind {
		case 'n':
			if r.refused[t.value] || r.forms[t.value] != nil && !jsOwn(t.value) || reaches.MatchString(t.value) {
				return 0, false
			}
		case '{', '}', ',', '*':
		case ends:
			if j >= len(r.tokens) || t.value == ";" {
				return 0, false
			}
		default:
			return 0, false
		}
	}
	if j > i+1 && !r.is(j-1, "from") {
		return 0, false
	}
	if fsModule.MatchString(r.at(j).value) {
		for k := i + 1; k < j; k++ {
			name := r.at(k).value
			if r.at(k).kind == 'n' && r.at(k-1).kind == '{' && !jsOwn(name) && name != "promises" || r.at(k).kind == 'n' && r.at(k-1).kind == ',' && !jsOwn(name) || r.is(k, "as") && (r.at(k-1).kind != '*' || !r.is(k+1, "fs")) || r.is(k, "default") {
				return 0, false
			}
		}
		if r.at(i+1).kind == 'n' && !r.is(i+1, "fs") {
			return 0, false
		}
	}
	return j - i, r.jsModule(r.at(j).value)
}

// jsProcess is what code asks of the process that it runs in.
func (r *reader) jsProcess(i int) (more int, ok bool) {
	if r.member(i) || r.at(i+1).kind != '.' {
		return 0, false
	}
	if r.is(i+2, "env") {
		name := r.at(i + 4)
		return 4, r.at(i+3).kind == '.' && name.kind == 'n' && !told.MatchString(name.value)
	}
	return 2, jsTells[r.at(i+2).value]
}

// jsFetch is fetch('address').
func (r *reader) jsFetch(i int) (more int, ok bool) {
	address, ok := r.text(i + 2)
	alone := r.at(i+3).kind == ')'
	if !ok || r.member(i) || r.at(i+1).kind != '(' || !alone && !local.MatchString(address) || strings.HasPrefix(address, "-") {
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

// jsThis is this.name: by itself, it is all that there is.
func (r *reader) jsThis(i int) (more int, ok bool) { return 0, r.member(i) || r.at(i+1).kind == '.' }

// jsExport is what a module gives; not what it takes from another one.
func (r *reader) jsExport(i int) (more int, ok bool) {
	for j := i + 1; j < len(r.tokens) && r.at(j).kind != ends; j++ {
		if r.is(j, "from") || r.at(j).kind == '*' {
			return 0, false
		}
	}
	return 0, r.at(i+1).kind == 'n'
}

// keyed reports whether the bracket at i begins the name of a member in braces: {[k]: v}.
func (r *reader) keyed(i int) bool {
	if before := r.at(i - 1).kind; before != '{' && before != ',' {
		return false
	}
	depth := 0
	for j := i; j < len(r.tokens); j++ {
		switch r.at(j).kind {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return r.at(j+1).kind == ':'
			}
		}
	}
	return false
}

// destructures reports whether names are taken out of values in braces.
func (r *reader) destructures() bool {
	for i, t := range r.tokens {
		if t.kind == '}' && (r.at(i+1).kind == '=' && r.at(i+2).kind != '=' || r.at(i+1).kind == ')' && r.at(i+2).kind == '=' || r.at(i+1).kind == ')' && r.at(i+2).kind == '{' || r.is(i+1, "of") || r.is(i+1, "in")) {
			return true
		}
	}
	return false
}

// jsFile is fs.readFileSync('name') and the like; a name of it may be taken out of the module, too.
func (r *reader) jsFile(i int) (more int, ok bool) {
	if r.at(i+1).kind != '(' {
		inBraces := r.at(i-1).kind == '{' || r.at(i-1).kind == ','
		return 0, !r.member(i) && inBraces && (r.at(i+1).kind == ',' || r.at(i+1).kind == '}') && r.taken(i)
	}
	name, ok := r.text(i + 2)
	end := r.at(i + 3).kind
	if r.at(i+2).kind == '0' && r.at(i+2).value == "0" || ok && name == "/dev/stdin" {
		return 2, true // what it reads
	}
	flagged := slices.ContainsFunc(r.tokens, func(t token) bool { return t.value == "flag" || t.value == "flags" })
	r.opens(name, jsFiles[r.at(i).value] || flagged)
	return 2, ok && (end == ')' || end == ',')
}

// taken reports whether a name in braces is taken out of the module fs.
func (r *reader) taken(i int) bool {
	for ; i < len(r.tokens); i++ {
		switch t := r.at(i); {
		case t.kind == '}':
			return r.at(i+1).kind == '=' && (r.is(i+2, "require") || r.is(i+2, "await"))
		case t.kind != 'n' && t.kind != ',':
			return false
		}
	}
	return false
}

// modulesOfFiles reports whether the module fs, by its name or another one, is only asked for what
// [jsFiles] has.
func (r *reader) modulesOfFiles() bool {
	names := map[string]bool{"fs": true}
	asked := func(i int) bool { // what stands before i is the module
		if r.is(i+1, "promises") {
			i += 2
		}
		_, known := jsFiles[r.at(i+1).value]
		return r.at(i).kind == '.' && r.at(i+1).kind == 'n' && known
	}
	for i, t := range r.tokens {
		if t.kind != 't' || !fsModule.MatchString(t.value) || !r.is(i-2, "require") && !r.is(i-2, "import") || r.at(i-1).kind != '(' {
			continue
		}
		begin, end := i-2, i+2
		if r.is(begin-1, "await") {
			begin--
		}
		if r.at(end).kind == '.' && r.is(end+1, "promises") && r.at(end+2).kind != '.' {
			end += 2
		}
		switch before := r.at(begin - 2); {
		case asked(end):
		case r.at(begin-1).kind != '=' || r.at(end).kind != ends && r.at(end).kind != ',':
			return false
		case before.kind == 'n':
			names[before.value] = true
		case before.kind != '}' || !r.takesFiles(begin-2):
			return false
		}
	}
	for i := range r.tokens {
		if r.at(i).kind != 'n' || !names[r.at(i).value] || r.member(i) {
			continue
		}
		declared := r.at(i+1).kind == '=' && (r.is(i+2, "require") || r.is(i+2, "await"))
		imported := r.is(i+1, "from") || r.is(i-1, "as") || r.is(i-1, "import")
		if !asked(i+1) && !declared && !imported {
			return false
		}
	}
	return true
}

// takesFiles reports whether the braces that end at i take functions of [jsFiles] alone.
func (r *reader) takesFiles(i int) bool {
	for i--; r.at(i).kind != '{'; i-- {
		if _, known := jsFiles[r.at(i).value]; r.at(i).kind != ',' && (r.at(i).kind != 'n' || !known) {
			return false
		}
	}
	return true
}
