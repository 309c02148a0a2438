package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/hookrouter/hookrouter/internal/api/web"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// policy allows the page its own files and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// guarded sets the security headers of every answer, and refuses requests to another host or
// from another page.
func (c *Console) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !web.ServedAs(r, c.o.Hosts) {
			c.refuse(w, r, wire.Errorf(http.StatusMisdirectedRequest,
				"the console is not served as %q: if that name is yours, start hook-router with --console-hosts %[1]s; else use its address or localhost", web.Clip(r.Host)))
			return
		}
		if acts(r) && r.Header.Get("Origin") != "" && !sameOrigin(r) {
			c.refuse(w, r, wire.Errorf(http.StatusForbidden, "the request comes from another page (Origin %q): only the console's own may send it",
				web.Clip(r.Header.Get("Origin"))))
			return
		}
		next.ServeHTTP(w, r)
	})
}

var errNeedsToken = wire.Errorf(http.StatusUnauthorized, "no access: send the token that the router printed when it started, as Authorization: Bearer TOKEN")

// authorized admits only requests with a token or a session.
func (c *Console) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, given := bearer(r)
		if !given {
			c.refuse(w, r, errNeedsToken)
			return
		}
		who, err := c.access.try(r, token)
		if err != nil {
			if wire.CodeOf(err) != wire.Overloaded { // so that a flood writes few lines
				c.o.Log.Warn("console access refused", "address", r.RemoteAddr, "error", err)
			}
			c.refuse(w, r, err)
			return
		}
		if who, err = c.behindProxy(r, who); err != nil {
			c.refuse(w, r, err)
			return
		}
		defer web.Use(r)()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, who)))
	})
}

// Protect admits only users of the console to another page of the same server.
func (c *Console) Protect(page http.Handler) http.Handler { return c.guarded(c.authorized(page)) }

type whoKey struct{}

// who returns the recorded name of an authorized request's sender.
func who(r *http.Request) string {
	name, _ := r.Context().Value(whoKey{}).(string)
	return name
}

// acts reports whether a request changes something or opens a WebSocket, so that other pages
// must not send it.
func acts(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Upgrade") != ""
}

// sameOrigin compares the names, not the schemes: a proxy may terminate TLS.
func sameOrigin(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && (origin.Scheme == "http" || origin.Scheme == "https") && strings.EqualFold(origin.Host, r.Host)
}

// refuse answers with the code and text of a refusal. Other errors are logged and not sent to
// the client.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil { // otherwise the client is gone
		web.Refuse(w, c.o.Log, r.URL.Path, err)
	}
}

// answers returns the handler that answers with the body that do returns, encoded as JSON unless it
// is already, or with its error.
func (c *Console) answers(do func(http.ResponseWriter, *http.Request) (body any, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := do(w, r)
		if err != nil {
			c.refuse(w, r, err)
			return
		}
		text, encoded := body.([]byte)
		if !encoded {
			if text, err = json.Marshal(body); err != nil {
				c.refuse(w, r, wire.Errorf(wire.Internal, "the answer can't be written as JSON"))
				return
			}
		}
		web.Write(w, http.StatusOK, text)
	}
}
