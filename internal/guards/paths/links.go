package paths

import (
	"regexp"
	"strings"
)

// systemLinks maps symbolic links that most systems have to their targets. A ".." after one is
// relative to the target, not to the directory in the text.
var systemLinks = map[string]string{
	"/dev/fd": "/proc/self/fd", "/proc/thread-self": "/proc/self/task/1",
	"/var/run": "/run", "/var/lock": "/run/lock", "/var/mail": "/var/spool/mail",
	"/bin": "/usr/bin", "/sbin": "/usr/sbin", "/lib": "/usr/lib", "/lib32": "/usr/lib32", "/lib64": "/usr/lib64", "/libx32": "/usr/libx32",
}

var (
	rootLink    = regexp.MustCompile(`^/proc/[^/]+/(task/[^/]+/)?root$`)
	unknownLink = regexp.MustCompile(`^/proc/[^/]+/(task/[^/]+/)?(cwd|fd/[^/]+|map_files/[^/]+)$`)
)

// throughLinks resolves a rooted path in which a ".." leaves the target of a system link. For other
// paths, leaves is false and resolved is empty; resolved is also empty if the target is unknown.
func throughLinks(text string) (resolved string, leaves bool) {
	if !strings.Contains(text, "/..") || !strings.HasPrefix(text, "/") {
		return "", false
	}
	var at []string
	target := -1 // length of the last link's target; -1 before the first link
	unknown := false
	for name := range strings.SplitSeq(text, "/") {
		switch name {
		case "", ".":
			continue
		case "..":
			leaves = leaves || target >= 0 && len(at) <= target
			if leaves && unknown {
				return "", true
			}
			at = at[:max(len(at)-1, 0)]
			continue
		}
		at = append(at, name)
		here := "/" + strings.ToLower(strings.Join(at, "/"))
		to, linked := systemLinks[here]
		switch {
		case linked:
			at = strings.Split(to[1:], "/")
		case rootLink.MatchString(here):
			at = nil
		case unknownLink.MatchString(here):
			unknown = true
		default:
			continue
		}
		target = len(at)
	}
	if !leaves {
		return "", false
	}
	return "/" + strings.Join(at, "/"), true
}
