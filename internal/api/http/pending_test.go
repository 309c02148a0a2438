package httpapi_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// pending executes an event that a person is asked about, and returns where to resume.
func (b *bus) pending() (location string) {
	b.Helper()
	got := b.post(tool, `{"session_id":"s1"}`, "Hook-Wait-Ms", "0")
	location = got.header.Get("Location")
	if got.code != http.StatusAccepted || !strings.HasPrefix(got.body, `{"action":"pending"`) || !strings.HasPrefix(location, "/v1/pending/") {
		b.Fatalf("execute: %+v", got)
	}
	return location
}

func id(location string) string { return strings.TrimPrefix(location, "/v1/pending/") }

func TestAskedAndResumed(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.asks()
	location := b.pending()
	if got := b.get(location, "Prefer", "respond-async, wait=0"); got.code != http.StatusAccepted || got.header.Get("Preference-Applied") != "wait=0" {
		t.Errorf("still open: %+v", got)
	}
	done := make(chan reply)
	go func() { done <- b.get(location, "Prefer", "wait=30") }()
	b.approve(id(location), "Allow")
	if got := testkit.Receive(t, "the verdict", done); got.code != http.StatusOK || !strings.HasPrefix(got.body, `{"action":"continue"`) {
		t.Errorf("allowed: %+v", got)
	}
	if got := b.get(location); got.code != http.StatusOK || !strings.HasPrefix(got.body, `{"action":"continue"`) {
		t.Errorf("asked for again: %+v", got)
	}
}

// An execute waits for the person itself.
func TestAskedAndAwaited(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.asks()
	done := make(chan reply)
	go func() { done <- b.post(tool, `{}`) }()
	b.approve(b.asked(), "Deny")
	if got := testkit.Receive(t, "the verdict", done); got.code != http.StatusOK || !strings.Contains(got.body, `"reason":"User denied: Deploy?"`) {
		t.Errorf("denied: %+v", got)
	}
}

// asked is the approval request that is open.
func (b *bus) asked() (id string) {
	b.Helper()
	nc := b.client("admin").Conn()
	testkit.Eventually(b, "a person is asked", func() bool {
		m, err := nc.Request("hooks.approvals", nil, testkit.Patience)
		var list []struct{ ID string }
		if err != nil || json.Unmarshal(m.Data, &list) != nil || len(list) == 0 {
			return false
		}
		id = list[0].ID
		return true
	})
	return id
}

// Another agent can't reach an approval request, whatever it knows of it.
func TestTheApprovalRequestsOfOthers(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.asks()
	rival := []string{"Authorization", "Bearer " + b.add("rival", zero), "Hook-Wait-Ms", "0"}
	event := []string{"ce-specversion", "1.0", "ce-id", "e1", "ce-source", "/coder", "ce-type", "tool:pre", "ce-subject", "s1", "Hook-Retry", "1", "Hook-Wait-Ms", "0"}
	first := b.post(tool, `{}`, event...)
	mine := first.header.Get("Location")
	b.approve(id(mine), "Allow")
	if got := b.post(tool, `{}`, append(event, "Hook-Wait-Ms", "20000")...); got.code != http.StatusOK {
		t.Errorf("sent again: %+v", got)
	}
	none := b.get("/v1/pending/"+strings.Repeat("a", 26), rival...)
	got := b.get(mine, rival...)
	if got.code != http.StatusNotFound || strings.ReplaceAll(got.body, id(mine), "") != strings.ReplaceAll(none.body, strings.Repeat("a", 26), "") {
		t.Errorf("of another agent: %+v, which is not as where there is none: %+v", got, none)
	}
	if got := b.post(tool, `{}`, append(event, rival...)...); got.code != http.StatusAccepted || got.header.Get("Location") == mine {
		t.Errorf("the same event of another agent: %+v", got)
	}
}

// A token that ends while its agent waits gets no verdict.
func TestATokenThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.asks()
	b.add("other", zero) // so that the API stays open
	done := make(chan reply)
	go func() { done <- b.post(tool, `{}`) }()
	asked := b.asked()
	if _, err := b.authority.Revoke("coder"); err != nil {
		t.Fatal(err)
	}
	b.approve(asked, "Allow")
	if got := testkit.Receive(t, "an answer", done); got.code != http.StatusUnauthorized || strings.Contains(got.body, "continue") {
		t.Errorf("%+v", got)
	}
}

// events reads the events of a stream.
func events(t testing.TB, r *http.Response) <-chan [2]string {
	t.Helper()
	all := make(chan [2]string)
	go func() {
		defer close(all)
		defer r.Body.Close()
		lines := bufio.NewScanner(r.Body)
		var name, data string
		for lines.Scan() {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "event: "):
				name = line[7:]
			case strings.HasPrefix(line, "data: "):
				data += line[6:]
			case line == "" && name != "":
				all <- [2]string{name, data}
				name, data = "", ""
			}
		}
	}()
	return all
}

func (b *bus) stream(r *http.Request) <-chan [2]string {
	b.Helper()
	r.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r) //nolint:bodyclose // events does
	if err != nil {
		b.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		b.Fatalf("stream: %v", resp)
	}
	return events(b.TB, resp)
}

func TestStream(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.asks()
	all := b.stream(b.request(http.MethodPost, tool, "{\"x\":\r\n1}"))
	first := testkit.Receive(t, "an event", all)
	if first[0] != "pending" || !strings.Contains(first[1], `"prompt":"Deploy?"`) {
		t.Fatalf("first: %v", first)
	}
	asked := b.asked()
	second := b.stream(b.request(http.MethodGet, "/v1/pending/"+asked, ""))
	if got := testkit.Receive(t, "an event", second); got[0] != "pending" {
		t.Errorf("resumed: %v", got)
	}
	b.approve(asked, "Allow")
	for name, from := range map[string]<-chan [2]string{"first": all, "resumed": second} {
		if got := testkit.Receive(t, "a verdict", from); got[0] != "verdict" || !strings.HasPrefix(got[1], `{"action":"continue","data":{"x":1`) {
			t.Errorf("%s: %v", name, got)
		}
		if got, more := <-from; more {
			t.Errorf("%s: more follows: %v", name, got)
		}
	}
	if got := testkit.Receive(t, "a verdict", b.stream(b.request(http.MethodPost, "/v1/execute/tool:post", `{}`))); got[0] != "verdict" {
		t.Errorf("without a person: %v", got)
	}
}

// A stream whose token ends has no verdict.
func TestAStreamWhoseTokenEnds(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.asks()
	b.add("other", zero) // so that the API stays open
	all := b.stream(b.request(http.MethodPost, tool, `{}`))
	testkit.Receive(t, "a pending verdict", all)
	if _, err := b.authority.Revoke("coder"); err != nil {
		t.Fatal(err)
	}
	b.approve(b.asked(), "Allow")
	if got := testkit.Receive(t, "an event", all); got[0] != "error" || !strings.Contains(got[1], `"code":401`) {
		t.Errorf("%v", got)
	}
}
