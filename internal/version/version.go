// Package version returns the version of the programs.
//
// A release sets it: -ldflags "-X github.com/hookrouter/hookrouter/internal/version.release=1.2.3",
// and likewise commit and date. In other builds, [Number] returns the next release, and [String]
// the version that the go command recorded: the version of the module for go install, or of the
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
	commit  string // full hash
	date    string // of the commit, RFC 3339
)

// Number returns a semantic version without a leading v, for comparisons.
func Number() string { return cmp.Or(release, next) }

// String returns a version for people, which distinguishes builds between releases.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if release != "" || !ok || info.Main.Version == "(devel)" {
		return Number()
	}
	return cmp.Or(info.Main.Version, Number())
}

// Build returns the version with the commit and its date, if known, as printed by --version. It
// starts with [Number] or the version of the module.
func Build() string {
	info, _ := debug.ReadBuildInfo()
	return build(String(), info)
}

// shortCommit is the number of digits of a commit that are shown, as in Go pseudo-versions.
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
