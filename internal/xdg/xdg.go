// Package xdg finds the user's directories of the XDG Base Directory Specification.
package xdg

import (
	"cmp"
	"path/filepath"
)

// StateHome returns the directory below which programs keep state: XDG_STATE_HOME if that is an
// absolute path, as the specification requires, else .local/state in the home directory. It is
// empty if neither is known.
func StateHome(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE")) // the latter on Windows
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".local", "state")
}
