package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

const (
	sessionLife = 7 * 24 * time.Hour // of the cookie

	maxWrong     = 10          // wrong tokens of an address in wrongWindow
	wrongWindow  = time.Minute // from the first of them
	maxAddresses = 1024        // that are remembered; the rest count as one
	sweepEvery   = time.Second // when there is no room
)

// access knows the token, by its digest, and makes and checks sessions.
type access struct {
	digest [sha256.Size]byte
	key    []byte // signs sessions; all replicas with the same token have it
	cookie string // its name, so that routers on other ports of a host don't clash
	wrong  throttle
}

func newAccess(token string) access {
	key := sign([]byte(token), "hookrouter console session v1")
	return access{
		digest: sha256.Sum256([]byte(token)),
		key:    key,
		cookie: "hookrouter_" + hex.EncodeToString(sign(key, "cookie name")[:4]),
	}
}

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// try compares a token in constant time. It counts wrong ones, and refuses even
// the right one while there were too many from this address.
func (a *access) try(r *http.Request, token string) error {
	return a.wrong.attempt(r.RemoteAddr, func() bool {
		given := sha256.Sum256([]byte(token))
		return hmac.Equal(given[:], a.digest[:])
	})
}

// session is a cookie's value: when it ends, and a signature.
func (a *access) session(now time.Time) string {
	end := strconv.FormatInt(now.Add(sessionLife).Unix(), 10)
	return end + "." + base64.RawURLEncoding.EncodeToString(sign(a.key, end))
}

func (a *access) isSession(value string, now time.Time) bool {
	end, signature, _ := strings.Cut(value, ".")
	want := base64.RawURLEncoding.EncodeToString(sign(a.key, end))
	if !hmac.Equal([]byte(signature), []byte(want)) {
		return false
	}
	unix, err := strconv.ParseInt(end, 10, 64)
	return err == nil && now.Before(time.Unix(unix, 0))
}

// hasCookie says whether the request comes from a page that showed the token.
func (a *access) hasCookie(r *http.Request) bool {
	cookie, err := r.Cookie(a.cookie)
	return err == nil && a.isSession(cookie.Value, time.Now())
}

// setCookie gives the browser a session.
func (a *access) setCookie(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where the browser came over TLS; loopback has none
		Name: a.cookie, Value: a.session(time.Now()), Path: "/", MaxAge: int(sessionLife / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
}

// bearer is the token of the Authorization header.
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
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

// attempt runs check unless there were too many wrong ones from the address. No
// two run at once, so that none slips through beside another.
func (t *throttle) attempt(remote string, check func() bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	from := t.room(network(remote), now)
	seen := t.wrong[from]
	if now.Sub(seen.began) >= wrongWindow {
		seen = window{began: now}
	}
	if seen.count >= maxWrong {
		return wire.Errorf(http.StatusTooManyRequests, "too many wrong tokens from this address: until the minute is over, the right one is refused too")
	}
	if check() {
		return nil
	}
	seen.count++
	t.wrong[from] = seen
	return wire.Errorf(http.StatusUnauthorized, "the token is wrong: the router printed it when it started")
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
