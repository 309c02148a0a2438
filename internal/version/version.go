// Package version says which version of the programs this is.
//
// A release sets it: -ldflags "-X github.com/hookrouter/hookrouter/internal/version.release=1.2.3".
// Elsewhere [Number] is the next release, and [String] the version that the go command
// recorded: that of the module for go install, that of the commit in a checkout.
package version

import (
	"cmp"
	"runtime/debug"
)

// next is the version in development.
const next = "0.1.0"

// release is set by the linker.
var release string

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
