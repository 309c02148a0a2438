package grafana

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// everything makes a router do all that it counts.
func everything(t *testing.T) *running {
	t.Helper()
	r := run(t, "--ttl=1s", "--max-per-session=1", "--chain-timeout=4s")
	r.hook("lets", `"events":["tool:*"]`, says(`{}`))
	r.hook("writes", `"events":["tool:pre"],"match":"data.tool_name == 'Write'"`, says(`{}`))
	r.hook("denies", `"events":["session:start"],"on_failure":"deny"`, says(`{"action":"deny","reason":"no"}`))
	r.hook("hangs", `"events":["session:end"],"timeout_ms":50`, says(""))
	r.register("nobody", `"events":["session:end"]`)
	r.hook("injects", `"events":["prompt:submit"]`, says(`{"action":"inject_context","context_injection":"text"}`))
	r.hook("floods", `"events":["prompt:submit"],"priority":1`, says(`{"action":"inject_context","context_injection":"`+strings.Repeat("x", 20<<10)+`"}`))
	r.hook("asks", `"events":["custom:ask"]`, says(`{"action":"ask_user","approval_prompt":"May it?"}`))

	for _, event := range []string{"tool.pre", "tool.post", "session.start", "session.end"} {
		r.ask("hooks.emit."+event, `{"tool_name":"Bash","session_id":"s1"}`, "")
	}
	r.ask("hooks.execute.prompt.submit", `{"session_id":"s1"}`, "")
	r.ask("hooks.collect.tool.pre", `{"tool_name":"Bash"}`, "")
	for _, verb := range []string{"emit", "execute", "collect"} {
		r.ask("hooks."+verb+".tool.pre", `[]`, "400")
	}
	r.person()
	r.vain()
	r.crowd()
	r.registrations()
	r.shadows()
	r.lost()
	return r
}

// person answers an approval request.
func (r *running) person() {
	pending := r.ask("hooks.execute.custom.ask", `{"session_id":"s2"}`, "")
	var told struct {
		ApprovalID string `json:"approval_id"`
		Approval   struct{ ID string }
	}
	if err := json.Unmarshal(pending.Data, &told); err != nil {
		r.t.Fatal(err)
	}
	if told.ApprovalID == "" {
		told.ApprovalID = told.Approval.ID
	}
	if told.ApprovalID == "" {
		r.t.Fatalf("nobody is asked: %s", pending.Data)
	}
	r.ask("hooks.approve."+told.ApprovalID, `{"option":"Allow","by":"ann"}`, "")
}

// vain has a hook called beside one that denies.
func (r *running) vain() {
	called := make(chan struct{})
	r.hook("judges", `"events":["custom:vain"],"effect":"validate","protocol":2`, func(*nats.Msg) string { <-called; return `{"action":"deny"}` })
	r.hook("late", `"events":["custom:vain"],"effect":"validate","protocol":2`, func(*nats.Msg) string { close(called); return "" })
	r.ask("hooks.emit.custom.vain", `{}`, "")
}

// crowd has a session do more than it may, and a chain take more time than it has.
func (r *running) crowd() {
	called, answer := make(chan struct{}), make(chan struct{})
	r.hook("slow", `"events":["custom:slow"],"timeout_ms":4000`, func(*nats.Msg) string { close(called); <-answer; return `{}` })
	first := r.publish("hooks.emit.custom.slow", `{"session_id":"s3"}`)
	<-called
	r.ask("hooks.emit.custom.slow", `{"session_id":"s3"}`, "429")
	close(answer)
	r.next(first)
	r.hook("endless", `"events":["custom:endless"],"timeout_ms":10000`, says(""))
	r.ask("hooks.emit.custom.endless", `{}`, "504")
}

// registrations come, change and go.
func (r *running) registrations() {
	for _, ask := range []struct{ subject, body string }{
		{"hooks.register.restless", `{"events":["custom:x"],"instance":"a"}`},
		{"hooks.register.restless", `{"events":["custom:x"],"instance":"b"}`},
		{"hooks.register.restless", `{"events":["custom:y"],"instance":"b"}`},
		{"hooks.unregister.restless", `{"instance":"b"}`},
		{"hooks.unregister.restless", `{}`},
		{"hooks.register.gone", `{"events":["custom:x"],"instance":"a"}`}, // and never again
	} {
		r.ask(ask.subject, ask.body, "")
	}
}

// shadows are more than may be under way.
func (r *running) shadows() {
	var held []*nats.Msg // the subscription's goroutine alone has them, until it is told to answer
	answer := make(chan struct{})
	sub, err := r.nc.Subscribe("hooks.call.shadow", func(m *nats.Msg) {
		select {
		case <-answer:
			_ = m.Respond([]byte(`{}`))
			return
		default:
		}
		if held = append(held, m); len(held) < shadowLimit {
			return
		}
		<-answer
		for _, one := range held {
			_ = one.Respond([]byte(`{}`))
		}
	})
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	r.register("shadow", `"events":["custom:shadow"],"mode":"shadow","timeout_ms":30000`)
	inbox := r.inbox()
	for range shadowLimit + 1 {
		r.send("hooks.emit.custom.shadow", inbox.Subject, `{}`)
	}
	for range shadowLimit + 1 {
		r.next(inbox)
	}
	close(answer)
	r.until("shadow hooks answered, and one was left out", func() bool {
		shown := r.metrics()
		return shown["hookrouter_shadow_results_total"] != nil && shown["hookrouter_shadow_dropped_total"] != nil
	})
}

