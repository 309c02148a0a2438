package testkit

import (
	"net"
	"testing"
)

// FreeAddrs returns loopback addresses with ports that were free when it was called.
func FreeAddrs(t testing.TB, n int) []string {
	t.Helper()
	list := make([]string, n)
	held := make([]net.Listener, 0, n)
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for i := range list {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
		list[i] = l.Addr().String()
	}
	return list
}
