package httphook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	ce "github.com/cloudevents/sdk-go/v2/event"

	"github.com/hookrouter/hookrouter/internal/webhook/response"
	"github.com/hookrouter/hookrouter/internal/webhook/signature"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

const (
	attempts = 3                     // per call, at most
	backoff  = 50 * time.Millisecond // before the second attempt; doubled before the third
)

// endpoint is a checked Config. It is immutable except for slots.
type endpoint struct {
	url, host   string
	header      http.Header
	keys        signature.Keys
	client      *http.Client
	idempotent  bool
	observes    bool // the answer has no effect
	maxResponse int
	slots       chan struct{} // one element for each request in flight
}

func (e *endpoint) handle(ctx context.Context, ev events.Event) (chain.Result, error) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return chain.Result{}, fmt.Errorf("ask %s: all %d slots are taken: %w", e.host, cap(e.slots), context.Cause(ctx))
	}
	ctx, cancel := context.WithTimeout(ctx, chain.MaxTimeout)
	defer cancel()
	result, err := e.ask(ctx, ev)
	if err != nil {
		return chain.Result{}, fmt.Errorf("ask %s: %w", e.host, err)
	}
	return result, nil
}

// ask sends the event, and retries if that is safe and time remains.
func (e *endpoint) ask(ctx context.Context, ev events.Event) (chain.Result, error) {
	if len(ev.Data) == 0 {
		ev.Data = []byte("{}")
	}
	ev.Source = cmp.Or(ev.Source, events.DefaultSource)
	body, err := ev.CloudEvent().MarshalJSON()
	if err != nil {
		return chain.Result{}, fmt.Errorf("write the event: %w", err)
	}
	for n := 0; ; n++ {
		answer, err := e.post(ctx, ev, body)
		if err == nil {
			return answer.result, nil
		}
		wait := max(answer.retryAfter, jitter(backoff<<n))
		if deadline, _ := ctx.Deadline(); !answer.again || n == attempts-1 || time.Until(deadline) <= wait {
			return chain.Result{}, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return chain.Result{}, fmt.Errorf("%w, after: %w", context.Cause(ctx), err)
		}
	}
}

func jitter(d time.Duration) time.Duration { return d + rand.N(d/2) } //nolint:gosec // jitter, no secret

// answer is the outcome of one request.
type answer struct {
	result     chain.Result
	again      bool // the request may be retried
	retryAfter time.Duration
}

// post makes one attempt. Its error never contains the URL.
func (e *endpoint) post(ctx context.Context, ev events.Event, body []byte) (answer, error) {
	var connected atomic.Bool
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return answer{}, errors.New("the request can't be made")
	}
	e.address(req, worker.CallFrom(ctx), ev, body)
	resp, err := e.client.Do(req)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return answer{again: !connected.Load() || e.idempotent}, response.WithoutURL(err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, int64(e.maxResponse)+1))
	switch resp.StatusCode {
	case http.StatusNoContent:
		return answer{}, nil
	case http.StatusOK:
		if err != nil {
			return answer{again: e.idempotent}, fmt.Errorf("read the answer: %w", response.WithoutURL(err))
		}
		return e.read(reply)
	}
	return e.refused(resp)
}

// address sets the headers.
func (e *endpoint) address(req *http.Request, call worker.Call, ev events.Event, body []byte) {
	maps.Copy(req.Header, e.header)
	req.Header.Set("Content-Type", ce.ApplicationCloudEventsJSON)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "hook-worker")
	if deadline, ok := req.Context().Deadline(); ok {
		req.Header.Set("Hook-Timeout-Ms", strconv.FormatInt(max(time.Until(deadline).Milliseconds(), 1), 10))
	}
	for name, value := range map[string]string{
		"Hook-Chain-Id": call.ChainID, "Hook-Call-Id": call.CallID, "Hook-Mode": string(call.Mode),
		"Traceparent": cmp.Or(call.Traceparent, ev.Extensions["traceparent"]),
		"Tracestate":  cmp.Or(call.Tracestate, ev.Extensions["tracestate"]),
	} {
		if value != "" {
			req.Header.Set(name, events.Escape(value))
		}
	}
	if e.keys != nil {
		e.keys.Set(req.Header, events.Escape(cmp.Or(call.CallID, ev.ID)), time.Now(), body)
	}
}

func (e *endpoint) read(reply []byte) (answer, error) {
	if len(reply) > e.maxResponse {
		return answer{}, fmt.Errorf("the answer is too long: more than %d bytes, the limit max_response", e.maxResponse)
	}
	if len(bytes.TrimSpace(reply)) == 0 && !e.observes {
		return answer{}, fmt.Errorf("%w: it answered 200 OK and nothing else: 204 No Content is to continue", chain.ErrInvalidResult)
	}
	result, err := kind.ParseAnswer(reply)
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", err)
	}
	return answer{result: result}, nil
}

// refused returns the outcome for a status other than success.
func (e *endpoint) refused(resp *http.Response) (answer, error) {
	code := resp.StatusCode
	err := fmt.Errorf("it answered %d %s", code, http.StatusText(code))
	after, said := response.RetryAfter(resp.Header)
	switch {
	case code >= 300 && code < 400:
		return answer{}, fmt.Errorf("%w: redirects are not followed, write the new address as url", err)
	case said && (code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable):
		return answer{again: true, retryAfter: after}, err
	case code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return answer{again: e.idempotent}, err
	}
	return answer{}, err
}