// shadowLimit is how many calls of shadow hooks a router has under way.
const shadowLimit = 256

// lost is what is answered where the audit log takes nothing.
func (r *running) lost() {
	r.retune(1)
	r.ask("hooks.emit.tool.pre", `{"tool_name":"Bash"}`, "503")
	r.retune(-1)
}

// retune changes how much the audit log takes.
func (r *running) retune(most int64) {
	js, err := jetstream.New(r.nc)
	if err != nil {
		r.t.Fatal(err)
	}
	stream, err := js.Stream(r.ctx, "HOOKS_AUDIT")
	if err != nil {
		r.t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	config.MaxBytes = most
	if _, err := js.UpdateStream(r.ctx, config); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) inbox() *nats.Subscription {
	sub, err := r.nc.SubscribeSync(nats.NewInbox())
	if err != nil {
		r.t.Fatal(err)
	}
	return sub
}

func (r *running) send(subject, reply, body string) {
	if err := r.nc.PublishRequest(subject, reply, []byte(body)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) publish(subject, body string) *nats.Subscription {
	inbox := r.inbox()
	r.send(subject, inbox.Subject, body)
	return inbox
}

func (r *running) next(sub *nats.Subscription) {
	if _, err := sub.NextMsgWithContext(r.ctx); err != nil {
		r.t.Fatal(err)
	}
}

// patience is how long what was done may take to be counted: the expiry of an
// instance comes last.
const patience = 30 * time.Second

// asked are all expressions of the dashboard, of the rules and of the runbook, by where
// they stand.
func asked(d *Dashboard, rules []rulefmt.Rule, page string) map[string]string {
	all := d.Expressions()
	for i, line := range Snippets(page, "promql") {
		all[fmt.Sprint("runbook ", i, " ", line)] = strings.ReplaceAll(line, "HOOK", "hangs")
	}
	for _, r := range rules {
		all["rule "+r.Record+r.Alert] = r.Expr
	}
	return all
}

// What panels and rules name is what a router that has done everything shows, and a worker.
func TestEveryNameIsShown(t *testing.T) {
	r := everything(t)
	worker := r.worker()
	rules, began := deployed(t), time.Now()
	var wrong []string
	r.until("all is counted", func() bool {
		shown := r.metrics()
		maps.Copy(shown, worker())
		shown.add("hookrouter_refused_total", map[string]string{"code": "500"}) // a defect, which none is known of
		shown, err := shown.With(rules)
		if err != nil {
			t.Fatal(err)
		}
		wrong = nil
		for where, expr := range asked(board(t), rules, string(read(t, pageAt))) {
			for _, lack := range shown.Lacks(expr) {
				wrong = append(wrong, where+": "+lack)
			}
		}
		return len(wrong) == 0 || time.Since(began) > patience
	})
	slices.Sort(wrong)
	for _, one := range wrong {
		t.Error(one)
	}
}

// Whatever routers and workers show stands in the dashboard.
func TestTheDashboardShowsEveryMetric(t *testing.T) {
	page := string(read(t, root+"/docs/telemetry.md"))
	var text strings.Builder
	for _, expr := range board(t).Expressions() {
		text.WriteString(expr + "\n")
	}
	count := 0
	for line := range strings.Lines(page) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		if !strings.HasPrefix(name, "hookrouter_") && !strings.HasPrefix(name, "hook_worker_") {
			continue
		}
		if count++; !strings.Contains(text.String(), name) {
			t.Errorf("no panel shows %s", name)
		}
	}
	if count < 25 {
		t.Errorf("the table of metrics has %d", count)
	}
}

func TestWhatNoRouterShowsIsFound(t *testing.T) {
	shown := Shown{"a_total": {"hook": {"h"}, "class": {"x", "y"}}, "b_bucket": {"le": {"1"}}}
	for expr, want := range map[string]string{
		`sum by (hook) (rate(a_total[5m]))`:                  "",
		`a_total{job=~".*",class=~"x|y"}`:                    "",
		`sum by (le, instance) (rate(b_bucket[5m]))`:         "",
		`rate(gone_total[5m])`:                               `nobody shows "gone_total"`,
		`a_total{agent="x"}`:                                 `a_total has no label "agent"`,
		`a_total{class="z"}`:                                 `never shown with class="z"`,
		`a_total{class=~"x|z"}`:                              `never shown with class="z"`,
		`sum by (agent) (a_total)`:                           `a_total is grouped by "agent"`,
		`1 + (a_total unless max by (hook) (b_bucket))`:      `b_bucket is grouped by "hook"`,
		`sum(rate(a_total[5m])`:                              `it can't be read`,
		`topk(3, avg_over_time(nothing[1h:5m] offset 1m))`:   `nobody shows "nothing"`,
		`histogram_quantile(0.9, sum by (le) (missing) > 1)`: `nobody shows "missing"`,
	} {
		got := strings.Join(shown.Lacks(expr), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	all, err := shown.With([]rulefmt.Rule{{Record: "new", Expr: "sum by (hook) (a_total)"}})
	if err != nil || !slices.Contains(slices.Collect(maps.Keys(all["new"])), "hook") || all["a_total"] == nil {
		t.Errorf("recorded: %v, %v", all, err)
	}
}
