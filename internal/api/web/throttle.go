package web

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// WrongWindow is how long wrong tokens are counted, from the first one.
const WrongWindow = time.Minute

const (
	maxWrong     = 10          // wrong tokens of an address in WrongWindow
	maxAddresses = 1024        // tracked addresses; the rest count as one
	sweepEvery   = time.Second // how often ended windows are removed at the limit
)

// Throttle counts wrong tokens by address. The zero Throttle is ready to use.
type Throttle struct {
	mu    sync.Mutex
	wrong map[netip.Prefix]window // the zero prefix counts addresses beyond the limit
	swept time.Time               // when ended windows were last removed
}

type window struct {
	began time.Time
	count int
}

// Wrong counts a wrong token and returns its error: 401 with a hint, or 429 after too many.
func (t *Throttle) Wrong(remote, hint string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	from := t.room(network(remote), now)
	seen := t.wrong[from]
	if now.Sub(seen.began) >= WrongWindow {
		seen = window{began: now}
	}
	if seen.count >= maxWrong {
		return wire.Errorf(http.StatusTooManyRequests, "too many wrong tokens from this address: try the right one, or wait a minute")
	}
	seen.count++
	t.wrong[from] = seen
	return wire.Errorf(http.StatusUnauthorized, "%s", hint)
}

// room returns the key under which an address is counted.
func (t *Throttle) room(from netip.Prefix, now time.Time) netip.Prefix {
	if t.wrong == nil {
		t.wrong = map[netip.Prefix]window{}
	}
	if _, known := t.wrong[from]; known || len(t.wrong) < maxAddresses {
		return from
	}
	if now.Sub(t.swept) < sweepEvery {
		return netip.Prefix{}
	}
	t.swept = now
	for other, seen := range t.wrong {
		if now.Sub(seen.began) >= WrongWindow {
			delete(t.wrong, other)
		}
	}
	if len(t.wrong) < maxAddresses {
		return from
	}
	return netip.Prefix{}
}

// network returns the range that one sender may own: an IPv4 address, or an IPv6 /64.
func network(remote string) netip.Prefix {
	at, _ := netip.ParseAddrPort(remote)
	addr, bits := at.Addr().Unmap().WithZone(""), 64
	if addr.Is4() {
		bits = 32
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}
