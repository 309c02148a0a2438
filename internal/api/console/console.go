package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/webhook/answerlink"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

const (
	maxSockets = 64  // WebSockets at once
	maxPolls   = 256 // long polls at once
	minToken   = 22  // 128 bits in base64
)

// Options configure what a console shows and who may see it.
type Options struct {
	// Approvals is the service of approval requests. It is required.
	Approvals approval.Service
	// Events calls handle for each published event and result until stop is called, possibly from
	// several goroutines. It is called while at least one page is open. Nil: there are no live
	// events.
	Events func(handle func(Event)) (stop func(), err error)
	// Registry returns the JSON of hooks.registry. Nil: requests for it get 503.
	Registry func(ctx context.Context) ([]byte, error)
	// Why returns the JSON that explains the decision an id names; "" means the last denial. The
	// error has code 404 if nothing is known. Nil: requests for it get 503.
	Why func(ctx context.Context, id string) ([]byte, error)
	// Freezer freezes agents. Nil: requests to freeze get 503.
	Freezer Freezer
	// MayFreeze names the people who may freeze, besides the holder of the nameless token.
	MayFreeze []string
	// Reveal returns an approval request with its secrets unmasked, after recording who sees
	// them. Nil: nothing is revealed.
	Reveal func(ctx context.Context, id, by string) (approval.Record, error)
	// MayReveal names the people who may see secrets, besides the holder of the nameless token.
	MayReveal []string
	// Links checks the links that answer one approval request. Empty: no link is valid.
	Links answerlink.Keys
	// ProxyHeader is the header in which a proxy names its user. The proxy authenticates with the
	// token of the person [Proxy]. Empty: that person is treated like any other.
	ProxyHeader string
	// Token is the nameless access token; see [CheckToken]. Empty: 256 random bits, unless there
	// are People.
	Token string
	// SessionKey signs the sessions of a random token, so that they survive a restart: see
	// [LoadKey]. Empty: they don't. Sessions of configured tokens always do.
	SessionKey []byte
	// People have names and tokens of their own.
	People []Person
	// Records reads the audit log. Nil: requests for history, audit and recent events get 503.
	Records Records
	// MayAudit names the people who may search the audit log, besides the holder of the nameless
	// token.
	MayAudit []string
	// Log gets answers, wrong tokens and failures. Nil: nothing is logged.
	Log *slog.Logger
	// Hosts are Host headers that are allowed besides loopback names and the address of the
	// connection: a name for any port, or a name with one.
	Hosts []string
}

// Person is somebody with access to the console.
type Person struct {
	Name  string // recorded with answers as "console NAME"
	Token string
}

// Console serves the page and the API. Make one with [New].
type Console struct {
	o      Options
	access access
	feed   feed
	polls  chan struct{} // a semaphore of waiting long polls
	watch  func()        // stops watching the approvals

	ctx    context.Context // until Close
	cancel context.CancelFunc
	grace  context.Context // until a moment later, for sockets to say goodbye
	cut    context.CancelFunc

	mu     sync.Mutex // guards closed, and wg.Go against wg.Wait
	closed bool
	wg     sync.WaitGroup // of the feed, sockets and waiting polls
}

