package traces

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ErrNone means that Jaeger has no such trace.
var ErrNone = errors.New("Jaeger has no trace of it")

// UnavailableError means that Jaeger can't be reached or did not answer in time.
type UnavailableError struct{ Err error }

// Error returns the cause, without a password from the URL.
func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Limits of a response.
const (
	maxAnswer = 32 << 20 // bytes
	patience  = 15 * time.Second
)

// around is the maximum difference between the router's clock and the time in an id.
const around = time.Hour

// Jaeger is a client of Jaeger's HTTP API. It is safe for concurrent use.
type Jaeger struct {
	base   *url.URL
	client *http.Client
}

// NewJaeger returns a client for a URL such as http://127.0.0.1:16686, which may have a path. A
// user and password in it are sent as HTTP basic authentication. It does not connect.
func NewJaeger(at string) (*Jaeger, error) {
	base, err := url.Parse(at)
	if err != nil {
		err = errors.Unwrap(err) // without the text, which may hold a password
		return nil, fmt.Errorf("read the URL of Jaeger: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("read the URL of Jaeger %s: one such as http://127.0.0.1:16686 is needed", base.Redacted())
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	return &Jaeger{base, &http.Client{Transport: transport, Timeout: patience}}, nil
}

// String returns the URL without its password.
func (j *Jaeger) String() string { return j.base.Redacted() }

// Chain returns the part of a trace that belongs to a chain, among the spans of the routers of a
// service: the agent's request and everything below, or the router's span and everything below if
// the agent has none. began is about when the chain began; zero leaves the range of the search to
// Jaeger. The error is [ErrNone] if nothing is found.
func (j *Jaeger) Chain(ctx context.Context, service, id string, began time.Time) (*Trace, error) {
	tags, err := json.Marshal(map[string]string{TagChain: id, tagMessaging: "nats"})
	if err != nil {
		return nil, err
	}
	query := url.Values{"service": {service}, "tags": {string(tags)}, "limit": {"20"}}
	if !began.IsZero() {
		query.Set("start", strconv.FormatInt(began.Add(-around).UnixMicro(), 10))
		query.Set("end", strconv.FormatInt(began.Add(around).UnixMicro(), 10))
	}
	list, err := j.get(ctx, query, "api", "traces")
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		if part := t.part(id); part != nil {
			t.Spans = part
			return t, nil
		}
	}
	return nil, ErrNone
}

// Trace returns a whole trace by its id in hex. The error is [ErrNone] if there is none.
func (j *Jaeger) Trace(ctx context.Context, id string) (*Trace, error) {
	if b, err := hex.DecodeString(id); err != nil || len(b) != 16 {
		return nil, fmt.Errorf("read the id of a trace %.80q: 32 digits in hex are needed", id)
	}
	list, err := j.get(ctx, nil, "api", "traces", strings.ToLower(id))
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		if len(t.Spans) > 0 {
			return t, nil
		}
	}
	return nil, ErrNone
}

func (j *Jaeger) get(ctx context.Context, query url.Values, path ...string) ([]*Trace, error) {
	at := j.base.JoinPath(path...)
	at.RawQuery, at.Fragment = query.Encode(), ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask Jaeger at %s: %w", j, err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := j.client.Do(req)
	if err != nil {
		if refused, ok := errors.AsType[*url.Error](err); ok {
			err = refused.Err // the message has the whole query
		}
		return nil, &UnavailableError{fmt.Errorf("ask Jaeger at %s: %w", j, err)}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, &UnavailableError{fmt.Errorf("read what Jaeger at %s answers: %w", j, err)}
	case resp.StatusCode == http.StatusNotFound && len(path) > 2:
		return nil, ErrNone
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("Jaeger at %s answers %d %s", j, resp.StatusCode, http.StatusText(resp.StatusCode))
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("Jaeger at %s answers with more than %d MiB: look at the trace in its own pages", j, maxAnswer>>20)
	}
	list, err := Parse(body)
	if err != nil {
		return nil, fmt.Errorf("read what Jaeger at %s answers: %w", j, err)
	}
	return list, nil
}
