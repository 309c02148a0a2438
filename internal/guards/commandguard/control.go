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
	// ownContainer matches the names of the router's containers and images.
	ownContainer = regexp.MustCompile(`(?i)hook-?(router|worker)`)
	// controlPort matches the ports of Docker, etcd, the kubelet and Vault, which control
	// containers or hold secrets. secretPath matches the paths of secrets in the APIs of Kubernetes
	// and Vault.
	controlPort = regexp.MustCompile(`:(2375|2376|2379|10250|8200)([/?#]|$)`)
	secretPath  = regexp.MustCompile(`(?i):\d+/+(api/+)?v1/+(namespaces/+[^/]+/+)?secrets?([/?#]|$)`)
	httpClients = strings.Fields("curl wget http https xh httpie grpcurl")
)

// harmlessVerbs are verbs that do not affect running containers.
var harmlessVerbs = strings.Fields("build buildx tag pull images ps logs inspect stats top port")

// touchesRouter finds commands that affect containers of the router.
func touchesRouter(c shell.Command) shell.Found {
	return shell.FoundIf(slices.Contains(containerTools, c.Name()) && aimsAt(c, ownContainer) && !c.Does(1, harmlessVerbs))
}

// controlsMachine finds requests to this machine that control its containers or read secrets.
func controlsMachine(c shell.Command) shell.Found {
	return shell.FoundIf(slices.Contains(httpClients, c.Name()) && c.AnyArg(func(text string) bool {
		return (controlPort.MatchString(text) || secretPath.MatchString(text)) && addresses.Loopback(text)
	}))
}

// endsUnknown reports whether a command stops, enters or changes a container whose name is known
// only at run time: it may be the router's.
func endsUnknown(c shell.Command) bool {
	enters := c.Does(2, strings.Fields("exec rename update cp"))
	return (enters || ends(c)) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known })
}
