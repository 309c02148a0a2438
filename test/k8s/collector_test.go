package k8s

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"testing"
)

// collector takes traces where Jaeger would.
type collector struct {
	url    string
	bodies chan string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{bodies: make(chan string, 1000)}
	at := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
			var unzipped io.Reader
			if unzipped, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
				body, err = io.ReadAll(unzipped)
			}
		}
		if err == nil && r.URL.Path == "/v1/traces" {
			c.bodies <- string(body)
		}
	}))
	t.Cleanup(at.Close)
	c.url = at.URL
	return c
}

// hears waits for spans of each service.
func (c *collector) hears(t *testing.T, ctx context.Context, services ...string) {
	t.Helper()
	for len(services) > 0 {
		select {
		case body := <-c.bodies:
			services = slices.DeleteFunc(services, func(s string) bool {
				return regexp.MustCompile(`(?s)service\.name\x12.\x0a.` + s).MatchString(body) // in protobuf
			})
		case <-ctx.Done():
			t.Fatalf("no spans come from %v", services)
		}
	}
}
