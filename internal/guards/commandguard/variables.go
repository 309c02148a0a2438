package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// plainVariable reports whether a variable cannot make a program load code from outside the
// project, send data to another machine, or do anything else than asked. Programs have more such
// variables than can be listed, so the value decides.
func plainVariable(c shell.Command, a shell.Assign) bool {
	if a.Harmless() || a.Name == "PATH" || slices.Contains(moduleDirectories, a.Name) || inPages.MatchString(a.Name) {
		return true
	}
	rest := fileURL.ReplaceAllString(strings.TrimSpace(withoutItself(a.Name, a.Value.Text)), "$1$2")
	rest = namedURL.ReplaceAllStringFunc(rest, func(url string) string {
		if addresses.Loopback(url) || usualHost.MatchString(url) {
			return ""
		}
		return url
	})
	switch {
	case namedURL.MatchString(rest), hostName.MatchString(a.Name) && otherHost.MatchString(a.Value.Text) && !addresses.Loopback(a.Value.Text):
		return false
	case strings.HasPrefix(rest, "-") && !plainOptions.MatchString(rest):
		return false
	}
	for piece := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune(" \t\n:;,=@'\"()", r) }) {
		piece = pathOption.ReplaceAllString(piece, "")
		switch {
		case !leaves(piece, c.Dirs), piece == "/dev/null", installedAt.MatchString(piece) && !strings.Contains(piece, ".."):
		case webPath.MatchString(a.Name) && strings.HasPrefix(piece, "/"):
		case scratchName.MatchString(a.Name) && scratch.MatchString(piece) && !strings.Contains(piece, ".."):
		default:
			return false
		}
	}
	return true
}

// leaves reports whether a part of a value is a path out of the project.
func leaves(piece string, dirs []string) bool {
	climbs := slices.Contains(strings.Split(piece, "/"), "..")
	return (strings.HasPrefix(piece, "/") || strings.HasPrefix(piece, "~") || climbs) && !slices.Contains(dirs, piece) && !ownFile(piece, dirs)
}

