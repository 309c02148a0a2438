package code

import (
	"regexp"
)

// language describes one language for the reader.
type language struct {
	syntax
	// unread matches code that the lexer does not support.
	unread *regexp.Regexp
	// refused are identifiers that are rejected, because they have effects beyond the program or
	// give access to such by reflection; allowed are harmless ones that [reaches] matches.
	refused, allowed map[string]bool
	// calls are the functions that may be called; if nil, all that are not refused.
	calls map[string]bool
	// reached: the names of functions, not only of methods, are checked against [reaches].
	reached bool
	// globals are modules that code can use without an import.
	globals map[string]bool
	// bare: a method may be called without parentheses.
	bare bool
	// check is a further check of an identifier, or nil.
	check func(r *reader, i int) bool
	// fold: identifiers ignore case. symbols: a name after a colon is that of a method.
	fold, symbols bool
	// listed: string literals may name files even if no library is imported.
	listed bool
	// closed: members of anything but libraries are harmless.
	closed bool
	// named: a string literal may name a function to call.
	named bool
	// forms parse constructs that begin with an identifier, and return the number of further tokens
	// consumed.
	forms map[string]func(r *reader, i int) (more int, ok bool)
	// prepare scans all tokens before they are checked.
	prepare func(r *reader) bool
}

var languages map[string]*language

func init() { // breaks an initialization cycle: the forms refer to it
	languages = map[string]*language{
		"Python": python, "JavaScript": javaScript, "TypeScript": javaScript, "Ruby": ruby, "PHP": php,
		"R": rLang, "Julia": julia, "Elixir": elixir, "Go": golang,
	}
}

// reaches matches names of functions in libraries and in the project that do more than compute:
// they change, send or run something, or reveal a secret.
var reaches = regexp.MustCompile(`(?i)^_*(os|sys|subprocess|shutil|socket|importlib|builtins?|pty|ctypes|requests|httpx|urllib|run|open|eval|exec|fork|kill|load|call|put|post|popen|rm|mv|cp|mkdir|attach|listen|query_raw)$` +
	`|^(rm|unlink|rename|chmod|chown|cp|copyfile|symlink|link|mkdtemp|mkdir|rmdir|open|watch)(sync)?$` +
	`|drop|delet|truncat|flush|purge|destroy|wipe|reset|remove|unlink|rmtree|renam|chmod|chown|symlink|hardlink|extract|terminat|shutdown|reboot|revoke|killall|kill_` +
	`|secret|token(s_|_|$)|passw|credential|_key$|_keys$|apikey|_url$|dsn|environ|getenv|putenv|setenv|cookie|keyring` +
	`|deploy|forget|chdir|getaddrinfo|gethostby|send|publish|upload|download|settings|config|command|shell|popen|spawn|execute|pickle|unserialize|unsafe|install|connect|request|tunnel|login|subprocess|invoke|instance_variable`)

// changes matches names of functions that change the data of a project.
var changes = regexp.MustCompile(`^a?(update|save|insert|create|write|set|add|bulk|upsert|increment|decrement|touch|toggle|sync|attach|detach|raw|sql|push|commit|migrate|dispatch|perform|enqueue|fill|force|merge|patch|clear|change|move|apply|notify|mail|handle|fire|restore|deliver|incr|decr|forget|render)([_A-Z!]|$)|_(update|save|insert|create|write|now|later|or_create)([_!]|$)|!$|find_by_sql|[oO]r_?(create|new)|from_?[qQ]uery|^a(delete|bulk)`)
