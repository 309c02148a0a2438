package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// What can't be put to a person, or answered, denies, and says so; a time that
// makes no sense is none, or the most there is.
func TestQuestionsThatCannotBePut(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{MaxReply: 2 << 20})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	required := listen(t, nc, "hooks.event.approval.required")
	options := make([]string, 200)
	for i := range options {
		options[i] = fmt.Sprint("option ", i)
	}
	many, _ := json.Marshal(options)
	question := func(more string) string { return `{"action":"ask_user","approval_default":"allow"` + more + `}` }
	for name, tt := range map[string]struct {
		hook    string
		pending time.Duration // how long it may be answered; 0: it is denied without an approval request
		timeOut bool          // it is over at once
	}{
		"a prompt of 1 MB":           {hook: question(`,"approval_prompt":"` + strings.Repeat("x", 1<<20) + `"`)},
		"200 options":                {hook: question(`,"approval_options":` + string(many))},
		"a blank option":             {hook: question(`,"approval_options":["Allow"," "]`)},
		"the same option twice":      {hook: question(`,"approval_options":["Allow","ALLOW"]`)},
		"an option with an escape":   {hook: question(`,"approval_options":["Allow\u001b[2J"]`)},
		"no options at all":          {hook: question(`,"approval_options":[]`), pending: 300 * time.Second},
		"a negative time":            {hook: question(`,"approval_timeout":-5`), timeOut: true},
		"no time":                    {hook: question(`,"approval_timeout":0`), timeOut: true},
		"a time of years":            {hook: question(`,"approval_timeout":1e300`), pending: approval.MaxTimeout},
		"a prompt with escapes":      {hook: question(`,"approval_prompt":"a\u001b[2Jb\u202e"`), pending: 300 * time.Second},
		"a prompt of 16,000 letters": {hook: question(`,"approval_prompt":"` + strings.Repeat("x", 16_000) + `"`), pending: 300 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(tt.hook))
			header := event(name, "Hook-Wait-Ms", "1")
			if tt.timeOut {
				header = event(name)
			}
			header["ce-id"] = []string{strings.ReplaceAll(name, " ", "-")}
			v := executed(t, nc, "tool:pre", header, `{}`)
			switch {
			case tt.pending > 0:
				q := openQuestion(t, ctx, required)
				if v.Action != verdict.Pending || q.Expires.Sub(q.Created.Time) != tt.pending || len(q.Options) == 0 {
					t.Errorf("verdict %+v, approval request %+v", v, q)
				}
			case tt.timeOut: // the default that the hook chose decides
				if v.Action != verdict.Continue || !v.Approval.TimedOut {
					t.Errorf("verdict %+v %+v", v, v.Approval)
				}
				openQuestion(t, ctx, required)
			default:
				if v.Action != verdict.Deny || !strings.HasPrefix(v.Reason, "Approval error - denied by default: ") || len(v.Reason) > 400 || v.Data != nil {
					t.Errorf("verdict %+v", v)
				}
				if m, err := required.NextMsg(10 * time.Millisecond); err == nil {
					t.Errorf("a person was asked: %.300s", m.Data)
				}
			}
		})
	}
}

