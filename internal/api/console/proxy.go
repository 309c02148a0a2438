package console

import (
	"net/http"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// Proxy is the [Person] whose token an authenticating proxy uses.
const Proxy = "proxy"

// behindProxy returns the user that the proxy names. Only the proxy is believed: any program on
// the machine can send the header, but only the proxy has the token.
func (c *Console) behindProxy(r *http.Request, who string) (string, error) {
	if c.o.ProxyHeader == "" || who != named(Proxy) {
		return who, nil
	}
	names := r.Header.Values(c.o.ProxyHeader)
	if len(names) != 1 || !userName.MatchString(names[0]) || isReserved(names[0]) {
		return "", wire.Errorf(wire.Forbidden, "the proxy must name its user in one header %s: letters, digits and . _ @ - +, at most 128", c.o.ProxyHeader)
	}
	return named(names[0]), nil
}

// isReserved reports whether a user of that name would pass for the proxy, or for the holder of the
// nameless token, who has every right.
func isReserved(name string) bool { return name == Proxy || named(name) == Who }
