package docs_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Where several people must allow, the first approval is announced as described.
func TestAReviewIsAnnouncedAsDescribed(t *testing.T) {
	t.Parallel()
	_, plain := loadAPI(t)
	who, err := people.Parse("groups.yaml", []byte(`{people: {ann: {identities: [console ann]}, bob: {identities: [console bob]}},
  groups: {owners: [ann, bob]}, approvals: [{hook: ask, approvers: [{group: owners, count: 2}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := natstest.Server(t)
	r, _ := routertest.Start(t, s, router.Options{People: who})
	nc := natstest.Conn(t, s)
	if _, err := nc.Subscribe("hooks.call.ask", func(m *nats.Msg) { _ = m.Respond([]byte(`{"action":"ask_user"}`)) }); err != nil {
		t.Fatal(err)
	}
	watch, err := nc.SubscribeSync("hooks.event.approval.reviewed")
	if err != nil {
		t.Fatal(err)
	}
	request := func(subject, body string) []byte {
		t.Helper()
		m, err := nc.RequestMsg(&nats.Msg{Subject: subject, Header: nats.Header{"Hook-Wait-Ms": {"0"}}, Data: []byte(body)}, testkit.Patience)
		if err != nil {
			t.Fatal(err)
		}
		return m.Data
	}
	request("hooks.register.ask", `{"events":["tool:pre"]}`)
	v, err := verdict.Parse(request("hooks.execute.tool.pre", `{"session_id":"s1"}`))
	if err != nil || v.Action != verdict.Pending {
		t.Fatalf("%+v, %v; want that people are asked", v, err)
	}
	if _, err := r.Approvals().Answer(t.Context(), v.Approval.ID, approval.Answer{Option: "Allow", Note: "fine"}, "console ann"); err != nil {
		t.Fatal(err)
	}
	m, err := watch.NextMsg(10 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string]any{}
	for k, v := range m.Header {
		headers[k] = v[0]
	}
	var body map[string]any
	if err := json.Unmarshal(m.Data, &body); err != nil {
		t.Fatal(err)
	}
	message, ok := resolve(plain, "#/components/messages/approvalReviewed")
	if !ok {
		t.Fatal("there is no message approvalReviewed")
	}
	described := message.(map[string]any)
	errs := append(conform(plain, described["headers"], headers, "header"), conform(plain, described["payload"], body, "body")...)
	for _, e := range errs {
		t.Errorf("%s: %v %s", e, m.Header, m.Data)
	}
	if body["reviews"] == nil || body["progress"] == nil {
		t.Errorf("%s; want who has allowed and what is missing", m.Data)
	}
}
