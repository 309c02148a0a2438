package server_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// Connections to the console that a stranger opens are bounded: they take no files that the
// router needs, and the oldest makes room.
func TestConnectionsOfStrangersAreLimited(t *testing.T) {
	t.Parallel()
	s, _ := run(t, server.Options{StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0"})
	var first net.Conn
	for range 600 {
		c, err := (&net.Dialer{}).DialContext(testkit.Within(t, testkit.Patience), "tcp", s.HTTPAddr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if first == nil {
			first = c
		}
	}
	if code, body := request(t, http.MethodGet, "http://"+s.HTTPAddr()+"/healthz", ""); code != http.StatusOK {
		t.Errorf("behind 600 connections: %d %s", code, body)
	}
	if _, err := io.WriteString(first, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err == nil {
		if n, err := first.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Error("the oldest connection is served, beside 600 others")
		}
	}
}
