package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// sessionLife is how long a session lasts.
const sessionLife = 12 * time.Hour

// session is what a page keeps instead of the token: its expiry, its owner and a signature.
func (a *access) session(who string, now time.Time) (session string, end time.Time) {
	end = now.Add(sessionLife)
	text := strconv.FormatInt(end.Unix(), 10) + "." + base64.RawURLEncoding.EncodeToString([]byte(who))
	return text + "." + a.sign(text), end
}

// ofSession returns the owner of a session and when it ends; the owner is empty if the session is
// invalid or over.
func (a *access) ofSession(session string, now time.Time) (who string, end time.Time) {
	last := strings.LastIndexByte(session, '.')
	if last < 0 || !hmac.Equal([]byte(session[last+1:]), []byte(a.sign(session[:last]))) {
		return "", time.Time{}
	}
	seconds, encoded, _ := strings.Cut(session[:last], ".")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	end = time.Unix(unix, 0)
	if err != nil || !now.Before(end) {
		return "", time.Time{}
	}
	text, _ := base64.RawURLEncoding.DecodeString(encoded) // the signature is valid
	return string(text), end
}

func (a *access) sign(text string) string {
	mac := hmac.New(sha256.New, a.key())
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// opened is the body of the answer to a new session.
type opened struct {
	Session string `json:"session"` // replaces the token
	Who     string `json:"who"`     // as answers are recorded
	Expires string `json:"expires"` // RFC 3339
}

// permitted is the body of the answer about somebody's rights besides answering.
type permitted struct {
	Who string   `json:"who"`
	May []string `json:"may"` // audit, freeze, reveal
}

// showSession answers GET /v1/session, so that the page shows nothing that would be refused.
func (c *Console) showSession(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := permitted{who(r), []string{}}
	for _, right := range []struct {
		name string
		has  bool
	}{
		{"audit", c.o.Records != nil && c.may(c.o.MayAudit, p.Who)},
		{"freeze", c.o.Freezer != nil && c.may(c.o.MayFreeze, p.Who)},
		{"reveal", c.o.Reveal != nil && c.may(c.o.MayReveal, p.Who)},
	} {
		if right.has {
			p.May = append(p.May, right.name)
		}
	}
	return p, nil
}

// may reports whether somebody has a right: the holder of the nameless token, and people to whom
// the operator gave it.
func (c *Console) may(people []string, who string) bool {
	return who == Who || slices.ContainsFunc(people, func(name string) bool { return who == named(name) })
}

// openSession answers POST /v1/session. A session can't open another one, so that sessions expire.
func (c *Console) openSession(_ http.ResponseWriter, r *http.Request) (any, error) {
	token, _ := bearer(r)
	if owner, _ := c.access.ofSession(token, time.Now()); owner != "" {
		return nil, errNeedsToken
	}
	session, end := c.access.session(who(r), time.Now())
	return opened{session, who(r), end.UTC().Format(time.RFC3339)}, nil
}

// challenge is the body of a request for a proof.
type challenge struct {
	Session string `json:"session"` // without its signature
	Nonce   string `json:"nonce"`
}

// proof is the body of the answer to it.
type proof struct {
	Proof string `json:"proof"`
}

// prove answers POST /v1/session/proof: a valid proof shows that the router has the key that signed
// the session. A page asks for it after it lost its connection, before it sends its session again:
// another program, such as an agent, may have taken the port of a router that is down.
func (c *Console) prove(w http.ResponseWriter, r *http.Request) (any, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	var asked challenge
	if decode(body, &asked) != nil || len(asked.Session) > maxWord || len(asked.Nonce) < 16 || len(asked.Nonce) > maxWord {
		return nil, wire.Errorf(wire.Malformed, `the body is not a challenge: it must be {"session":"…","nonce":"…"}, with a nonce of 16 characters or more`)
	}
	mac := hmac.New(sha256.New, []byte(c.access.sign(asked.Session)))
	mac.Write([]byte("hookrouter console proof\n" + asked.Nonce))
	return proof{base64.RawURLEncoding.EncodeToString(mac.Sum(nil))}, nil
}
