package attack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// serves checks that the router still answers an agent, as the guard says.
func (w *authBus) serves(what string) {
	w.t.Helper()
	m, err := w.conn("coder").Conn().RequestWithContext(testkit.Within(w.t, testkit.Patience), "hooks.execute.tool.pre", []byte(`{"command":"rm -rf /"}`))
	if err != nil || !strings.Contains(string(m.Data), `"action":"deny"`) {
		w.t.Errorf("after %q, the guard's denial is %v, %v", what, m, err)
	}
}

// TestASubjectAddsNoWords: the server passes on a carriage return within a subject, which the client
// library takes for a space.
func TestASubjectAddsNoWords(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	w.guard()
	for _, from := range []struct{ name, args string }{
		{"rival", "hooks.execute.tool.pre\rx _INBOX.x"},
		{"rival", "hooks.execute.tool.pre _INBOX.x\ry"},
		{"rival", "hooks.execute.tool.pre\r _INBOX.x\r"},
		{"ann", "hooks.approve.a\rb _INBOX.x"},
		{"oscar", "$SRV.PING.a\rb _INBOX.x"},
	} {
		w.byHand(from.name).send(from.args, "{}")
		w.serves(from.args)
	}
	for _, from := range []struct{ name, subject string }{{"rival", "hooks.emit.x"}, {"ann", "hooks.approve.x"}} {
		by := w.byHand(from.name)
		for subscription := range 100 {
			by.send(fmt.Sprintf("%s\r%d", from.subject, subscription), `{"replica":"other","nobody":"guard"}`)
		}
		w.serves(from.subject)
	}
}

// TestALongReplySubjectEndsNoConnection: the subject of a reply to an agent is longer than the one that
// the agent chose, and the server closes connections that send long lines.
func TestALongReplySubjectEndsNoConnection(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	w.guard()
	for _, n := range []int{1000, 2000, 3000, 4000, 4060} {
		w.byHand("rival").send("hooks.emit.a _INBOX."+strings.Repeat("x", n), "{}")
		w.serves(fmt.Sprintf("a reply subject of %d bytes", n))
	}
}
