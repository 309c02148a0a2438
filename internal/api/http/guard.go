package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/api/web"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// guarded refuses requests under an unknown host name and requests that a page sent.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		err := s.fromProgram(r)
		switch {
		case err != nil && strings.HasPrefix(r.URL.Path, dialects):
			h, _ := hookOf(r)
			(&call{Server: s, w: w, r: r}).block(h, nil, err)
			return
		case err != nil:
			s.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromProgram refuses requests that a browser sends for a page. The error has code 403 or 421.
func (s *Server) fromProgram(r *http.Request) error {
	if !web.ServedAs(r, s.o.Hosts) {
		return wire.Errorf(http.StatusMisdirectedRequest,
			"this API is not served as %q: if that name is yours, start hook-router with --agent-http-hosts %[1]s; else use its address or localhost", web.Clip(r.Host))
	}
	for _, name := range [...]string{"Origin", "Sec-Fetch-Site"} { // browsers always send one, and only they do
		if value := r.Header.Get(name); value != "" {
			return wire.Errorf(wire.Forbidden, "the request comes from a page of a browser (%s %q): this API is for programs", name, web.Clip(value))
		}
	}
	return nil
}

// call is one authenticated request.
type call struct {
	*Server
	w      http.ResponseWriter
	r      *http.Request
	who    func() (label string, ok bool) // sends it; ok is false once the access has ended
	sender string

	reading *semaphore.Weighted // bytes of bodies of the sender; nil without a valid token
}

// authorized handles requests with a valid token.
func (s *Server) authorized(endpoint string, handle func(*call) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.serve(w, r, handle); err != nil {
			s.agents.Refused(endpoint, s.refuse(w, r, err))
		}
	})
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, handle func(*call) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("handler panicked", "path", r.URL.Path, "panic", p)
			err = wire.Errorf(wire.Internal, "the router failed: a defect, see the log")
		}
	}()
	c := &call{Server: s, w: w, r: r}
	if err := c.authorize(); err != nil {
		return err
	}
	leave, err := c.take()
	if err != nil {
		return err
	}
	defer leave()
	return handle(c)
}

// authorize identifies the sender. The error has code 401, or 429 after too many wrong tokens.
func (c *call) authorize() error {
	scheme, token, ok := strings.Cut(c.r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || len(c.r.Header.Values("Authorization")) > 1 {
		return wire.Errorf(http.StatusUnauthorized, "no access: send the token that hookctl auth add --http printed, as Authorization: Bearer TOKEN")
	}
	token = strings.TrimSpace(token)
	c.who = func() (string, bool) { return c.o.Identities.Bearer(token) }
	if err := c.valid(); err != nil {
		err = c.wrong.Wrong(c.r.RemoteAddr, err.Error())
		if wire.CodeOf(err) == wire.Overloaded {
			c.w.Header().Set("Retry-After", strconv.Itoa(int(web.WrongWindow.Seconds())))
			return err // so that a flood writes few lines
		}
		c.log.Warn("HTTP access refused", "address", c.r.RemoteAddr, "error", err)
		return err
	}
	return nil
}

var errToken = errors.New("the token is wrong, expired or revoked: hookctl auth list shows which agents have one, hookctl auth rotate makes a new one")

// valid identifies the sender again: the access may have ended while hooks ran or a person was
// asked.
func (c *call) valid() error {
	label, ok := c.who()
	if !ok {
		return errToken
	}
	c.sender = agentapi.Sender(label)
	return nil
}

// refuse answers with an error, and returns its code.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) (code int) {
	if e := wire.FromError(err); e.Code != wire.Internal {
		err = e
	}
	switch wire.CodeOf(err) {
	case wire.Overloaded, wire.Unavailable:
		if w.Header().Get("Retry-After") == "" {
			w.Header().Set("Retry-After", "1")
		}
	}
	setWriteDeadline(w)
	return web.Refuse(w, s.log, r.URL.Path, err)
}
