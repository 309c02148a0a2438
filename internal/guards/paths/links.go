package paths

import (
	"regexp"
	"strings"
)

// links are directories that are links on usual systems, and where they lead. What leads out of
// one by .. leads elsewhere than its text says; no agent needs to make the link.
var links = map[string]string{
	"/dev/fd": "/proc/self/fd", "/proc/thread-self": "/proc/self/task/1",
	"/var/run": "/run", "/var/lock": "/run/lock", "/var/mail": "/var/spool/mail",
	"/bin": "/usr/bin", "/sbin": "/usr/sbin", "/lib": "/usr/lib", "/lib32": "/usr/lib32", "/lib64": "/usr/lib64", "/libx32": "/usr/libx32",
}

var (
	rootLink  = regexp.MustCompile(`^/proc/[^/]+/(task/[^/]+/)?root$`)
	someplace = regexp.MustCompile(`^/proc/[^/]+/(task/[^/]+/)?(cwd|fd/[^/]+|map_files/[^/]+)$`)
)

// behindLinks is where a rooted path leads if it leaves by .. what usual systems have a link for;
// left is false for all others. Of a link that leads anywhere the place is empty.
func behindLinks(text string) (place string, left bool) {
	if !strings.Contains(text, "/..") || !strings.HasPrefix(text, "/") {
		return "", false
	}
	var at []string
	target := -1 // how many of them are the target of the last link
	anywhere := false
	for name := range strings.SplitSeq(text, "/") {
		switch name {
		case "", ".":
			continue
		case "..":
			if left = left || target >= 0 && len(at) <= target; left && anywhere {
				return "", true
			}
			at = at[:max(len(at)-1, 0)]
			continue
		}
		at = append(at, name)
		here := "/" + strings.ToLower(strings.Join(at, "/"))
		to, linked := links[here]
		switch {
		case linked:
			at = strings.Split(to[1:], "/")
		case rootLink.MatchString(here):
			at = nil
		case someplace.MatchString(here):
			anywhere = true
		default:
			continue
		}
		target = len(at)
	}
	return "/" + strings.Join(at, "/"), left
}
