package pathguard

import (
	"path"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/paths"
)

// sweeps reports whether a path is a glob such as dir/* or *.json and the pattern is a single name
// in any directory. Asking about every such glob because of a built-in pattern of this form would
// be too much. A glob with the extension of the pattern is still asked about: *.tfstate may match
// **/*.tfstate. For find -name '*.json', the glob .*.json is also among the accesses.
func (a access) sweeps(pattern paths.Pattern) bool {
	name, anywhere := strings.CutPrefix(strings.TrimSuffix(pattern.String(), "/**"), "**/")
	if anywhere && a.strays(pattern) {
		return true
	}
	base := path.Base(a.path.Text)
	if slices.Contains(secretEnds, path.Ext(base)) && strings.HasSuffix(strings.TrimSuffix(pattern.String(), "/**"), path.Ext(base)) {
		return false
	}
	if end := base[strings.LastIndexAny(base, "*?]}")+1:]; strings.HasPrefix(name, "*") && paths.Resolve("/x"+end, "").MayBe(pattern) {
		return false
	}
	return anywhere && (a.deep || !strings.Contains(name, "/")) && (strings.HasPrefix(base, "*") || strings.HasPrefix(base, ".*.") || strings.HasPrefix(name, "*"))
}

// strays reports whether only a * connects a path to a pattern of names in any directory:
// packages/*/src could include a directory of any name.
func (a access) strays(pattern paths.Pattern) bool {
	names := strings.Split(a.path.Name(), "/")
	wild := func(name string) bool { return name == "*" || name == "**" }
	at := slices.IndexFunc(names, wild)
	if at < 0 || a.deep && a.path.Named(pattern) || paths.Resolve(strings.Join(names[:at], "/"), "").Holds(pattern) {
		return false
	}
	for i, name := range names[at:] {
		switch {
		case wild(name):
			names[at+i] = "-"
		case strings.Contains(pattern.String(), name):
			return false
		}
	}
	fixed := paths.Resolve(strings.Join(names, "/"), "")
	return !fixed.Globbed(pattern) && !fixed.GlobHolds(pattern)
}

// secretEnds are extensions that mostly secrets have.
var secretEnds = strings.Fields(".env .pem .key .p12 .pfx .jks .keystore .kdbx .ppk")
