package mcpproxy

import (
	"path"
	"slices"
	"strings"
)

var (
	nameForm = lazy(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)
	notName  = lazy(`[^A-Za-z0-9-]+`)
	runners  = []string{"npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "python", "python3", "uv", "go", "docker", "podman", "env", "sh", "bash"}
	verbs    = []string{"run", "exec", "tool", "start"}
)

// NameOf returns a name for a server, derived from its command: the name of the program, or of what
// a program such as npx, uvx or python3 runs. It is empty if no name can be derived.
func NameOf(command []string) string {
	for i, word := range command {
		base := path.Base(strings.ReplaceAll(word, `\`, "/"))
		switch {
		case strings.HasPrefix(word, "-") || i > 0 && slices.Contains(verbs, word) || slices.Contains(runners, strings.TrimSuffix(base, ".exe")):
			continue
		case i > 0 && strings.Contains(word, "="): // env NAME=value
			continue
		}
		base, _, _ = strings.Cut(base, "@") // a version
		for _, ending := range []string{".exe", ".js", ".mjs", ".ts", ".py", ".sh"} {
			base = strings.TrimSuffix(base, ending)
		}
		return strings.Trim(notName().ReplaceAllString(base, "_"), "_")
	}
	return ""
}

// HostOf returns a name for a server at a host. host has no port.
func HostOf(host string) string { return strings.Trim(notName().ReplaceAllString(host, "_"), "_") }
