package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

// jsFiles are functions of the module fs, with whether they write.
var jsFiles = map[string]bool{
	"readFileSync": false, "readFile": false, "existsSync": false, "statSync": false, "lstatSync": false, "readdirSync": false, "readdir": false, "stat": false, "createReadStream": false, "accessSync": false,
	"writeFileSync": true, "writeFile": true, "appendFileSync": true, "appendFile": true, "createWriteStream": true,
}

var (
	// jsReaching are modules that run programs, open connections or change files, of Node.js and
	// others.
	jsReaching = wordset.Of(`child_process cluster dgram dns dns/promises http http2 https inspector module net process repl tls v8 vm worker_threads wasi sea sqlite trace_events
		bun axios node-fetch undici got ky request superagent needle ws socket.io-client puppeteer puppeteer-core playwright playwright-core shelljs execa cross-spawn zx fs-extra graceful-fs rimraf del trash mkdirp dotenv pg mysql mysql2 mongodb mongoose redis ioredis
		aws-sdk googleapis nodemailer ssh2 simple-git dockerode keytar node-pty sudo-prompt open vm2 tar unzipper adm-zip sqlite3 better-sqlite3 knex sequelize typeorm kafkajs amqplib nats stripe twilio openai clipboardy node-cmd`)
	fsModule    = regexp.MustCompile(`^(node:)?fs(/promises)?$`)
	jsProcesses = regexp.MustCompile(`^(node:)?child_process$`)
	// jsStandard matches libraries of Deno that only compute.
	jsStandard = regexp.MustCompile(`^jsr:@std/(toml|yaml|csv|json|path|encoding|fmt|text|assert|collections|datetime|semver)(@[\w.^~-]+)?$`)
	jsPackage  = regexp.MustCompile(`^@?[\w-][\w.-]*(/[\w-][\w.-]*)*$`)
	jsProject  = regexp.MustCompile(`^(\.{1,2}|/(home|Users|repo|srv|workspaces?|app|code|work|usr/src)/[\w.-]+)(/[\w.-]+)*/?$`)
	jsData     = regexp.MustCompile(`^\.[\w./-]*\.json$`)
)

// jsOwn reports whether code may extract a function of this name from fs.
func jsOwn(name string) bool { _, is := jsFiles[name]; return is }

// jsModule reports whether a module may be loaded, and records a module of the project.
func (r *reader) jsModule(name string) bool {
	bare := strings.TrimPrefix(name, "node:")
	switch {
	case fsModule.MatchString(name), jsStandard.MatchString(name):
		return true
	case strings.HasPrefix(bare, "_") || strings.Contains(name, "node_modules"):
		return false
	case jsProject.MatchString(name):
		r.opens(name, false)
		r.loads(name)
		return true
	case reachingPackage(bare) || !jsPackage.MatchString(bare):
		return false
	case bare != name || jsModules[name]:
		return true
	}
	r.loads(name)
	return true
}

func reachingPackage(name string) bool {
	root, _, _ := strings.Cut(name, "/")
	return jsReaching[name] || jsReaching[root] || strings.HasPrefix(name, "@aws-sdk/") || strings.HasPrefix(name, "@google-cloud/") || strings.HasPrefix(name, "@azure/") || strings.HasPrefix(name, "@octokit/") || strings.HasPrefix(name, "@kubernetes/")
}

// jsRequire parses require('name'), and require('name').version for any package.
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
		for r.at(j).kind == '.' && r.at(j+1).kind == 'n' && r.at(j+2).kind != '(' { // members of data are data
			j += 2
		}
		return j - 1 - i, r.at(j).kind != '.' || !r.refused[r.at(j+1).value]
	}
	if line, plain := r.text(i + 7); jsProcesses.MatchString(name) && plain && r.at(i+4).kind == '.' && r.is(i+5, "execSync") && r.at(i+6).kind == '(' && r.at(i+8).kind == ')' {
		r.runs("sh", "-c", line)
		return 7, true
	}
	return 3, r.jsModule(name)
}

// jsImport parses import … from 'name', import 'name' and import('name').
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
			if r.at(k).kind == 'n' && r.at(k-1).kind == '{' && !jsOwn(name) || r.at(k).kind == 'n' && r.at(k-1).kind == ',' && !jsOwn(name) || r.is(k, "as") && (r.at(k-1).kind != '*' || !r.is(k+1, "fs")) || r.is(k, "default") {
				return 0, false
			}
		}
		if r.at(i+1).kind == 'n' && !r.is(i+1, "fs") {
			return 0, false
		}
	}
	return j - i, r.jsModule(r.at(j).value)
}

// jsFile parses fs.readFileSync('name') and the like. Extracting such a function from the module is
// allowed too.
func (r *reader) jsFile(i int) (more int, ok bool) {
	if r.at(i+1).kind != '(' {
		inBraces := r.at(i-1).kind == '{' || r.at(i-1).kind == ','
		return 0, !r.member(i) && inBraces && (r.at(i+1).kind == ',' || r.at(i+1).kind == '}') && r.taken(i)
	}
	name, ok := r.text(i + 2)
	end := r.at(i + 3).kind
	if r.at(i+2).kind == '0' && r.at(i+2).value == "0" || ok && name == "/dev/stdin" {
		return 2, true // standard input
	}
	flagged := slices.ContainsFunc(r.tokens, func(t token) bool { return t.value == "flag" || t.value == "flags" })
	writes := jsFiles[r.at(i).value]
	r.opens(name, writes || flagged)
	return 2, ok && (end == ')' || end == ',' && (writes || r.readOptions(i+4)))
}

// readOptions reports whether the argument at i only sets harmless options for reading a file.
func (r *reader) readOptions(i int) bool {
	if r.at(i).kind != '{' {
		next := r.at(i + 1).kind
		return r.at(i).kind == 't' && r.at(i).plain && (next == ')' || next == ',')
	}
	for j, end := i+1, r.closing(i); j < end; j++ {
		t := r.at(j)
		if t.kind != ':' && t.kind != ',' && !(t.kind == 't' && t.plain && r.at(j-1).kind == ':') && !(t.kind == 'n' && jsOptions[t.value]) {
			return false
		}
	}
	return true
}

var jsOptions = wordset.Of("encoding withFileTypes recursive throwIfNoEntry true false null flag highWaterMark")

// taken reports whether a name in braces is extracted from a module.
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

// modulesOfFiles reports whether the code uses only functions in [jsFiles] of the module fs, under
// any name.
func (r *reader) modulesOfFiles() bool {
	names := map[string]bool{"fs": true}
	asked := func(i int) bool { // the module precedes i
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
		case before.kind == 'n' && (r.is(begin-3, "const") || r.is(begin-3, "let") || r.is(begin-3, "var")):
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

// takesFiles reports whether the braces that end at i extract only functions in [jsFiles].
func (r *reader) takesFiles(i int) bool {
	for i--; r.at(i).kind != '{'; i-- {
		if _, known := jsFiles[r.at(i).value]; r.at(i).kind != ',' && (r.at(i).kind != 'n' || !known) {
			return false
		}
	}
	return true
}
