package integration

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// tokens are those of the console's people.
const tokens = "ann:ann-0123456789abcdef0123,bob:bob-0123456789abcdef0123"

// replica is a router process, whose console knows ann and bob.
type replica struct {
	*routerProcess
	console string
}

func startReplica(t *testing.T, program, url, groups string) replica {
	t.Helper()
	r := startRouter(t, program, "", "", url, "--approval-groups="+groups, "--console-token="+tokens)
	return replica{r, strings.TrimSuffix(find(t, `health\s+(\S+)`, r.Stdout()), "/readyz")}
}

// call makes a request of the console's API as a person.
func (r replica) call(t *testing.T, who, method, path, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(testkit.Within(t, testkit.Patience), method, r.console+path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+who+"-0123456789abcdef0123")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, text
}

// Two people allow, each at another replica. The one that took the first approval is killed
// in between, and a new one in its place knows that approval too.
func TestTheFirstOfTwoApprovalsOutlivesItsRouter(t *testing.T) {
	t.Parallel()
	program := testkit.Program(t, "hook-router", testkit.RaceFlags...)
	groups := filepath.Join(t.TempDir(), "groups.yaml")
	if err := os.WriteFile(groups, []byte("people: {ann: {identities: [console ann]}, bob: {identities: [console bob]}}\ngroups: {owners: [ann, bob]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := natstest.Listening(t)
	nc, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	first, second := startReplica(t, program, s.ClientURL(), groups), startReplica(t, program, s.ClientURL(), groups)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"on_failure":"deny","approval":{"approvers":[{"group":"owners","count":2}]}}`, says(`{"action":"ask_user"}`))
	execute := func(wait string) verdict.Verdict {
		t.Helper()
		v, err := verdict.Parse(request(t, ctx, nc, "hooks.execute.tool.pre", nats.Header{
			"ce-specversion": {"1.0"}, "ce-id": {"e1"}, "ce-source": {"/a"}, "ce-type": {"tool:pre"}, "ce-subject": {"s1"}, "Hook-Wait-Ms": {wait}, "Hook-Retry": {"1"},
		}, `{"command":"ls"}`).Data)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := execute("1")
	if v.Action != verdict.Pending {
		t.Fatalf("%+v; want that people are asked", v)
	}
	path := "/v1/approvals/" + v.Approval.ID
	status, body := first.call(t, "ann", http.MethodPost, path, `{"option":"Allow"}`)
	if status != http.StatusOK || !strings.Contains(string(body), `"open":true`) || !strings.Contains(string(body), "1 of 2: ann allowed; needs 1 of owners") {
		t.Fatalf("ann allows: %d %s", status, body)
	}
	_ = first.End(t, syscall.SIGKILL)
	third := startReplica(t, program, s.ClientURL(), groups)
	for name, r := range map[string]replica{"that was there": second, "that is new": third} {
		if status, body := r.call(t, "ann", http.MethodPost, path, `{"option":"Allow"}`); status != http.StatusConflict || !strings.Contains(string(body), "ann has allowed already") {
			t.Errorf("ann allows again at the replica %s: %d %s", name, status, body)
		}
		if _, body := r.call(t, "bob", http.MethodGet, "/v1/approvals", ""); !strings.Contains(string(body), "1 of 2: ann allowed") {
			t.Errorf("the list of the replica %s: %s", name, body)
		}
	}
	if v := execute("1"); v.Action != verdict.Pending {
		t.Errorf("one of two allowed: %+v", v)
	}
	if m := request(t, ctx, nc, "hooks.approve."+v.Approval.ID, nil, `{"option":"Allow","by":"bob"}`); code(m) != "403" {
		t.Errorf("nobody proven allows, as bob: %v", m.Header)
	}
	if status, body := third.call(t, "bob", http.MethodPost, path, `{"option":"Allow"}`); status != http.StatusOK || strings.Contains(string(body), "open") {
		t.Fatalf("bob allows: %d %s", status, body)
	}
	if v := execute("20000"); v.Action != verdict.Continue {
		t.Errorf("both allowed: %+v", v)
	}
	_, body = second.call(t, "bob", http.MethodGet, path, "")
	var record approval.Record
	if err := json.Unmarshal(body, &record); err != nil || record.Decision == nil || !slices.Equal(record.ApprovedBy, []string{"console ann", "console bob"}) {
		t.Errorf("%s, %v", body, err)
	}
	_ = second.End(t, syscall.SIGKILL)
	_ = third.End(t, syscall.SIGKILL)
}