// Answers that decide nothing, each with its reason; the approval request stays open.
func TestAnswersThatDecideNothing(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1"), `{}`)
	q := openQuestion(t, ctx, required)
	for name, tt := range map[string]struct{ subject, body, code, text string }{
		"an option that was not offered":  {q.ID, `{"option":"Yes"}`, "400", `"Allow once"`},
		"no option":                       {q.ID, `{}`, "400", "no option"},
		"nothing":                         {q.ID, ``, "400", "no option"},
		"an option with a blank":          {q.ID, `{"option":"Allow once "}`, "400", "not one of"},
		"both an option and an error":     {q.ID, `{"option":"Deny","error":"x"}`, "400", "one of them"},
		"to other data":                   {q.ID, `{"option":"Deny","data_sha256":"` + strings.Repeat("0", 64) + `"}`, "409", q.DataSHA256},
		"a note of 1 MB":                  {q.ID, `{"option":"Deny","note":"` + strings.Repeat("x", 1<<20) + `"}`, "413", "at most"},
		"a note of 8 KB":                  {q.ID, `{"option":"Deny","note":"` + strings.Repeat("x", 8<<10) + `"}`, "400", "note has 8192 bytes"},
		"an unknown field":                {q.ID, `{"option":"Deny","granted":true}`, "400", `unknown field "granted"`},
		"an option that is no text":       {q.ID, `{"option":5}`, "400", `"option" of the body is of the wrong type`},
		"a field twice":                   {q.ID, `{"option":"Deny","option":"Allow once"}`, "400", "option"},
		"no JSON":                         {q.ID, `Allow once`, "400", ""},
		"a list":                          {q.ID, `["Allow once"]`, "400", ""},
		"an approval request nobody made": {"aaaa", `{"option":"Deny"}`, "404", "no approval request"},
		"a name that is no id":            {"A_B", `{"option":"Deny"}`, "404", "no approval request"},
	} {
		t.Run(name, func(t *testing.T) {
			m := request(t, ctx, nc, "hooks.approve."+tt.subject, nil, tt.body)
			if text := m.Header.Get("Nats-Service-Error"); code(m) != tt.code || !strings.Contains(text, tt.text) {
				t.Errorf("got %v %s, want %s with %q", m.Header, m.Data, tt.code, tt.text)
			}
		})
	}
	for _, header := range []nats.Header{event("e9", "Hook-Wait-Ms", "soon"), event("e9", "Hook-Wait-Ms", "-1")} {
		if m := request(t, ctx, nc, "hooks.execute.tool.pre", header, `{}`); code(m) != "400" {
			t.Errorf("%v: %v", header, m.Header)
		}
	}
	if list := decode[[]approval.Request](t, request(t, ctx, nc, "hooks.approvals", nil, `{"session_id":"s1"}`).Data); len(list) != 1 || list[0].ID != q.ID {
		t.Errorf("open are %+v", list)
	}
	// What no subject of a worker may do: write a decision as an ordinary message.
	if err := nc.Publish("hooks.event.approval.granted", []byte(`{"id":"`+q.ID+`"}`)); err != nil {
		t.Fatal(err)
	}
	m := request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"maybe later","free_text":true}`)
	if code(m) != "" {
		t.Errorf("free text was refused: %v", m.Header)
	}
	if v := executed(t, nc, "tool:pre", event("e1", "Hook-Retry", "1"), `{}`); v.Action != verdict.Deny || v.Approval.Option != "maybe later" {
		t.Errorf("verdict %+v %+v", v, v.Approval)
	}
}

// Where answers must come from somebody, one from nobody known is refused, and
// what a request says of itself proves nothing.
func TestAnAnswerFromNobodyKnown(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	r, _ := routertest.Start(t, s, router.Options{Approvals: approvals.Options{ProvenOnly: true}, Accounts: true})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1"), `{}`)
	q := openQuestion(t, ctx, required)
	for _, header := range []nats.Header{nil, {"Nats-Request-Info": {`{"acc":"APPROVERS","user":"ann"}`}}} {
		if m := request(t, ctx, nc, "hooks.approve."+q.ID, header, `{"option":"Allow once","by":"ann"}`); code(m) != "403" {
			t.Errorf("%v: %v %s", header, m.Header, m.Data)
		}
	}
	d, err := r.Approvals().Answer(ctx, q.ID, approval.Answer{Option: "Allow once", By: "ann"}, "console token")
	if err != nil || d.DecidedBy != "console token" || d.ClaimedBy != "ann" {
		t.Errorf("%+v, %v", d, err)
	}
}

// Open approval requests are bounded, for a session and in all.
func TestTooManyQuestions(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{Approvals: approvals.Options{MaxOpen: 30}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	ask := func(session string, n int) *nats.Msg {
		header := event(fmt.Sprint("e", n), "Hook-Wait-Ms", "1")
		header["ce-subject"] = []string{session}
		return request(t, ctx, nc, "hooks.execute.tool.pre", header, `{}`)
	}
	refused := 0
	for n := range 40 {
		m := ask(fmt.Sprint("s", n%2), n)
		if code(m) == "429" && strings.Contains(m.Header.Get("Nats-Service-Error"), "30 approval requests are open") {
			refused++
		} else if code(m) != "" {
			t.Fatal(m.Header)
		}
	}
	if refused != 10 {
		t.Errorf("refused %d of 40 at a limit of 30", refused)
	}
}

func TestTooManyQuestionsOfASession(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{Registry: registry.Options{TTL: time.Hour}}) // nobody renews the hook
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 120*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	n, opened := testkit.Volume(t, 120, 1000, 10_000), 0
	for i := range n {
		m := request(t, ctx, nc, "hooks.execute.tool.pre", event(fmt.Sprint("e", i), "Hook-Wait-Ms", "1"), `{}`)
		switch code(m) {
		case "":
			opened++
		case "429":
		default:
			t.Fatal(m.Header)
		}
	}
	list := request(t, ctx, nc, "hooks.approvals", nil, "")
	if got := decode[[]approval.Request](t, list.Data); opened != 100 || len(got) != 100 || list.Header.Get("Hook-Total") != "100" {
		t.Errorf("%d of %d were opened, %d are listed", opened, n, len(got))
	}
	// Another session has its own room.
	other := event("x", "Hook-Wait-Ms", "1")
	other["ce-subject"] = []string{"s2"}
	if m := request(t, ctx, nc, "hooks.execute.tool.pre", other, `{}`); code(m) != "" {
		t.Errorf("another session was refused: %v", m.Header)
	}
}