// New makes a console and starts watching the approvals. The caller must Close it.
func New(o Options) *Console {
	if o.Token == "" && len(o.People) == 0 {
		bits := make([]byte, 32)
		_, _ = rand.Read(bits) // never fails
		o.Token = base64.RawURLEncoding.EncodeToString(bits)
	} else {
		o.SessionKey = nil // removing a token ends its sessions
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	c := &Console{o: o, access: newAccess(o.Token, o.People, o.SessionKey), feed: newFeed(o), polls: make(chan struct{}, maxPolls)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.grace, c.cut = context.WithCancel(context.Background())
	notices, stop := o.Approvals.Watch()
	c.watch = stop
	c.wg.Go(func() { c.feed.run(c.ctx, notices) })
	return c
}

// CheckToken returns an error unless token is valid as [Options.Token]: at least 22 printable ASCII
// characters without spaces, which is 128 bits if they are random. The error does not contain the
// token.
func CheckToken(token string) error {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(token) < minToken || strings.ContainsFunc(token, odd) {
		return fmt.Errorf("the console's token must be at least %d printable ASCII characters without spaces: make one with `openssl rand -base64 32`", minToken)
	}
	return nil
}

// userName matches the name of a proxy's user, such as a mail address.
var userName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`)

var personName = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._@-]{0,63}):(.*)$`)

// ParseTokens parses tokens, separated by commas. NAME:TOKEN is a person's; at most one has no
// name. The error contains no token.
func ParseTokens(text string) (token string, people []Person, err error) {
	if text == "" {
		return "", nil, nil
	}
	names, tokens := map[string]bool{}, map[string]bool{}
	for one := range strings.SplitSeq(text, ",") {
		name := ""
		if m := personName.FindStringSubmatch(one); m != nil {
			name, one = m[1], m[2]
		}
		if err := CheckToken(one); err != nil {
			return "", nil, err
		}
		if named(name) == Who {
			return "", nil, fmt.Errorf("a person of the console can't be called %q: in records that is the holder of the nameless token", name)
		}
		if names[name] || tokens[one] {
			return "", nil, errors.New("each person of the console needs exactly one token, which nobody else has")
		}
		names[name], tokens[one] = true, true
		if name == "" {
			token = one
		} else {
			people = append(people, Person{name, one})
		}
	}
	return token, people, nil
}

// Token returns the access token, to be printed where only the operator reads it.
func (c *Console) Token() string { return c.o.Token }

// Close ends WebSockets, long polls and the console's goroutine, and waits for them. It does not
// wait for other requests; the server does. Later requests are answered, but no longer wait. Close
// may be called twice.
func (c *Console) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.watch()
	late := time.AfterFunc(goodbye, c.cut)
	c.wg.Wait()
	late.Stop()
	c.cut()
}

// enter counts a goroutine that Close waits for, unless the console is closed.
func (c *Console) enter() (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	c.wg.Add(1)
	return c.wg.Done, true
}

// Handler serves /, /assets/ and /v1/. A server in front of it should bound the time for a
// request's header and allow answers at least 90 seconds.
func (c *Console) Handler() http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /v1/approvals", c.answers(c.list))
	api.HandleFunc("GET /v1/approvals/{id}", c.answers(c.show))
	api.HandleFunc("GET /v1/approvals/{id}/view", c.answers(c.view))
	api.HandleFunc("POST /v1/approvals/{id}/reveal", c.answers(c.reveal))
	api.HandleFunc("POST /v1/approvals/{id}", c.answers(c.answer))
	api.HandleFunc("GET /v1/session", c.answers(c.showSession))
	api.HandleFunc("POST /v1/session", c.answers(c.openSession))
	api.HandleFunc("GET /v1/history", c.answers(c.history))
	api.HandleFunc("GET /v1/audit", c.answers(c.search))
	api.HandleFunc("GET /v1/audit/state", c.answers(c.logState))
	api.HandleFunc("GET /v1/recent", c.answers(c.recent))
	api.HandleFunc("GET /v1/freeze", c.answers(c.listFreezes))
	api.HandleFunc("POST /v1/freeze", c.answers(c.freeze))
	api.HandleFunc("GET /v1/registry", c.answers(c.registry))
	api.HandleFunc("GET /v1/why", c.answers(c.why))
	api.HandleFunc("GET /v1/events", c.live)
	api.HandleFunc("/v1/", c.answers(c.unknown))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", page("pages/index.html"))
	mux.HandleFunc("GET /why/{id...}", page("pages/index.html"))
	mux.HandleFunc("GET "+answerlink.Path, page("pages/answer.html"))
	mux.HandleFunc("GET /v1/link", c.answers(c.showLink))
	mux.HandleFunc("POST /v1/link", c.answers(c.answerLink))
	mux.HandleFunc("GET /denied", page("pages/denied.html"))
	mux.HandleFunc("GET /assets/{name}", c.asset)
	mux.HandleFunc("POST /v1/session/proof", c.answers(c.prove))
	mux.Handle("/v1/", c.authorized(api))
	return c.guarded(mux)
}
