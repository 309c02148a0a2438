package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	containerTools = strings.Fields("docker docker-compose podman podman-compose nerdctl")
	// ownContainer is in the names of the router's containers, and of their images.
	ownContainer = regexp.MustCompile(`(?i)hook-?(router|worker)`)
	// controlPort is a port at which containers are started, or secrets kept: those of Docker, etcd, the
	// kubelet and Vault. secretPath is where the API of a cluster or of Vault has secrets.
	controlPort = regexp.MustCompile(`:(2375|2376|2379|10250|8200)([/?#]|$)`)
	secretPath  = regexp.MustCompile(`(?i):\d+/+(api/+)?v1/+(namespaces/+[^/]+/+)?secrets?([/?#]|$)`)
	httpClients = strings.Fields("curl wget http https xh httpie grpcurl")
)

// harmlessVerbs are verbs that leave running containers as they are.
var harmlessVerbs = strings.Fields("build buildx tag pull images ps logs inspect stats top port")

// touchesRouter looks for containers of the router.
func touchesRouter(c shell.Command) shell.Found {
	return shell.FoundIf(slices.Contains(containerTools, c.Name()) && aimsAt(c, ownContainer) && !c.Does(1, harmlessVerbs))
}

// controlsMachine looks for addresses on this machine at which its containers are controlled, or
// secrets handed out.
func controlsMachine(c shell.Command) shell.Found {
	return shell.FoundIf(slices.Contains(httpClients, c.Name()) && c.AnyArg(func(text string) bool {
		return (controlPort.MatchString(text) || secretPath.MatchString(text)) && addresses.Loopback(text)
	}))
}

// endsUnknown reports whether a command stops, enters or changes a container whose name is known only
// when it runs: it may be the router's.
func endsUnknown(c shell.Command) bool {
	enters := c.Does(2, strings.Fields("exec rename update cp"))
	return (enters || ends(c)) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known })
}
