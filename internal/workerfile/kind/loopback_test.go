package kind_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.8.0.1": true, "::1": true,
		"": false, "0.0.0.0": false, "10.0.0.1": false, "localhost.example.com": false, "127.0.0.1.example.com": false,
	} {
		if got := kind.Loopback(host); got != want {
			t.Errorf("Loopback(%q) = %t; want %t", host, got, want)
		}
	}
}
