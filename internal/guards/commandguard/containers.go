package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	clusterSecret    = regexp.MustCompile(`(?i)secret|^/`)
	dryRun           = regexp.MustCompile(`^--dry-run=(client|server)$`)
	stateOfContainer = regexp.MustCompile(`(json )?\.(State|NetworkSettings|Mounts|RepoTags|RepoDigests|Created|Name|Id|Config\.(Entrypoint|Cmd|User|WorkingDir|ExposedPorts|Image|Hostname))\b`)
	ownCluster       = regexp.MustCompile(`^(kind-[\w-]+|k3d-[\w-]+|minikube|docker-desktop|rancher-desktop|orbstack|colima)$`)
	ownNetwork       = regexp.MustCompile(`^(none|bridge|[a-z0-9_-]*(net|network|default)[a-z0-9_-]*)$`)
)

// safeContainerCommand reports whether a command prints no environment variables, removes only
// containers and images that it names, and leaves those of the router and of NATS alone.
func safeContainerCommand(c shell.Command) bool {
	if elsewhereRuns(c) || namesGuards(c) || ends(c) && aimsAt(c, routerName) || reaches(c) || endsUnknown(c) || shell.Option(c, "--push") != shell.No {
		return false
	}
	switch verbs := c.Verbs(2); {
	case slices.Contains(verbs, "inspect"): // the output may include environment variables
		at := slices.IndexFunc(c.Args(), func(w shell.Word) bool { return w.Text == "-f" || strings.HasPrefix(w.Text, "--format") })
		return at >= 0 && !slices.ContainsFunc(c.Args()[at:min(at+2, len(c.Args()))], func(w shell.Word) bool {
			return !w.Known || tellsEnvironment.MatchString(stateOfContainer.ReplaceAllString(w.Text, ""))
		})
	case len(verbs) == 2 && verbs[0] == "volume" && verbs[1] == "create": // an option may name a directory of the host
		return !c.MayHave("-o", "--opt", "-d", "--driver")
	case len(verbs) == 2 && verbs[1] == "config":
		return c.Has("--services", "--images", "--volumes", "--quiet", "-q", "--profiles")
	}
	return !slices.Contains(c.Verbs(2), "rm") && !slices.Contains(c.Verbs(1), "rmi") || !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known || w.Glob || strings.HasPrefix(w.Text, "-") && (w.Text != "-f" && w.Text != "--force" || slices.Contains(c.Verbs(1), "rmi"))
	})
}

// elsewhereRuns reports whether an option before the verb makes docker connect to another machine.
func elsewhereRuns(c shell.Command) bool {
	for a := range (shell.Options{Long: "--host= -c= --context="}).Each(c.Args()) {
		switch {
		case slices.Contains(c.Verbs(1), a.Text):
			return false
		case strings.HasPrefix(a.Text, "-H"), a.Name == "--host", a.Takes && !ownContext.MatchString(a.Value.Text):
			return true
		}
	}
	return false
}

// ownContext matches a context of docker on this machine.
var ownContext = regexp.MustCompile(`^(default|desktop-linux|rootless|orbstack|colima[\w-]*|rancher-desktop)$`)

// ends reports whether a command stops or removes containers.
func ends(c shell.Command) bool {
	return c.Does(2, strings.Fields("stop kill down rm restart pause"))
}

// reaches reports whether a container joins a network that may include the router, such as the
// host's.
func reaches(c shell.Command) bool {
	for a := range (shell.Options{Long: "--network= --net="}).Each(c.Args()) {
		if a.Takes && !ownNetwork.MatchString(a.Value.Text) {
			return true
		}
	}
	return false
}

// ofCluster reports whether kubectl prints no secrets, and applies changes only to a cluster on
// this machine or as a dry run.
func ofCluster(c shell.Command) bool {
	if slices.Contains(c.Verbs(1), "apply") && !ofOwnCluster(c) && !c.AnyArg(dryRun.MatchString) {
		return false
	}
	return !aimsAt(c, clusterSecret) && shell.Option(c, "--raw*") != shell.Yes && (!slices.Contains(c.Verbs(1), "config") || shell.Option(c, "--flatten") == shell.No)
}

// ofOwnCluster reports whether kubectl explicitly uses a cluster on this machine.
func ofOwnCluster(c shell.Command) bool {
	own := false
	for a := range (shell.Options{Long: "--context="}).Each(c.Args()) {
		switch {
		case a.Takes:
			if own = ownCluster.MatchString(a.Value.Text); !own {
				return false
			}
		case strings.HasPrefix(a.Text, "--kubeconfig"), a.Text == "-s", strings.HasPrefix(a.Text, "--server"), a.Name == "--cluster", !a.Known && a.Many:
			return false
		}
	}
	return own
}
