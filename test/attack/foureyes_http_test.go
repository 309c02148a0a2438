package attack

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// overHTTP is the bus of the four eyes whose agents have tokens for the HTTP API.
func (b *fourEyes) overHTTP() *httpBus {
	b.t.Helper()
	h := &httpBus{authBus: b.authBus}
	h.coder, h.rival = h.token("coder", time.Time{}), h.token("rival", time.Time{})
	testkit.Eventually(b.t, "the HTTP API is open", func() bool { return b.s.AgentAddr() != "" })
	h.url = "http://" + b.s.AgentAddr()
	b.t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return h
}

// deployment is an event of coder's session s1, as headers and data say it.
func deployment(id string, more ...string) []string {
	return append([]string{"ce-specversion", "1.0", "ce-type", "tool:pre", "ce-id", id, "ce-source", "/coder", "Hook-Wait-Ms", "0"}, more...)
}

const deployed = `{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"deploy"}}`

// asks has coder ask for a deployment over HTTP, and returns where its answer will be.
func (h *httpBus) asks(headers []string) (pending string) {
	h.t.Helper()
	answer, err := http.DefaultClient.Do(h.request(http.MethodPost, execute, h.coder, deployed, headers...))
	ok(h.t, err)
	ok(h.t, answer.Body.Close())
	if pending = answer.Header.Get("Location"); answer.StatusCode != http.StatusAccepted || pending == "" {
		h.t.Fatalf("coder asks: %d %v", answer.StatusCode, answer.Header)
	}
	return pending
}

// TestHTTPNobodyIsTwoPeople: an agent with a token has one of the two approvals that it
// needs, and tries to go on without the other, or to be somebody else's agent, so that its
// own person may allow.
func TestHTTPNobodyIsTwoPeople(t *testing.T) {
	t.Parallel()
	b := newFourEyes(t)
	h := b.overHTTP()
	allow := approval.Answer{Option: "Allow once"}
	for name, claims := range map[string][]string{
		"as itself":              nil,
		"as rival, by source":    {"ce-agent", "rival", "Hook-Emitter", "nats agent/rival", "ce-hookemitter", "nats agent/rival"},
		"as a person, by header": {"X-Forwarded-User", "bob", "Hook-Agent", "nats approver/bob", "ce-hookrole", "admin"},
	} {
		event := deployment(strings.ReplaceAll(name, " ", "-"), claims...)
		pending := h.asks(event)
		id := strings.TrimPrefix(pending, "/v1/pending/")
		if r := b.record(id); r.Emitter != "nats agent/coder" || r.Needs.People() != 2 || r.Default != "deny" {
			t.Fatalf("%s: %+v", name, r.Request)
		}
		b.refused(id, "ann", allow, "ann asks for it")
		b.refused(id, "ann-phone", allow, "ann asks for it")
		b.allows(id, "bob")
		b.refused(id, "bob", allow, "bob has allowed already")
		once := `{"option":"Allow once","by":"cyd"}`
		for what, r := range map[string]*http.Request{
			"polls":                   h.request(http.MethodGet, pending, h.coder, "", "Prefer", "wait=0"),
			"sends it again":          h.request(http.MethodPost, execute, h.coder, deployed, event...),
			"says that it is a retry": h.request(http.MethodPost, execute, h.coder, deployed, append(event, "Hook-Retry", "1")...),
			"sends other data":        h.request(http.MethodPost, execute, h.coder, strings.Replace(deployed, "deploy", "deploy --force", 1), append(event, "Hook-Retry", "1")...),
			"emits it":                h.request(http.MethodPost, "/v1/emit/tool:pre", h.coder, deployed, event...),
			"answers where it waits":  h.request(http.MethodPost, pending, h.coder, once),
			"answers as a person":     h.request(http.MethodPost, "/v1/approvals/"+id, h.coder, once),
			"answers as the console":  h.request(http.MethodPost, "/v1/approvals/"+id, h.coder, once, "X-Forwarded-User", "cyd"),
			"answers by a link":       h.request(http.MethodPost, "/v1/link", id+".0.AAAAAAAAAAAAAAAAAAAAAA", once),
			"has rival poll":          h.request(http.MethodGet, pending, h.rival, "", "Prefer", "wait=0"),
			"has rival send it":       h.request(http.MethodPost, execute, h.rival, deployed, event...),
		} {
			if status, body := h.do(r); permits(status, body) || strings.Contains(body, `"action":"modify"`) {
				t.Errorf("%s, it %s: %d %s", name, what, status, body)
			}
		}
		if r := b.record(id); r.Decision != nil || r.Progress != "1 of 2: bob allowed; needs 1 of oncall" {
			t.Fatalf("%s: %+v, %+v", name, r.Request, r.Decision)
		}
		b.allows(id, "cyd")
		if status, body := h.do(h.request(http.MethodGet, pending, h.coder, "")); !permits(status, body) {
			t.Errorf("%s: two people allowed: %d %s", name, status, body)
		}
	}
}

// TestHTTPAndNATSAreOneRequest: the same event of the same agent, over HTTP and over NATS,
// is asked about once. Nobody's approval counts on each way.
func TestHTTPAndNATSAreOneRequest(t *testing.T) {
	t.Parallel()
	b := newFourEyes(t)
	h := b.overHTTP()
	first := strings.TrimPrefix(h.asks(deployment("e1")), "/v1/pending/")
	b.allows(first, "bob")
	v := b.executeAs("coder", "e1", "tool:pre", deployed)
	if v.Approval == nil || v.Approval.ID != first {
		t.Fatalf("over NATS: %+v; want the request %s", v, first)
	}
	b.refused(first, "bob", approval.Answer{Option: "Allow once"}, "bob has allowed already")
	b.refused(first, "ann", approval.Answer{Option: "Allow once"}, "ann asks for it")
}

// TestHTTPDialectsNeedTwoPeopleToo: an agent's own words are no way around, and one denial
// or none at all blocks.
func TestHTTPDialectsNeedTwoPeopleToo(t *testing.T) {
	t.Parallel()
	b := newFourEyes(t)
	h := b.overHTTP()
	document := `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"deploy"}}`
	asked := make(chan string, 1)
	ann := b.conn("ann").Conn()
	watch, err := ann.SubscribeSync("hooks.event.approval.required")
	ok(t, err)
	ok(t, ann.Flush())
	go func() {
		_, body := h.do(h.request(http.MethodPost, "/v1/agents/claude-code", h.coder, document, "Hook-Timeout-Ms", "1500"))
		asked <- body
	}()
	_, err = watch.NextMsgWithContext(b.ctx)
	ok(t, err)
	open, _, err := b.person("bob").Pending(b.ctx, approval.Filter{})
	ok(t, err)
	if len(open) != 1 {
		t.Fatalf("%d requests are open", len(open))
	}
	b.allows(open[0].ID, "bob")
	if body := <-asked; !strings.Contains(body, `"permissionDecision":"deny"`) {
		t.Errorf("one of two people allowed: %s", body)
	}
}
