package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

const (
	maxWrong     = 10          // wrong tokens of an address in wrongWindow
	wrongWindow  = time.Minute // from the first of them
	maxAddresses = 1024        // that are remembered; the rest count as one
	sweepEvery   = time.Second // when there is no room
)

// access knows who has which token, by digests, and makes and checks sessions.
type access struct {
	holders []holder
	key     []byte // signs sessions; all replicas with the same tokens have it
	wrong   throttle
}

// holder is somebody with a token.
type holder struct {
	who    string // as the answers are recorded
	digest [sha256.Size]byte
}

func newAccess(token string, people []Person) access {
	var holders []holder
	mac := hmac.New(sha256.New, []byte("hookrouter console session v2"))
	add := func(who, token string) {
		digest := sha256.Sum256([]byte(token))
		holders = append(holders, holder{who, digest})
		mac.Write(digest[:])
		mac.Write([]byte(who + "\n"))
	}
	if token != "" {
		add(Who, token)
	}
	for _, p := range people {
		add(named(p.Name), p.Token)
	}
	return access{holders: holders, key: mac.Sum(nil)}
}

// try says who a token or a session is of. It counts wrong ones by address, and answers
// 429 instead of 401 where there were too many; a right one is never refused.
func (a *access) try(r *http.Request, token string) (who string, err error) {
	if who = a.ofSession(token, time.Now()); who != "" {
		return who, nil
	}
	given := sha256.Sum256([]byte(token))
	for _, h := range a.holders {
		if hmac.Equal(given[:], h.digest[:]) {
			who = h.who
		}
	}
	if who == "" {
		err = a.wrong.count(r.RemoteAddr)
	}
	return who, err
}

// named is a person as their answers are recorded.
func named(name string) string { return "console " + name }

// socketProtocol is what a WebSocket of the page speaks, and socketBearer what precedes the
// session among the protocols that it offers: a browser sets no other header there.
const (
	socketProtocol = "hookrouter.v1"
	socketBearer   = "hookrouter.bearer."
)

// bearer is the token or session of a request.
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return token, true
	}
	for offered := range strings.SplitSeq(r.Header.Get("Sec-WebSocket-Protocol"), ",") {
		if token, ok := strings.CutPrefix(strings.TrimSpace(offered), socketBearer); ok {
			return token, true
		}
	}
	return "", false
}

// throttle counts wrong tokens by address. The zero throttle is ready to use.
type throttle struct {
	mu    sync.Mutex
	wrong map[netip.Prefix]window // the zero prefix stands for addresses beyond the limit
	swept time.Time               // when windows that are over were last looked for
}

type window struct {
	began time.Time
	count int
}

// count counts a wrong token, and returns the error for it.
func (t *throttle) count(remote string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	from := t.room(network(remote), now)
	seen := t.wrong[from]
	if now.Sub(seen.began) >= wrongWindow {
		seen = window{began: now}
	}
	if seen.count >= maxWrong {
		return wire.Errorf(http.StatusTooManyRequests, "too many wrong tokens from this address: try the right one, or wait a minute")
	}
	seen.count++
	t.wrong[from] = seen
	return wire.Errorf(http.StatusUnauthorized, "the token is wrong, or the session is over: the router printed its token when it started")
}

// room finds the key under which an address is counted.
func (t *throttle) room(from netip.Prefix, now time.Time) netip.Prefix {
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
		if now.Sub(seen.began) >= wrongWindow {
			delete(t.wrong, other)
		}
	}
	if len(t.wrong) < maxAddresses {
		return from
	}
	return netip.Prefix{}
}

// network is what one sender can be thought to own: an IPv4 address, or a /64 of
// IPv6.
func network(remote string) netip.Prefix {
	at, _ := netip.ParseAddrPort(remote)
	addr, bits := at.Addr().Unmap().WithZone(""), 64
	if addr.Is4() {
		bits = 32
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}