var (
	namedURL = regexp.MustCompile(`[A-Za-z][\w+.-]*://[^\s,;'"]*`)
	// fileURL matches the URL of an SQLite database, whose path follows three slashes.
	fileURL = regexp.MustCompile(`(^|[\s'"])(?:sqlite|file)[\w+]*://(?:localhost)?/([^/\s]|/)`)
	// usualHost matches a public registry from which programs fetch packages.
	usualHost = regexp.MustCompile(`^https://(pypi\.org|files\.pythonhosted\.org|download\.pytorch\.org|registry\.(npmjs\.org|yarnpkg\.com)|(proxy|sum)\.golang\.org|index\.crates\.io|rubygems\.org|repo1?\.maven\.(apache\.)?org)(/[\w./+-]*)?$`)
	// inPages matches variables that bundlers embed in pages, and those with the author of a
	// commit.
	inPages = regexp.MustCompile(`^(VITE|NEXT_PUBLIC|NUXT_PUBLIC|REACT_APP|VUE_APP|EXPO_PUBLIC|GATSBY|PUBLIC|SITE)_\w+$|^GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$`)
	// hostName matches variables that name the machine to which a program connects.
	hostName  = regexp.MustCompile(`(HOST|HOSTADDR|HOSTNAME|ADDR|ADDRESS|ENDPOINT|SERVERS?|REGISTRY|MIRROR|BROKERS?|INDEX|URL|URI)$`)
	otherHost = regexp.MustCompile(`(?i)^([^@\s]*@)?[\w-]+(\.[\w-]+)+(:\d+)?(/|,|$)`)
	// webPath matches variables that contain the path of a URL.
	webPath = regexp.MustCompile(`(^|_)(BASE|PUBLIC|ROUTE|CONTEXT|URL|API|ASSETS?)_?(PATH|PREFIX|ROOT)$|^(BASE|PUBLIC)_URL$`)
	// scratchName matches variables with directories for output, caches and temporary files.
	scratchName = regexp.MustCompile(`(^|_)(CACHE|OUT|OUTPUT|DIST|BUILD|TARGET|LOG|LOGS|DATA|TMP|TEMP|DEST|INSTALL|STORAGE|UPLOADS?|REPORTS?|COVERAGE|ARTIFACTS?|RESULTS?|SCREENSHOTS?|WORK)(_?(DIR|PATH|FILE|ROOT))?$|(CACHE|TMP|COVER|OUT)DIR$|^(GOCACHE|GOBIN|GOTMPDIR|PREFIX|DESTDIR|GIT_INDEX_FILE|XDG_(CACHE_HOME|RUNTIME_DIR)|HF_HOME|TORCH_HOME|DB(_PATH|_FILE)?|DATABASE_(URL|PATH|FILE)|SQLITE_\w+|npm_config_cache)$`)
	scratch     = regexp.MustCompile(`^(/tmp|/var/tmp|/dev/shm|/run/user/\d+|~/(\.cache|Library/Caches|go/bin|\.local/bin))(/|$)`)
	// installedAt matches the locations of installed software, where an agent may not write without
	// approval.
	installedAt = regexp.MustCompile(`^(/(usr|opt|bin|lib|lib64|nix|snap|Library|Applications|System)(/|$)|/etc/(ssl|pki)/|~/(\.(nvm|pyenv|rbenv|nodenv|bun|deno|cargo|rustup|volta|sdkman|asdf|jenv|nodebrew|fnm|pub-cache|local/share/(pnpm|mise|fnm|uv))|go|Android|Library/(Android|pnpm)|miniconda3|anaconda3)(/|$))`)
	// pathOption matches an option that is joined to its path.
	pathOption = regexp.MustCompile(`^-(I|L|isystem|isysroot)`)
	// plainOptions matches options of compilers, linkers, test runners and the JVM that load
	// nothing and run nothing, with their values.
	plainOptions = regexp.MustCompile(`^(` +
		`(-[OgqsvwxWnXkmDAF]|-O[0-3sgz]|-g\d|-vv+|-W[a-zA-Z][\w=+-]*|-std=[\w+]+|-m[\w.=+-]+|-f(no-)?(PI[CE]|pi[ce]|sanitize|omit|stack|lto|exceptions|rtti|strict|profile|coverage|test|debug|diagnostics|color|visibility|openmp|common|inline|permissive|wrapv)[\w=,+-]*` +
		`|-D[\w.]+(=[\w./:"\\-]*)?|-U\w+|-[IL]\S+|-isystem|-isysroot|-l\w+|-pthread|-pipe|-j ?\d*|-p no:\w+|-n ?\w+` +
		`|-C ?(target-cpu|target-feature|opt-level|debuginfo|lto|panic|instrument-coverage|strip|codegen-units|debug-assertions|overflow-checks|link-dead-code|split-debuginfo|embed-bitcode|prefer-dynamic|symbol-mangling-version)(=[\w+,-]+)?|-Z ?(sanitizer|threads|macro-backtrace|share-generics|instrument-coverage|unstable-options)(=\w+)?` +
		`|-Xm[sxn]\w+|-Xss\w+|-ea|-XX:([+-]?(Use|Max|Min|Initial|Tiered|Parallel|Heap|Active|Reserved|Compressed)\w*|TieredStopAtLevel|[+-]\w+)(=\w+)?|-race|-run|-count[= ]\d+|-short|-timeout[= ]\w+|-tags[= ]\w+` +
		`|--(cfg|tb|maxfail|color|colors|durations|cov|cov-report|no-cov|verbose|quiet|silent|ci|coverage|bail|headless|timeout|workers|threads|jobs|keep-going|tags|level|max[a-z-]*|no-(color|warnings?|cache|daemon|deprecation|header|document-private-items)|document-private-items|lf|ff|sw|reuse-db|create-db|strict-markers)([= ][\w.,:/"-]+)?` +
		`)(\s+[^\s-]\S*)*(\s+|$))*$`)
)
