package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// collector receives spans as an OpenTelemetry collector does, with OTLP over HTTP, and counts
// them. It parses as little as possible of each span, since it runs on the same processors as the
// measured router.
type collector struct {
	mu   sync.Mutex // guards from
	from map[string]*received
}

// received is what one router sent. Each router has its own path.
type received struct {
	spans  int
	traces map[[16]byte]seen
}

// seen is the number of received spans of a trace, and whether one is of an event that had to be
// denied.
type seen struct {
	spans  uint8
	denied bool
}

// counted is the collector's count for one router.
type counted struct {
	Spans  int `json:"spans"`
	Traces int `json:"traces"`
	Denied int `json:"denied"` // traces of denied events that have all their spans
}

func collectorRole(ctx context.Context, _ options, ready readyFunc) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c := &collector{from: map[string]*received{}}
	server := &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	ready("http://"+l.Addr().String(), order{"count", c.count})
	select {
	case err = <-served:
	case <-ctx.Done():
		err = errors.Join(server.Close(), <-served)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeHTTP receives an export of the router that the path names. It rejects an invalid one.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = c.take(strings.TrimSuffix(strings.Trim(r.URL.Path, "/"), "/v1/traces"), body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // an empty message means that all spans were accepted
}

// Field numbers of OTLP.
const (
	fieldResourceSpans = 1 // of an export
	fieldScopeSpans    = 2 // of the spans of a resource
	fieldSpans         = 2 // of the spans of a scope
	fieldTraceID       = 1 // of a span
)

// take counts the spans of one export.
func (c *collector) take(whose string, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	to := c.from[whose]
	if to == nil {
		to = &received{traces: map[[16]byte]seen{}}
		c.from[whose] = to
	}
	return each(body, fieldResourceSpans, func(resource []byte) error {
		return each(resource, fieldScopeSpans, func(scope []byte) error {
			return each(scope, fieldSpans, to.span)
		})
	})
}

func (r *received) span(span []byte) error {
	var id [16]byte
	if err := each(span, fieldTraceID, func(b []byte) error { copy(id[:], b); return nil }); err != nil {
		return err
	}
	r.spans++
	s := r.traces[id]
	s.spans++
	s.denied = s.denied || bytes.Contains(span, []byte(deniedMark))
	r.traces[id] = s
	return nil
}

// each calls do for each value of a bytes field in a message.
func each(message []byte, field protowire.Number, do func([]byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return fmt.Errorf("read an export: %w", protowire.ParseError(n))
		}
		message = message[n:]
		if number == field && kind == protowire.BytesType {
			value, n := protowire.ConsumeBytes(message)
			if n < 0 {
				return fmt.Errorf("read an export: %w", protowire.ParseError(n))
			}
			if err := do(value); err != nil {
				return err
			}
		}
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return fmt.Errorf("read an export: %w", protowire.ParseError(n))
		}
		message = message[n:]
	}
	return nil
}

// count returns the count for a router as JSON.
func (c *collector) count(whose string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var n counted
	if r := c.from[whose]; r != nil {
		n.Spans, n.Traces = r.spans, len(r.traces)
		for _, s := range r.traces {
			if s.denied && s.spans == spansOfChain {
				n.Denied++
			}
		}
	}
	text, err := json.Marshal(n)
	return string(text), err
}
