package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/internal/webhook/response"
	"github.com/hookrouter/hookrouter/internal/webhook/signature"
)

// maxAnswer bounds the part of a receiver's response that is read, in bytes. It is discarded;
// reading it to the end lets the connection be reused.
const maxAnswer = 16 << 10

// receiver is one URL with its queue. One goroutine delivers to it.
type receiver struct {
	url     string
	client  *http.Client
	keys    signature.Keys
	retry   failsafe.Executor[answer]
	log     *slog.Logger // names the receiver
	counts  *counts      // of the sender
	queue   *queue
	window  time.Duration
	timeout time.Duration
}

// answer says what a failed attempt means for the next one.
type answer struct {
	final      bool          // no further attempts
	retryAfter time.Duration // minimum delay; 0 if the receiver did not set one
}

// offer queues m. If the queue is full, a message is dropped: see [queue].
func (r *receiver) offer(m message) {
	lost, full := r.queue.put(m)
	if !full {
		return
	}
	// Log only the first, the second, the fourth, … dropped message.
	if n := r.counts.dropped.Add(1); n&(n-1) == 0 {
		r.log.Warn("webhook dropped; the receiver's queue is full", "type", lost.kind, "id", lost.id, "agent", lost.agent, "dropped", n)
	}
}

// run delivers messages until ctx has ended and the queue is empty, or attempts has ended.
func (r *receiver) run(ctx, attempts context.Context) {
	for attempts.Err() == nil {
		m, ok := r.next(ctx)
		if !ok {
			return
		}
		r.deliver(ctx, attempts, m)
	}
	if n := r.queue.len(); n > 0 {
		r.counts.failed.Add(uint64(n))
		r.log.Warn("webhooks not sent before shutdown", "count", n)
	}
}

// next returns the next message. Once ctx has ended, it does not wait.
func (r *receiver) next(ctx context.Context) (m message, ok bool) {
	for {
		if m, ok = r.queue.take(); ok {
			return m, true
		}
		select {
		case <-r.queue.added:
		case <-ctx.Done():
			return r.queue.take()
		}
	}
}

// deliver sends m until it is accepted or given up, or ctx has ended, but at least once.
func (r *receiver) deliver(ctx, attempts context.Context, m message) {
	ctx, cancel := context.WithTimeout(ctx, r.window)
	defer cancel()
	tries, last := 0, error(nil)
	_, _ = r.retry.WithContext(ctx).Get(func() (answer, error) {
		var a answer
		tries++
		a, last = r.post(attempts, m)
		return a, last
	})
	if last != nil {
		r.counts.failed.Add(1)
		r.log.Warn("webhook not delivered", "type", m.kind, "id", m.id, "attempts", tries, "error", last)
		return
	}
	r.counts.delivered.Add(1)
	r.log.Debug("webhook delivered", "type", m.kind, "id", m.id, "attempts", tries)
}

// post makes one attempt. Its error does not contain the URL.
func (r *receiver) post(ctx context.Context, m message) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(m.body))
	if err != nil {
		return answer{final: true}, errors.New("the request can't be made")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "hook-router")
	r.keys.Set(req.Header, m.id, time.Now(), m.body)
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(ctx, m.about), propagation.HeaderCarrier(req.Header))
	resp, err := r.client.Do(req)
	if err != nil {
		return answer{}, explained(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	return judge(resp)
}

// judge interprets a response.
func judge(resp *http.Response) (answer, error) {
	code := resp.StatusCode
	switch {
	case code >= 200 && code < 300:
		return answer{}, nil
	case code == http.StatusTooManyRequests, code >= 500:
		wait, _ := response.RetryAfter(resp.Header)
		return answer{retryAfter: wait}, fmt.Errorf("the receiver answered %d", code)
	case code >= 300 && code < 400:
		return answer{final: true}, fmt.Errorf("the receiver answered %d: redirects are not followed, configure the new address", code)
	}
	return answer{final: true}, fmt.Errorf("the receiver answered %d", code)
}

// explained returns an error of the HTTP client for the log, without the URL.
func explained(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the receiver did not answer in time")
	}
	return response.WithoutURL(err)
}
