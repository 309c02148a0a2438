package code

import (
	"regexp"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

var ruby = &language{
	syntax: syntax{comments: []string{"#"}, quotes: `'"`, lines: true, fields: map[byte]string{'"': "#{"}, slash: rubySlash, special: rubySpecial, names: regexp.MustCompile(`^(@{0,2}|\$)[A-Za-z_]\w*[?!]?`)},
	// Here-documents, quoted symbols, block comments and the text after __END__.
	unread:  regexp.MustCompile("(?m)`|<<[~-]?['\"A-Z_a-z]|^=begin|__END__|:\"|:'"),
	symbols: true,
	check:   (*reader).checkRuby,
	refused: wordset.Of("system exec spawn fork eval instance_eval class_eval module_eval instance_exec class_exec module_exec binding send public_send __send__ method public_method instance_method const_get const_missing define_method" +
		" instance_variable_get instance_variable_set Kernel Process ENV IO ObjectSpace Object Module Class Method UnboundMethod Binding RubyVM TracePoint Marshal Open3 Net Socket TCPSocket TCPServer UDPSocket UNIXSocket URI OpenURI FileUtils Pathname Tempfile" +
		" Etc PTY DRb WEBrick Gem Bundler Fiddle Win32API Signal Shellwords ERB Psych open load autoload syscall trap test ARGF method_missing DATA credentials secrets config to_proc tap_send to_sym intern ancestors alias_method alias def_delegator def_delegators delegate try constantize safe_constantize singleton_class reopen ARGV $LOAD_PATH $LOADED_FEATURES copy_stream PStore Logger xsystem trace_var def_instance_delegator def_instance_delegators DBM SDBM GDBM TOPLEVEL_BINDING Readline IRB Fiber Rake Faraday HTTParty RestClient Typhoeus Excon Aws"),
	allowed: wordset.Of("parse safe_load load_file symbolize_names drop pop reset_column_information call"),
	named:   true, bare: true,
	prepare: (*reader).prepareRuby,
	forms:   map[string]func(*reader, int) (int, bool){"require": (*reader).rubyRequire, "require_relative": (*reader).rubyRequire, "File": (*reader).rubyFile, "YAML": (*reader).rubyYAML, "JSON": (*reader).rubyYAML, "CSV": (*reader).rubyYAML, "Dir": (*reader).rubyDir, "Rails": (*reader).rubyRails, "inject": (*reader).rubyFolds, "reduce": (*reader).rubyFolds},
}

var (
	// rubyReaching matches libraries that run programs, open connections or change files.
	rubyReaching  = regexp.MustCompile(`^(open3|open-uri|net/|net-|socket|fileutils|pty|etc|drb|webrick|fiddle|win32|pathname|tempfile|tmpdir|shell|rake|bundler|rubygems|erb|psych|objspace|ripper|debug|irb|pry|faraday|httparty|rest-client|typhoeus|excon|aws|google|octokit|mysql2|pg|sqlite3|redis|mongo|sinatra|dotenv|expect|io/|readline|reline|resolv|syslog|rinda|mkmf|pstore|logger)|^un$`)
	rubyLibrary   = regexp.MustCompile(`^(\.{0,2}/)?[\w-]+(/[\w-]+)*(\.rb)?$`)
	rubyComputing = wordset.Of("json yaml set date time csv bigdecimal securerandom digest benchmark pp ostruct singleton stringio")
	rubyKeywords  = wordset.Of("if unless and or not when while until return then elsif in else begin do end rescue ensure case yield print puts p")
	rubyLists     = wordset.Of("glob children entries each_child pwd exist?")
	rubyReads     = wordset.Of("read readlines foreach exist? size mtime file? directory? basename extname dirname join zero? stat")
)

// rubySlash reports whether a slash begins a regular expression. A method may take one without
// parentheses.
func rubySlash(l *lexer) slash {
	next := byte(' ')
	if l.pos+1 < len(l.code) {
		next = l.code[l.pos+1]
	}
	switch last := l.last(); last.kind {
	case ')', '0', 't', ']':
		return division
	case '}', '.', field, dots:
		return unclear
	case 'n':
		if rubyKeywords[last.value] {
			return unclear
		}
		if last.plain && next != ' ' {
			return unclear
		}
		return division
	}
	return pattern
}

// rubyRequire parses require 'name'.
func (r *reader) rubyRequire(i int) (more int, ok bool) {
	j := i + 1
	if r.at(j).kind == '(' {
		j++
	}
	name, ok := r.text(j)
	if r.member(i) || !ok || !rubyLibrary.MatchString(name) || rubyReaching.MatchString(name) {
		return 0, false
	}
	if !rubyComputing[name] {
		r.loads(name)
	}
	return j - i, true
}

// rubyFile parses File.read('name') and the like.
func (r *reader) rubyFile(i int) (more int, ok bool) {
	does, at := r.at(i+2).value, i+3
	if r.at(at).kind == '(' {
		at++
	}
	name, plain := r.text(at)
	glob := r.globs[r.at(at).value]
	if r.at(at).kind == 'n' && glob != "" {
		name, plain = glob, true
	}
	switch {
	case r.at(i+1).kind != '.':
		return 0, false
	case does == "basename" || does == "extname" || does == "dirname" || does == "join":
		return 2, true
	case rubyReads[does]:
		r.reach.Files = append(r.reach.Files, File{Name: name, Glob: glob != ""})
		plain = plain && r.at(at+1).kind != ','
	case does == "write":
		r.reach.Files = append(r.reach.Files, File{Name: name, Glob: glob != "", Write: true})
	default:
		return 0, false
	}
	return at - i, plain
}

// rubyFolds parses inject(:+) and inject(0) { … }. A string argument would name a method.
func (r *reader) rubyFolds(i int) (more int, ok bool) {
	switch next := r.at(i + 1); next.kind {
	case '{', '.', ends:
		return 0, next.kind != '.'
	case '(':
		first := r.at(i + 2)
		sign := first.kind == ':' || r.at(i+2).kind == '&' && r.at(i+3).kind == ':'
		return 0, sign || first.kind == '0' || first.kind == '{' || first.kind == '['
	}
	return 0, r.is(i+1, "do")
}

// prepareRuby finds names of files. In a console it rejects <<, which may append to the project's
// data.
func (r *reader) prepareRuby() bool {
	for i := range r.tokens {
		if r.console && r.follow(i, "<<") {
			return false
		}
	}
	return r.rubyGlobs()
}

// rubyGlobs finds the block parameters over the files of a pattern: Dir["*.rb"].each { |f| … }.
func (r *reader) rubyGlobs() bool {
	for i := range r.tokens {
		open := r.at(i + 1)
		at := i + 2
		if open.kind == '.' && r.is(i+2, "glob") && r.at(i+3).kind == '(' {
			at = i + 4
		} else if open.kind != '[' {
			continue
		}
		found := r.at(at)
		if !r.is(i, "Dir") || found.kind != 't' || !found.plain || strings.Contains(found.value, "..") || r.at(at+1).kind != ']' && r.at(at+1).kind != ')' {
			continue
		}
		for j := at; j < len(r.tokens); j++ {
			name := r.at(j + 1)
			if r.at(j).kind != '|' || name.kind != 'n' || r.at(j+2).kind != '|' {
				continue
			}
			if r.setOnce(name.value) {
				r.globs[name.value] = found.value
			}
			break
		}
	}
	return true
}

// setOnce reports whether a name is the parameter of one block and is not assigned elsewhere.
func (r *reader) setOnce(name string) bool {
	set := 0
	for i := range r.tokens {
		if !r.is(i, name) {
			continue
		}
		before, next := r.at(i-1).kind, r.at(i+1).kind
		if before == '|' || next == '|' || next == '=' && r.at(i+2).kind != '=' || strings.IndexByte("+-*<|&", next) >= 0 && (r.at(i+2).kind == '=' || r.at(i+2).kind == next) || r.at(i+2).kind == 'n' && next == ',' && before == ends {
			set++
		}
	}
	return set == 1
}

// rubyYAML parses YAML.load_file('name'), CSV.read('name') and functions that convert data.
func (r *reader) rubyYAML(i int) (more int, ok bool) {
	name, plain := r.text(i + 4)
	switch does := r.at(i + 2).value; does {
	case "load_file", "safe_load_file", "read", "foreach", "table":
		r.opens(name, false)
		return 4, plain && r.at(i+1).kind == '.' && r.at(i+3).kind == '('
	case "parse", "generate", "pretty_generate", "dump", "safe_load", "generate_line", "parse_line":
		return 2, r.at(i+1).kind == '.'
	}
	return 0, r.at(i+1).kind == ':' && r.at(i+2).kind == ':' && r.at(i+3).kind == 'n' && r.at(i + 3).value[0] <= 'Z'
}

// rubyDir parses functions that list files.
func (r *reader) rubyDir(i int) (more int, ok bool) {
	switch {
	case r.at(i+1).kind == '[':
		return 1, true
	case r.at(i+1).kind == '.':
		return 2, rubyLists[r.at(i+2).value]
	}
	return 0, false
}

// rubyRails parses information about the application.
func (r *reader) rubyRails(i int) (more int, ok bool) {
	return 2, r.at(i+1).kind == '.' && (r.is(i+2, "env") || r.is(i+2, "version") || r.is(i+2, "root") && r.at(i+3).kind != '.') || r.at(i+1).kind == ':' && r.is(i+3, "VERSION")
}

// rubySpecial reports whether a special character is supported: other forms of literals, including
// those of single characters, are not.
func rubySpecial(l *lexer) bool {
	next := byte(' ')
	if l.pos+1 < len(l.code) {
		next = l.code[l.pos+1]
	}
	word := next == '_' || next >= '0' && next <= '9' || next >= 'A' && next <= 'Z' || next >= 'a' && next <= 'z'
	blank := next == ' ' || next == '\n' || next == '\t'
	switch l.code[l.pos] {
	case '%':
		value := strings.IndexByte("n0t)]}", l.last().kind) >= 0
		return value && (blank || next == '=') && !rubyKeywords[l.last().value]
	case '?':
		return word && !letterAlone(l.code[l.pos+1:]) || blank
	case ':':
		return word || blank || next == ':' || next == ')' || next == ','
	case '$':
		return word
	}
	return true
}

// letterAlone reports whether a text begins with a single letter or digit: ?a is a character.
func letterAlone(text string) bool { return !oneWord.MatchString(text) }

var oneWord = regexp.MustCompile(`^\w\w`)

// checkRuby rejects access to the class of an object, except for its name.
func (r *reader) checkRuby(i int) bool {
	return !r.is(i, "class") || !r.member(i) || r.at(i+1).kind != '.' || r.is(i+2, "name")
}
