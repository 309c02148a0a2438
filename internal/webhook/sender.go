package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/hookrouter/hookrouter/internal/webhook/answerlink"
	"github.com/hookrouter/hookrouter/internal/webhook/signature"
)

// Options configure a sender. The zero value has no receivers.
type Options struct {
	// URLs of the receivers, http or https. A user and password in a URL are sent as basic
	// authentication.
	URLs []string
	// Secret signs the requests: "whsec_" and 24 to 64 bytes in base64. If there are several,
	// separated by spaces, each signs, so that receivers can change theirs one at a time.
	Secret string
	// Later are receivers that are notified of an approval request only if nobody has answered it
	// for a while. They share the secret.
	Later []Escalation
	// Links is the address of the console, without a trailing slash, for links that answer an
	// approval request; see [answerlink]. Empty means no links.
	Links string
	// Client sends the requests; redirects are never followed. Nil means a client with the system's
	// certificates and the proxy of the environment.
	Client *http.Client
	// Log gets failed deliveries; nil discards them.
	Log *slog.Logger

	// Queue is the maximum number of waiting messages for each receiver, in which agents take turns;
	// 0 means 256.
	Queue int
	// Attempts is the maximum number of attempts for a message; 0 means 6.
	Attempts int
	// Backoff is the delay before the second attempt, ±25 %. It doubles with each further one. 0
	// means 1 s.
	Backoff time.Duration
	// Window is the time after which no attempt starts; 0 means 2 min.
	Window time.Duration
	// Timeout bounds one attempt; 0 means 15 s.
	Timeout time.Duration
	// Drain bounds the last attempt for all queued messages when Run ends; 0 means 5 s.
	Drain time.Duration
}

// Sender sends webhooks. It is safe for concurrent use.
type Sender struct {
	receivers []*receiver
	later     []lateReceiver // shortest delay first
	console   string         // address for links; empty for none
	links     answerlink.Keys
	log       *slog.Logger
	drain     time.Duration
	closeIdle func() // closes the connections of the default client
	counts    counts
}

// Stats count messages since the start, once for each receiver.
type Stats struct {
	Delivered uint64 // answered with 2xx
	Failed    uint64 // given up
	Dropped   uint64 // beyond the queue
}

type counts struct{ delivered, failed, dropped atomic.Uint64 }

// New checks the options and returns a sender. The error identifies a wrong URL without showing it.
// [Sender.Run] delivers the messages.
func New(o Options) (*Sender, error) {
	s := &Sender{
		log:       cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		drain:     cmp.Or(o.Drain, 5*time.Second),
		closeIdle: func() {},
	}
	if len(o.URLs)+len(o.Later) == 0 {
		return s, nil
	}
	keys, err := signature.Parse(o.Secret)
	if err != nil {
		return nil, err
	}
	if o.Links != "" {
		s.console, s.links = o.Links, answerlink.Derive(keys)
	}
	client := s.client(o.Client)
	window := cmp.Or(o.Window, 2*time.Minute)
	retry := failsafe.With(retryPolicy(o, window))
	receive := func(number int, text string) (*receiver, error) {
		host, err := checkURL(text)
		if err != nil {
			return nil, fmt.Errorf("webhook URL %d: %w", number, err)
		}
		return &receiver{
			url: text, client: client, keys: keys, retry: retry, counts: &s.counts,
			log:     s.log.With("receiver", number, "host", host),
			queue:   newQueue(cmp.Or(o.Queue, 256)),
			window:  window,
			timeout: cmp.Or(o.Timeout, 15*time.Second),
		}, nil
	}
	for i, text := range o.URLs {
		r, err := receive(i+1, text)
		if err != nil {
			return nil, err
		}
		s.receivers = append(s.receivers, r)
	}
	for i, e := range o.Later {
		r, err := receive(len(o.URLs)+i+1, e.URL)
		if err != nil {
			return nil, err
		}
		s.later = append(s.later, lateReceiver{r, e.After})
	}
	byWait(s.later)
	return s, nil
}

// checkURL returns the part of a URL that may be shown, or an error if the URL is invalid.
func checkURL(text string) (host string, err error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("it can't be read: write it like https://host/path, with other characters escaped") // the cause may quote a password
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("its scheme must be http or https, not %q", u.Scheme)
	case u.Hostname() == "":
		return "", errors.New("it names no host: write it like https://host/path")
	}
	return u.Host, nil
}

// client returns a client that never follows redirects: the signed message is only for the receiver
// that the operator named.
func (s *Sender) client(given *http.Client) *http.Client {
	client := &http.Client{}
	if given != nil {
		*client = *given
	} else {
		transport := &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		}
		client.Transport, s.closeIdle = transport, transport.CloseIdleConnections
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

func retryPolicy(o Options, window time.Duration) retrypolicy.RetryPolicy[answer] {
	return retrypolicy.NewBuilder[answer]().
		AbortIf(func(a answer, _ error) bool { return a.final || a.retryAfter > window }).
		WithMaxAttempts(cmp.Or(o.Attempts, 6)).
		WithBackoff(cmp.Or(o.Backoff, time.Second), window).
		WithJitterFactor(jitter).
		WithDelayFunc(func(try failsafe.ExecutionAttempt[answer]) time.Duration {
			if after := try.LastResult().retryAfter; after > 0 {
				return after + after/2 // longer than asked for, so that the jitter does not shorten it too much
			}
			return -1 // use the back-off
		}).
		Build()
}

// jitter is the fraction by which a delay is randomly changed, so that routers do not return to a
// receiver all at once.
const jitter = 0.25

// Run delivers messages until ctx ends. Each queued message then gets one more attempt, all within
// Options.Drain. Run returns nil.
func (s *Sender) Run(ctx context.Context) error {
	// Attempts in flight may outlive ctx by the time to drain.
	attempts, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	defer s.closeIdle()
	var wg sync.WaitGroup
	for _, r := range s.receivers {
		wg.Go(func() { r.run(ctx, attempts) })
	}
	for _, r := range s.later {
		wg.Go(func() { r.run(ctx, attempts) })
	}
	<-ctx.Done()
	defer time.AfterFunc(s.drain, abort).Stop()
	wg.Wait()
	return nil
}

// Links returns the keys that check the links of this sender.
func (s *Sender) Links() answerlink.Keys { return s.links }

// Stats returns the counts so far.
func (s *Sender) Stats() Stats {
	return Stats{s.counts.delivered.Load(), s.counts.failed.Load(), s.counts.dropped.Load()}
}
