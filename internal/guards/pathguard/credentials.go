package pathguard

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
)

// Programs store credentials in hidden directories of a home, in files with telling names. These
// patterns find the ones that no list contains.
var (
	credentialPlaces = sync.OnceValue(func() []paths.Pattern {
		return decision.MustPatterns(paths.Parse, "~/.*", "~/.*/*", "~/.*/*/*", "~/.*/*/*/*", "~/{library/application support,appdata/roaming,appdata/local}/*/*")
	})
	// credentialName matches the name of a file or directory with credentials.
	credentialName = regexp.MustCompile(`(?i)credential|secret|passw|passphrase|key(s|store|stores|chain|ring)$|wallet|(api|access|private|secret)[_-]?keys?\b|(^|[._-])(o?auth|(stored_?)?tokens?)$`)
	// dataExtensions are extensions of data files. Code, documents and public keys have others.
	dataExtensions = strings.Fields(". .json .yaml .yml .toml .ini .conf .cfg .txt .db .sqlite .sqlite3 .enc .dat .xml .properties .env .plist .kwl .bin .asc .gpg")
)

// holdsCredentials reports whether a path looks like a file in which a program stores credentials.
func holdsCredentials(p paths.Path) bool {
	if !slices.ContainsFunc(credentialPlaces(), p.MayBe) {
		return false
	}
	names := strings.Split(strings.TrimPrefix(p.Name(), "~/"), "/")
	base := names[len(names)-1]
	end := path.Ext(strings.TrimLeft(base, "."))
	if !slices.Contains(dataExtensions, "."+strings.TrimPrefix(strings.ToLower(end), ".")) {
		return false
	}
	names[len(names)-1] = strings.TrimSuffix(base, end)
	at := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") || name == "Library" || name == "AppData" })
	return at >= 0 && slices.ContainsFunc(names[at:], credentialName.MatchString)
}
