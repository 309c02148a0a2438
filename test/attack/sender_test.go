package attack

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// byHand is a connection that speaks the protocol of NATS by hand.
type byHand struct {
	t  *testing.T
	nc net.Conn
	in *bufio.Reader
}

// byHand connects with the credentials of an identity.
func (w *authBus) byHand(name string) *byHand {
	w.t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(w.s.ClientURL(), "nats://"))
	ok(w.t, err)
	w.t.Cleanup(func() { _ = nc.Close() })
	ok(w.t, nc.SetDeadline(time.Now().Add(testkit.Patience)))
	b := &byHand{w.t, nc, bufio.NewReader(nc)}
	info := b.line()
	var hello struct {
		Nonce string `json:"nonce"`
	}
	ok(w.t, json.Unmarshal([]byte(strings.TrimPrefix(info, "INFO ")), &hello))
	text, err := os.ReadFile(w.creds(name))
	ok(w.t, err)
	token, err := jwt.ParseDecoratedJWT(text)
	ok(w.t, err)
	key, err := jwt.ParseDecoratedUserNKey(text)
	ok(w.t, err)
	signed, err := key.Sign([]byte(hello.Nonce))
	ok(w.t, err)
	connect, err := json.Marshal(map[string]any{"jwt": token, "sig": base64.RawURLEncoding.EncodeToString(signed), "headers": true, "no_responders": true, "protocol": 1, "verbose": false})
	ok(w.t, err)
	b.write("CONNECT " + string(connect) + "\r\nPING\r\n")
	for b.line() != "PONG" {
	}
	return b
}

func (b *byHand) write(text string) {
	b.t.Helper()
	_, err := b.nc.Write([]byte(text))
	ok(b.t, err)
}

func (b *byHand) line() string {
	b.t.Helper()
	text, err := b.in.ReadString('\n')
	ok(b.t, err)
	return strings.TrimSuffix(text, "\r\n")
}

// send sends a message, and waits until the server has it.
func (b *byHand) send(args, body string) {
	b.t.Helper()
	b.write(fmt.Sprintf("PUB %s %d\r\n%s\r\nPING\r\n", args, len(body), body))
	for b.line() != "PONG" {
	}
}

// request sends a request with a block of headers as it stands, and returns the answer.
func (b *byHand) request(subject, headers, body string) string {
	b.t.Helper()
	const inbox = "_INBOX.by.hand.x"
	b.write(fmt.Sprintf("SUB %s 1\r\nUNSUB 1 1\r\nHPUB %s %s %d %d\r\n%s%s\r\n", inbox, subject, inbox, len(headers), len(headers)+len(body), headers, body))
	for {
		words := strings.Fields(b.line())
		if words[0] == "-ERR" {
			b.t.Fatal(words)
		}
		if words[0] != "HMSG" && words[0] != "MSG" {
			continue
		}
		size := 0
		_, err := fmt.Sscan(words[len(words)-1], &size)
		ok(b.t, err)
		text := make([]byte, size+2)
		_, err = io.ReadFull(b.in, text)
		ok(b.t, err)
		return string(text)
	}
}

// accountOf is the public key of an identity's account, which is no secret.
func (w *authBus) accountOf(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.creds(name))
	ok(w.t, err)
	token, err := jwt.ParseDecoratedJWT(text)
	ok(w.t, err)
	user, err := jwt.DecodeUserClaims(token)
	ok(w.t, err)
	return cmp.Or(user.IssuerAccount, user.Issuer)
}

// No block of headers makes the router take one agent for another: also none that the NATS
// server's own header becomes part of.
func TestNoHeaderNamesAnotherSender(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	guards, err := worker.New(w.client("guards"), worker.Options{})
	ok(t, err)
	seen := make(chan string, 100)
	_, err = guards.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		seen <- ev.Extensions["hookemitter"]
		return worker.Continue()
	})
	ok(t, err)
	for name, label := range map[string]string{"rival": "nats agent/rival", "admin": "nats admin/admin"} { // by streams, and by service imports
		w.forgeSenders(name, label, seen)
	}
}

func (w *authBus) forgeSenders(name, label string, seen <-chan string) {
	t, rival := w.t, w.byHand(name)
	if answer := rival.request("hooks.execute.tool.pre", "NATS/1.0\r\nA: b\r\n\r\n", "{}"); !strings.Contains(answer, `"action":"continue"`) || <-seen != label {
		t.Fatalf("nobody forges anything: %s", answer)
	}
	forged := fmt.Sprintf(`: {"acc":%q,"rtt":1}`, w.accountOf("coder"))
	for _, name := range []string{"Nats-Request-Info", "nats-request-info", "Nats-Request-Info ", " Nats-Request-Info", "X\nNats-Request-Info", "A-\nNats-Request-Info", "-Nats-Request-Info"} {
		for _, end := range []string{
			"\r\n\r\n", "\n\r\n", "\n\n", "\r\n", "\r\nA: b\r\n", "\r\nA: bcd", "\r\nA:cd", "\nA:cd", "\nA cd", "\r\n:cd", "\r\nStatus: cd", "\r\nA: \rcd", "\r\nA: \r\ncd",
			"\r\n\r\nA: b\r\n\r\n", "\r\n\r\nA: bcd", "\r\nNats-Request-Info: cd", "\r\nNats-Request-Info", "",
		} {
			rival.request("hooks.execute.tool.pre", "NATS/1.0\r\n"+name+forged+end, "{}")
			for len(seen) > 0 {
				if emitter := <-seen; emitter != label {
					t.Errorf("%q: it comes from %q", name+forged+end, emitter)
				}
			}
		}
	}
}

// An agent with many headers, as one has that is traced, has a parent and adds attributes of its
// own, is known like any other.
func TestManyHeadersHideNobody(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	headers := "NATS/1.0\r\n"
	for i := range 40 {
		headers += fmt.Sprintf("X-%d: y\r\n", i)
	}
	if answer := w.byHand("rival").request("hooks.execute.tool.pre", headers+"\r\n", "{}"); !strings.Contains(answer, `"action":"continue"`) {
		t.Errorf("the answer is %s", answer)
	}
}

// An operator who hides in the headers of a request changes nothing: the log would not say who
// it was.
func TestNobodyChangesAnythingUnnamed(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	oscar := w.byHand("oscar")
	for _, headers := range []string{"NATS/1.0\r\nA: b\r\n\r\nA: bcd", "NATS/1.0\r\nA: b\n\r\nA: b\r\n\r\n"} {
		for subject, body := range map[string]string{
			"hooks.freeze": `{"all":true,"reason":"x"}`, "hooks.unregister.guard": `{}`, "hooks.session.close": `{"session_id":"s1","agent":"nats agent/coder"}`,
			"hooks.guard.pin": `{"id":"other"}`, "hooks.hook.enable": `{"id":"guard"}`,
		} {
			if answer := oscar.request(subject, headers, body); !strings.Contains(answer, "Nats-Service-Error-Code: 403") {
				t.Errorf("%s with %q: %s", subject, headers, answer)
			}
		}
	}
	if answer := oscar.request("hooks.frozen", "NATS/1.0\r\nA: b\r\n\r\n", ""); !strings.HasSuffix(answer, "[]\r\n") {
		t.Errorf("frozen: %s", answer)
	}
}
