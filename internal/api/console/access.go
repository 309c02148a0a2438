package console

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/web"
)

// access knows the digests of all tokens, and creates and checks sessions.
type access struct {
	holders []holder
	key     func() []byte // signs sessions; replicas with the same configured tokens share it
	wrong   web.Throttle
}

// holder is the owner of a token.
type holder struct {
	who    string // as recorded with answers
	digest [sha256.Size]byte
}

// keyRounds slow down guesses of a token by somebody who has a session or a proof: both reveal
// whether a guess is right. Only a token that a person made up can be guessed.
const keyRounds = 600_000

// newAccess makes the access of a console. key signs sessions; if it is empty, a key derived
// from the tokens does.
func newAccess(token string, people []Person, key []byte) access {
	var holders []holder
	mac := hmac.New(sha256.New, []byte("hookrouter console session v3"))
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
	signs := func() []byte { return key }
	if len(key) == 0 {
		signs = sync.OnceValue(func() []byte { return stretch(mac.Sum(nil)) })
	}
	return access{holders: holders, key: signs}
}

// stretch derives a key in keyRounds.
func stretch(from []byte) []byte {
	key, err := pbkdf2.Key(sha256.New, string(from), []byte("hookrouter console session key"), keyRounds, keySize)
	if err != nil { // never, with these sizes
		panic(err)
	}
	return key
}

// try returns the owner of a token or a session. It counts wrong ones by address and answers 429
// instead of 401 after too many. A valid one is never refused.
func (a *access) try(r *http.Request, token string) (who string, err error) {
	if who, _ = a.ofSession(token, time.Now()); who != "" {
		return who, nil
	}
	given := sha256.Sum256([]byte(token))
	for _, h := range a.holders {
		if hmac.Equal(given[:], h.digest[:]) {
			who = h.who
		}
	}
	if who == "" {
		err = a.wrong.Wrong(r.RemoteAddr, "the token is wrong, or the session is over: the router printed its token when it started")
	}
	return who, err
}

// named returns a person's name as recorded with answers.
func named(name string) string { return "console " + name }

// socketProtocol is the WebSocket protocol of the page. socketBearer precedes the session in the
// list of offered protocols: a browser can set no other header there.
const (
	socketProtocol = "hookrouter.v1"
	socketBearer   = "hookrouter.bearer."
)

// bearer returns the token or session of a request.
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
