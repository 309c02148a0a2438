// Package version says which version of the programs this is.
//
// A release sets it: -ldflags "-X github.com/hookrouter/hookrouter/internal/version.release=1.2.3",
// and likewise commit and date. Elsewhere [Number] is the next release, and [String] the
// version that the go command recorded: that of the module for go install, that of the
// commit in a checkout.
package version

import (
	"cmp"
	"runtime/debug"
	"time"

	"golang.org/x/mod/module"
)

// next is the version in development.
const next = "0.1.0"

// The linker sets these.
var (
	release string
	commit  string // its full hash
	date    string // of the commit, RFC 3339
)

// Number is a semantic version, without a leading v: for what is compared.
func Number() string { return cmp.Or(release, next) }

// String is for people: it tells builds between two releases apart.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if release != "" || !ok || info.Main.Version == "(devel)" {
		return Number()
	}
	return cmp.Or(info.Main.Version, Number())
}

// Build is the version with the commit and its date, as far as they are known: what
// --version prints. It begins with [Number], or with the version of the module.
func Build() string {
	info, _ := debug.ReadBuildInfo()
	return build(String(), info)
}

// shortCommit is how many digits of a commit are shown, as in pseudo-versions of Go.
const shortCommit = 12

func build(version string, info *debug.BuildInfo) string {
	hash, at, dirty := commit, date, ""
	if info == nil {
		info = new(debug.BuildInfo)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			hash = cmp.Or(hash, s.Value)
		case "vcs.time":
			at = cmp.Or(at, s.Value)
		case "vcs.modified":
			if s.Value == "true" && commit == "" {
				dirty = ", with changes"
			}
		}
	}
	if module.IsPseudoVersion(version) {
		if rev, err := module.PseudoVersionRev(version); err == nil {
			hash = cmp.Or(hash, rev)
		}
		if t, err := module.PseudoVersionTime(version); err == nil {
			at = cmp.Or(at, t.Format(time.RFC3339))
		}
		version = Number()
	}
	if hash == "" {
		return version + " (commit unknown)"
	}
	return version + " (commit " + hash[:min(len(hash), shortCommit)] + ", " + cmp.Or(at, "date unknown") + dirty + ")"
}
