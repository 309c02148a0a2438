package commandguard

import (
	"net/url"
	"regexp"
	"slices"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// secret matches a variable whose name suggests a secret.
var secret = regexp.MustCompile(`(?i)\$\{?[!#]?\w*(secret|token|passw|api_?key|private|credential|access_?key|auth)\w*|\$\{!`)

// address matches a variable whose name suggests the address of a server, often with a password.
var address = regexp.MustCompile(`(?i)\$\{?(database|db|postgres|pg|mysql|mongo|redis|amqp|rabbitmq|sentry|webhook)\w*_(url|uri|dsn)\b`)

// usesSecret reports whether a command uses a variable that contains a secret. A test only checks
// its presence.
func usesSecret(c shell.Command) bool {
	if name := c.Name(); name == "test" || name == "[" {
		return false
	}
	prints := slices.Contains([]string{"echo", "printf"}, c.Name())
	return slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return !w.Known && (secret.MatchString(w.Text) || prints && address.MatchString(w.Text))
	}) ||
		slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return !r.Here.Known && secret.MatchString(r.Here.Text) })
}

// asksMetadata finds the addresses of cloud metadata services, which return credentials.
func asksMetadata(c shell.Command) shell.Found {
	return shell.FoundIf(c.AnyArg(addresses.Metadata) ||
		slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return addresses.Metadata(r.File.Text) || addresses.Metadata(r.Here.Text) }))
}

// router matches paths that only the router serves, such as those of approval requests, the
// registry and the log level, and further paths at its default port.
var router = regexp.MustCompile(`(?i)/v1/+approvals|/v1/+(registry|freeze)\b|/loglevel\b|:8080/+(v1/+(events|execute|emit|collect|agents|session|why|link|audit|history|recent)|why|denied|approvals)\b`)

func answersItself(c shell.Command) shell.Found {
	decoded := func(text string) string {
		if plain, err := url.PathUnescape(text); err == nil {
			return plain
		}
		return text
	}
	return shell.FoundIf(slices.Contains([]string{"curl", "wget", "http", "https", "xh", "nc", "ncat", "netcat", "telnet", "socat", "websocat"}, c.Name()) &&
		slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			return router.MatchString(decoded(w.Text)) || addresses.Loopback(w.Text) && natsPort.MatchString(w.Text)
		}))
}

// routerPath matches paths of the router at any port; other servers may have them too.
var routerPath = regexp.MustCompile(`(?i):\d+/+v1/+(execute|emit|collect|why|audit|agents)\b|:\d+/+(api/+)?(v\d+/+)?(approvals/+[\w-]+|(approval|pending|questions?)/+[^/\s]+/+(answer|approve|allow|decision|decide|resolve))\b`)

// mayReachRouter finds requests to this machine that may be for the router, which may listen on any
// port.
func mayReachRouter(c shell.Command) shell.Found {
	return shell.FoundIf(slices.Contains(downloads, c.Name()) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return routerPath.MatchString(w.Text) && addresses.Loopback(w.Text)
	}))
}

var natsPort = regexp.MustCompile(`:(4222|6222|8222)\b`)
