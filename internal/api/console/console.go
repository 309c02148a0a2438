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

// Options say what a console shows and who may see it.
type Options struct {
	// Approvals keeps the approvals. It is required.
	Approvals approval.Service
	// Events calls handle for each published event and result, until stop is
	// called. Calls may come from several goroutines. It is called while at least
	// one page looks. Nil: there are no live events.
	Events func(handle func(Event)) (stop func(), err error)
	// Registry returns the JSON of hooks.registry. Nil: the registry is refused
	// with 503.
	Registry func(ctx context.Context) ([]byte, error)
	// Why returns the JSON of the story of what an id names, "" for the last denial. The
	// error has code 404 where nothing is known of it. Nil: it is refused with 503.
	Why func(ctx context.Context, id string) ([]byte, error)
	// Freezer freezes agents. Nil: freezing is refused with 503.
	Freezer Freezer
	// MayFreeze names the people who may, besides who has the token without a name.
	MayFreeze []string
	// Reveal returns an approval request with the secrets that are masked elsewhere, once it
	// is recorded who is shown them. Nil: nothing is revealed.
	Reveal func(ctx context.Context, id, by string) (approval.Record, error)
	// MayReveal names the people who may, besides who has the token without a name.
	MayReveal []string
	// Links check the links that answer one approval request. None: no link holds.
	Links answerlink.Keys
	// ProxyHeader is the header in which a proxy says who its user is. The proxy proves
	// itself with the token of the person [Proxy]. Empty: that person is like others.
	ProxyHeader string
	// Token gives access to who has no name; see [CheckToken]. Empty: 256 random bits,
	// unless there are People.
	Token string
	// SessionKey signs sessions where the token is one that is made here, so that they
	// outlive a restart: see [LoadKey]. Empty: they don't. Sessions of given tokens always do.
	SessionKey []byte
	// People have tokens, and names, of their own.
	People []Person
	// Records reads the audit log. Nil: history, audit and what happened before a page was
	// opened are refused with 503.
	Records Records
	// MayAudit names the people who may search the audit log, besides who has the token
	// without a name.
	MayAudit []string
	// Log takes answers, wrong tokens and failures. Nil: nothing is logged.
	Log *slog.Logger
	// Hosts are values of the Host header that are allowed besides loopback names
	// and the address that the connection came in on: a name for any port, or a
	// name with one.
	Hosts []string
}

// Person is somebody who may use the console.
type Person struct {
	Name  string // answers are recorded as given by "console NAME"
	Token string
}

// Console serves the page and the API. Make one with [New].
type Console struct {
	o      Options
	access access
	feed   feed
	polls  chan struct{} // one element for each long poll that waits
	watch  func()        // stops watching the approvals

	ctx    context.Context // until Close
	cancel context.CancelFunc
	grace  context.Context // until a moment later, so that sockets can say goodbye
	cut    context.CancelFunc

	mu     sync.Mutex // guards closed, and wg.Go against wg.Wait
	closed bool
	wg     sync.WaitGroup // the feed, sockets and waiting polls
}

// New makes a console and begins to watch the approvals. The caller must Close it.
func New(o Options) *Console {
	if o.Token == "" && len(o.People) == 0 {
		bits := make([]byte, 32)
		_, _ = rand.Read(bits) // never fails
		o.Token = base64.RawURLEncoding.EncodeToString(bits)
	} else {
		o.SessionKey = nil // who takes a token away ends its sessions
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

// CheckToken says whether token is fit to be [Options.Token]: at least 22 letters,
// digits and marks, which is 128 bits where they are random. The error says what
// is wrong and does not contain the token.
func CheckToken(token string) error {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(token) < minToken || strings.ContainsFunc(token, odd) {
		return fmt.Errorf("the console's token must be at least %d printable ASCII characters without spaces: make one with `openssl rand -base64 32`", minToken)
	}
	return nil
}

// userName is the name of a proxy's user, such as an address of mail.
var userName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`)

var personName = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._@-]{0,63}):(.*)$`)

// ParseTokens reads tokens, separated by commas: NAME:TOKEN is that of a person, and at most
// one has no name. The error does not contain a token.
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
		if names[name] || tokens[one] {
			return "", nil, errors.New("each person of the console needs one token, and another than everybody else's")
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

// Token is the access token, to be printed where only the operator reads it.
func (c *Console) Token() string { return c.o.Token }

// Close ends WebSockets, long polls and the console's goroutine, and waits for
// them. Other requests are not waited for; the server does that. What comes later
// is answered, but nothing waits any more. Closing twice does no harm.
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

// enter counts somebody whom Close waits for, unless the console is closed.
func (c *Console) enter() (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	c.wg.Add(1)
	return c.wg.Done, true
}

// Handler serves /, /assets/ and /v1/. A server in front of it should bound the
// time for a request's header, and leave answers at least 90 seconds.
func (c *Console) Handler() http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /v1/approvals", c.list)
	api.HandleFunc("GET /v1/approvals/{id}", c.show)
	api.HandleFunc("GET /v1/approvals/{id}/view", c.view)
	api.HandleFunc("POST /v1/approvals/{id}/reveal", c.reveal)
	api.HandleFunc("POST /v1/approvals/{id}", c.answer)
	api.HandleFunc("GET /v1/session", c.showSession)
	api.HandleFunc("POST /v1/session", c.openSession)
	api.HandleFunc("GET /v1/history", c.history)
	api.HandleFunc("GET /v1/audit", c.search)
	api.HandleFunc("GET /v1/audit/state", c.logState)
	api.HandleFunc("GET /v1/recent", c.recent)
	api.HandleFunc("GET /v1/freeze", c.listFreezes)
	api.HandleFunc("POST /v1/freeze", c.freeze)
	api.HandleFunc("GET /v1/registry", c.registry)
	api.HandleFunc("GET /v1/why", c.why)
	api.HandleFunc("GET /v1/events", c.live)
	api.HandleFunc("/v1/", c.unknown)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { html(w, "pages/index.html") })
	mux.HandleFunc("GET /why/{id...}", func(w http.ResponseWriter, _ *http.Request) { html(w, "pages/index.html") })
	mux.HandleFunc("GET "+answerlink.Path, func(w http.ResponseWriter, _ *http.Request) { html(w, "pages/answer.html") })
	mux.HandleFunc("GET /v1/link", c.showLink)
	mux.HandleFunc("POST /v1/link", c.answerLink)
	mux.HandleFunc("GET /denied", func(w http.ResponseWriter, _ *http.Request) { html(w, "pages/denied.html") })
	mux.HandleFunc("GET /assets/{name}", c.asset)
	mux.HandleFunc("POST /v1/session/proof", c.prove)
	mux.Handle("/v1/", c.authorised(api))
	return c.guarded(mux)
}
