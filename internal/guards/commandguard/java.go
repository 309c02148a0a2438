package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// loads are options of java that name compiled code.
	loads = strings.Fields("-jar -cp -classpath --class-path -p --module-path --upgrade-module-path")
	agent = regexp.MustCompile(`^(-javaagent:|-agentpath:|-Xbootclasspath/?[ap]?:|@)(.*)$`)
	// repositories are where build tools keep what a project depends on.
	repositories = regexp.MustCompile(`^(~|/home/[^/]+|/root|/Users/[^/]+)/\.(m2/repository|gradle/caches|ivy2/cache|cache/coursier)/|^/usr/(share|lib)/`)
)

// runsOwn reports whether the compiled code that java loads is in the project, or where
// build tools keep what it depends on: what is in it can't be read.
func runsOwn(c shell.Command) bool {
	var all []string
	args := c.Args()
	for i, w := range args {
		name, value, joined := strings.Cut(w.Text, "=")
		switch m := agent.FindStringSubmatch(w.Text); {
		case m != nil:
			file, _, _ := strings.Cut(m[2], "=")
			all = append(all, file)
		case !slices.Contains(loads, name):
		case joined:
			all = append(all, strings.Split(value, ":")...)
		case i+1 < len(args):
			all = append(all, strings.Split(args[i+1].Text, ":")...)
		}
	}
	return !slices.ContainsFunc(all, func(file string) bool {
		return file != "" && (strings.HasPrefix(file, "$") || strings.HasPrefix(file, "`") || strings.Contains(file, "/..") || !repositories.MatchString(file) && !ownFile(file, c.Dirs))
	})
}
