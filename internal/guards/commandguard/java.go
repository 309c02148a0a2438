package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// loads are options of java that name compiled code.
	loads = shell.Options{Long: "-jar= -cp= -classpath= --class-path= -p= --module-path= --upgrade-module-path="}
	agent = regexp.MustCompile(`^(-javaagent:|-agentpath:|-Xbootclasspath/?[ap]?:|@)(.*)$`)
	// repositories match the directories where build tools store dependencies.
	repositories = regexp.MustCompile(`^(~|/home/[^/]+|/root|/Users/[^/]+)/\.(m2/repository|gradle/caches|ivy2/cache|cache/coursier)/|^/usr/(share|lib)/`)
)

// runsOwn reports whether the compiled code that java loads is in the project, or in a directory of
// dependencies. The code itself can't be read.
func runsOwn(c shell.Command) bool {
	var all []string
	for a := range loads.Each(c.Args()) {
		switch m := agent.FindStringSubmatch(a.Text); {
		case m != nil:
			file, _, _ := strings.Cut(m[2], "=")
			all = append(all, file)
		case a.Takes:
			all = append(all, strings.Split(a.Value.Text, ":")...)
		}
	}
	return !slices.ContainsFunc(all, func(file string) bool {
		return file != "" && (strings.HasPrefix(file, "$") || strings.HasPrefix(file, "`") || strings.Contains(file, "/..") || !repositories.MatchString(file) && !ownFile(file, c.Dirs))
	})
}
