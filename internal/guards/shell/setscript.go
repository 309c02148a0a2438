package shell

import (
	"regexp"
	"slices"
	"strings"
)

// packageScript matches a script of package.json with its command, as in the arguments of npm pkg
// set.
var packageScript = regexp.MustCompile(`(?s)^["']?scripts(\.|\[)[^=]*=(.*)$`)

// setsScript analyzes the commands that npm pkg set writes to package.json, because a build of the
// project runs them.
func (s source) setsScript(c *Command, name string) {
	args := c.Args()
	at := slices.IndexFunc(args, func(w Word) bool { return w.Text == "set" || w.Text == "set-script" })
	if !slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name) || at < 0 || args[at].Text == "set" && !slices.ContainsFunc(args[:at], func(w Word) bool { return w.Text == "pkg" }) {
		return
	}
	if args[at].Text == "set-script" {
		if len(args) > at+2 {
			s.joined(c, args[at+2:at+3], context{})
		}
		return
	}
	for _, w := range args[at+1:] {
		m := packageScript.FindStringSubmatch(w.Text)
		switch {
		case m != nil:
			s.joined(c, []Word{{Text: m[2], Known: w.Known, Runs: w.Runs}}, context{})
		case !w.Known && !strings.HasPrefix(w.Text, "version=") || strings.HasPrefix(w.Text, "scripts=") || w.Text == "--json":
			c.doubt(name + " sets what is not read here: " + clip(w.Text))
		}
	}
}
