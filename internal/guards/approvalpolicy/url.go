package approvalpolicy

import (
	"cmp"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// urlPattern is a glob for URLs. Parts are matched separately, so that a path can't be mistaken for
// a host.
type urlPattern struct {
	scheme, host, path string
}

func parseURL(text string) (urlPattern, error) {
	p := urlPattern{scheme: "http*", path: "*"}
	rest := text
	if scheme, behind, found := strings.Cut(text, "://"); found {
		p.scheme, rest = strings.ToLower(scheme), behind
	}
	host, behind, found := strings.Cut(rest, "/")
	p.host = strings.ToLower(host)
	if found {
		p.path = "/" + behind
	}
	switch {
	case host == "":
		return p, errors.New("has no host: write https://example.com/*, or *.example.com")
	case strings.ContainsAny(text, " @#"):
		return p, errors.New("has characters that no pattern of an address has")
	}
	return p, nil
}

// is reports whether the pattern certainly matches the whole URL.
func (p urlPattern) is(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(text, "\\\t\r\n ") {
		return false
	}
	at := cmp.Or(u.EscapedPath(), "/")
	if strings.Contains(at, "..") || strings.Contains(strings.ToLower(at), "%2e") {
		return false
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return approval.Glob(p.scheme, u.Scheme) && approval.Glob(p.host, host) && approval.Glob(p.path, at)
}

// mayBe reports whether the pattern may match the URL in any way that programs parse it. An invalid
// URL may match.
func (p urlPattern) mayBe(text string) bool {
	return slices.ContainsFunc(addresses.Readings(text), p.read)
}

func (p urlPattern) read(text string) bool {
	u, err := url.Parse(text)
	if err == nil && u.Host == "" {
		u, err = url.Parse("http://" + strings.TrimLeft(text, "/"))
	}
	if err != nil {
		return true
	}
	name := addresses.Canonical(u.Hostname())
	host := p.host
	if strings.Count(host, ":") == 1 { // otherwise it is an IPv6 address
		host, _, _ = strings.Cut(host, ":")
	}
	return approval.Glob(p.scheme, u.Scheme) && approval.Glob(host, name) &&
		(approval.Glob(p.path, path.Clean("/"+u.Path)) || approval.Glob(p.path, u.Path) || p.path == "/*")
}
