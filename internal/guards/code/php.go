package code

import (
	"regexp"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

var php = &language{
	syntax: syntax{comments: []string{"//", "#"}, blocks: true, quotes: `'"`, lines: true, texts: phpTexts, names: regexp.MustCompile(`^\$?[A-Za-z_\\][\w\\]*`)},
	unread: regexp.MustCompile("`|<<<|\\?>|#\\["), // other literals, and the end of the code
	fold:   true,
	refused: wordset.Of(strings.ToLower("eval exec system shell_exec passthru popen proc_open assert create_function call_user_func call_user_func_array func_get_args extract parse_str unserialize goto declare Closure ReflectionFunction ReflectionMethod ReflectionClass" +
		" SplFileObject SplTempFileObject PDO mysqli SQLite3 SoapClient DirectoryIterator RecursiveDirectoryIterator FilesystemIterator GlobIterator Phar PharData ZipArchive FFI COM putenv getenv ini_set phpinfo $_ENV $_SERVER $GLOBALS" +
		" Storage File Http Process Artisan Mail DB Schema Redis Queue Crypt Config Notification Log Cache XMLWriter ArrayObject ArrayIterator Blade SplFileInfo DOMDocument SimpleXMLElement GuzzleHttp Client CallbackFilterIterator FILTER_CALLBACK")),
	allowed: wordset.Of("json_encode json_decode"),
	calls: wordset.Of(`echo print print_r var_dump var_export json_encode json_decode strlen count implode explode array_keys array_values array_sum array_merge array_unique array_slice array_reverse array_column array_combine array_flip array_chunk array_diff
		array_intersect array_key_exists in_array sort rsort ksort asort range date time strtotime mktime checkdate date_default_timezone_get microtime strtoupper strtolower ucfirst ucwords lcfirst trim ltrim rtrim str_repeat str_pad str_replace substr strpos strrpos
		str_contains str_starts_with str_ends_with sprintf printf number_format round floor ceil max min sqrt pow abs intdiv fmod phpversion md5 sha1 crc32 hash base64_encode base64_decode bin2hex hex2bin uniqid random_int mt_rand rand password_hash password_verify
		isset empty unset is_array is_string is_int is_null is_numeric is_bool intval floatval strval boolval settype gettype get_class get_debug_type method_exists class_exists function_exists extension_loaded get_loaded_extensions memory_get_usage memory_get_peak_usage php_sapi_name
		preg_match preg_match_all preg_replace preg_split preg_quote htmlspecialchars html_entity_decode strip_tags nl2br urlencode rawurlencode urldecode http_build_query parse_url mb_strlen mb_substr mb_strtoupper mb_strtolower ctype_digit ctype_alpha array list if elseif while for foreach
		switch match catch function fn return and or not exit die spl_object_id iterator_to_array compact array_search array_pop array_push array_shift array_unshift array_fill array_product array_rand shuffle similar_text levenshtein soundex metaphone wordwrap strcmp
		strcasecmp strrev ucwords nl2br serialize dirname basename ob_get_clean dump collect now str today optional`),
	named:   true,
	check:   (*reader).checkPHP,
	prepare: (*reader).preparePHP,
	forms: map[string]func(*reader, int) (int, bool){
		"require": (*reader).phpRequire, "require_once": (*reader).phpRequire, "include": (*reader).phpRequire, "include_once": (*reader).phpRequire, "config": (*reader).phpConfig, "use": (*reader).phpUse,
		"file_get_contents": (*reader).phpFile, "file_exists": (*reader).phpFile, "file": (*reader).phpFile, "is_file": (*reader).phpFile,
	},
}

// phpGlobals are variables that PHP sets.
var phpGlobals = wordset.Of("$_env $_server $globals")

// phpFields match interpolated variables and their members, in braces and without.
var (
	phpFields = regexp.MustCompile(`\{\$[A-Za-z_]\w*((->\w+)|(\[('\w*'|\d+|\$\w+)\]))*\}`)
	phpField  = regexp.MustCompile(`\$[A-Za-z_]\w*(\[\w+\]|->\w+)?`)
	phpUnread = regexp.MustCompile(`\{\$|\$\{`)
)

// phpCallbacks are functions and methods that call an argument, with its index.
var phpCallbacks = map[string]int{"array_map": 0, "array_filter": 1, "usort": 1, "uasort": 1, "uksort": 1, "array_walk": 1, "array_reduce": 1, "map": 0, "filter": 0, "each": 0, "reduce": 0, "sortby": 0, "groupby": 0, "tap": 0, "pipe": 0, "when": 1, "flatmap": 0, "transform": 0, "reject": 0, "every": 0, "first": 0, "last": 0, "contains": 0, "partition": 0, "mapwithkeys": 0, "sum": 0, "avg": 0, "keyby": 0, "unique": 0, "sortbydesc": 0}

func init() {
	for name := range phpCallbacks {
		php.calls[name] = true
	}
}

// preparePHP rejects calls, classes and members whose name is a value. It records the functions
// that the code defines.
func (r *reader) preparePHP() bool {
	for i, t := range r.tokens {
		before := r.at(i - 1)
		switch variable := t.kind == 'n' && t.value[0] == '$'; {
		case t.kind == '$', t.kind == '(' && (before.kind == ')' || before.kind == ']' || before.kind == 't' || before.kind == 'n' && before.value[0] == '$'):
			return false
		case (variable || t.kind == '{' || t.kind == '(' || t.kind == '$') && before.kind == '>' && r.at(i-2).kind == '-', (t.kind == '{' || t.kind == '(') && before.kind == ':' && r.at(i-2).kind == ':':
			return false
		case (variable || t.kind == '(') && r.folded(i-1) == "new":
			return false
		case t.kind == 'n' && r.folded(i) == "function" && r.at(i+1).kind == 'n':
			r.given[r.folded(i+1)] = true
		}
	}
	return true
}

// checkPHP checks each part of the name at i, and the callback that it receives.
func (r *reader) checkPHP(i int) bool {
	name := r.folded(i)
	for part := range strings.SplitSeq(name, `\`) {
		if r.refused[part] || part != name && r.forms[part] != nil {
			return false
		}
	}
	if at, calls := phpCallbacks[name]; calls && r.at(i+1).kind == '(' {
		if r.member(i) {
			at = min(at, 0)
		}
		return r.callback(i+1, at)
	}
	if strings.Contains(name, `\`) && r.at(i+1).kind == '(' {
		return r.folded(i-1) == "new"
	}
	return true
}

// callback reports whether an argument of the call with the bracket at i is an inline function, the
// name of a known function, or absent.
func (r *reader) callback(i, which int) bool {
	at := r.argument(i, which)
	end := r.at(at + 1).kind
	name := r.folded(at)
	return at < 0 || r.at(at).kind == 't' && r.at(at).plain && (r.calls[r.at(at).value] || r.member(i-1)) && (end == ',' || end == ')') || r.at(at).kind == 'n' && (name == "fn" || name == "function" || name == "static")
}

// phpTexts lexes a string literal of PHP. In double quotes it may contain variables, but no calls.
func phpTexts(l *lexer) bool {
	fielded := l.code[l.pos] == '"'
	if !l.text() {
		return false
	}
	t := &l.all[len(l.all)-1]
	if fielded && strings.Contains(t.value, "$") {
		t.plain = false
		for name := range phpGlobals {
			if strings.Contains(strings.ToLower(t.value), name) {
				return false
			}
		}
		rest := phpFields.ReplaceAllString(t.value, "")
		return !phpUnread.MatchString(rest) && !strings.ContainsAny(strings.Join(phpField.FindAllString(rest, -1), ""), "()")
	}
	return true
}

// phpRequire parses require 'name' of a file of the project.
func (r *reader) phpRequire(i int) (more int, ok bool) {
	j := i + 1
	if r.at(j).kind == '(' {
		j++
	}
	if r.is(j, "__DIR__") && r.at(j+1).kind == '.' {
		j += 2
	}
	t := r.at(j)
	name := strings.TrimPrefix(t.value, "/")
	if t.kind != 't' || !t.plain || r.at(j+1).kind != ends && r.at(j+1).kind != ')' || !ownDir.MatchString(name) || strings.Contains(name, "..") || j < i+3 && name != t.value {
		return 0, false
	}
	r.opens(name, false)
	r.loads(strings.TrimSuffix(name, ".php"))
	return j - i, true
}

// phpFile parses file_get_contents('name').
func (r *reader) phpFile(i int) (more int, ok bool) {
	name, ok := r.text(i + 2)
	r.opens(name, false)
	return 2, ok && r.at(i+1).kind == '(' && r.at(i+3).kind == ')' && (!strings.Contains(name, "://") || name == "php://stdin")
}

// phpConfig parses config('name') of a setting that is not secret.
func (r *reader) phpConfig(i int) (more int, ok bool) {
	name, ok := r.text(i + 2)
	return 2, ok && !r.member(i) && r.follow(i+1, "(t)") && !secretName.MatchString(name)
}

// phpUse parses use, which imports a class or captures variables. It rejects the import of a
// function.
func (r *reader) phpUse(i int) (more int, ok bool) { return 0, r.folded(i+1) != "function" }
