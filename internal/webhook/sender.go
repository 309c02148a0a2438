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

// Options say whom to tell and how long to try. The zero Options tell nobody.
type Options struct {
	// URLs of the receivers, http or https. User and password in them are sent as
	// basic authentication.
	URLs []string
	// Secret signs the requests: "whsec_" and 24 to 64 bytes in base64. Several,
	// separated by spaces, all sign, so that receivers can change theirs one by one.
	Secret string
	// Later are receivers that hear of an approval request only when nobody has answered it
	// for a while, with the same secret.
	Later []Escalation
	// Links is the address of the console, without a slash at its end, to send links that
	// answer an approval request; see [answerlink]. Empty: none are sent.
	Links string
	// Client sends the requests, but never follows redirects; nil means one with the
	// system's certificates and the proxy of the environment.
	Client *http.Client
	// Log gets what was not delivered; nil discards it.
	Log *slog.Logger

	// Queue bounds the messages that wait for each receiver; 0 means 256.
	Queue int
	// Attempts bounds the attempts to send a message; 0 means 6.
	Attempts int
	// Backoff is the wait before the second attempt, give or take a quarter; each
	// further one is twice as long. 0 means 1 s.
	Backoff time.Duration
	// Window is the time after which no attempt begins any more; 0 means 2 min.
	Window time.Duration
	// Timeout bounds one attempt; 0 means 15 s.
	Timeout time.Duration
	// Drain bounds the one attempt that each queued piece of news still gets when
	// Run ends; 0 means 5 s.
	Drain time.Duration
}

// Sender tells receivers. It is safe for concurrent use.
type Sender struct {
	receivers []*receiver
	later     []lateReceiver // the one that waits least first
	console   string         // where links lead; empty for none
	links     answerlink.Keys
	log       *slog.Logger
	drain     time.Duration
	closeIdle func() // ends the connections of a client of our own
	counts    counts
}

// Stats count since the start, once for each receiver.
type Stats struct {
	Delivered uint64 // answered with 2xx
	Failed    uint64 // given up
	Dropped   uint64 // did not fit a queue
}

type counts struct{ delivered, failed, dropped atomic.Uint64 }

// New checks the options. The error says which URL is wrong without showing it.
// Nothing is sent before [Sender.Run].
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
			queue:   make(chan message, cmp.Or(o.Queue, 256)),
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

// checkURL returns the part of a URL that may be shown.
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

// client never follows a redirect: the signed news is for the receiver that the
// operator named.
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
				return after + after/2 // more than asked for where the jitter takes its part
			}
			return -1 // the back-off decides
		}).
		Build()
}

// jitter is the part by which a wait is longer or shorter at random, so that
// routers do not return to a receiver all at once.
const jitter = 0.25

// Run delivers until ctx ends. Then each piece of news in the queues gets one more
// attempt, all of them within Options.Drain. It returns nil.
func (s *Sender) Run(ctx context.Context) error {
	// Attempts that are under way outlive ctx, by the time to drain.
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

// Links check the links that this sender sends.
func (s *Sender) Links() answerlink.Keys { return s.links }

// Stats returns the counts so far.
func (s *Sender) Stats() Stats {
	return Stats{s.counts.delivered.Load(), s.counts.failed.Load(), s.counts.dropped.Load()}
}
