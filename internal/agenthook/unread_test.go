package agenthook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// An event that can't be read is reported where the agent goes on: an agent can't keep a result out
// of the audit log by its form.
func TestUnreadableIsReported(t *testing.T) {
	t.Parallel()
	b := start(t)
	reports := b.reports()
	whole := `{"hook_event_name":"PostToolUseFailure","session_id":"s1","tool_name":"shell","error":RESULT}`
	for result, want := range map[string]struct{ cause, session string }{
		`"\ud83d"`: {"surrogate", "s1"},
		"\"\xff\"": {"UTF-8", "s1"},
		strings.Repeat("[", 70) + strings.Repeat("]", 70): {"deeper", "s1"},
		`{"a":1,"a":2}`:                     {"twice", "s1"},
		`{`:                                 {"EOF", ""},
		strings.Repeat(" ", 64<<20) + `"x"`: {"longer than 64 MiB", ""},
	} {
		document := strings.Replace(whole, "RESULT", result, 1)
		out := newCall(t, "qwen", "PostToolUseFailure", b.url).Run(t.Context(), strings.NewReader(document))
		if blocks(out) || !strings.Contains(string(out.Stdout), want.cause) {
			t.Errorf("%.40q: %s; want it to pass, and told", result, out.Stdout)
		}
		var report struct {
			Session string `json:"session_id"`
			Events  []struct {
				Event, Cause string
				Tool         string `json:"tool_name"`
			}
		}
		if err := json.Unmarshal(testkit.Receive(t, "the report", reports), &report); err != nil {
			t.Fatal(err)
		}
		if report.Session != want.session || len(report.Events) != 1 || report.Events[0].Event != "tool:error" || report.Events[0].Tool != map[bool]string{true: "shell"}[want.session != ""] || !strings.Contains(report.Events[0].Cause, want.cause) {
			t.Errorf("%.40q: reported %+v", result, report)
		}
		gated := strings.Replace(document, "PostToolUseFailure", "PostToolUse", 1)
		out = newCall(t, "codex", "PostToolUse", b.url).Run(t.Context(), strings.NewReader(gated))
		if !blocks(out) || len(reports) > 0 {
			t.Errorf("%.40q: %s, %d reports; want it blocked and not reported", result, out.Stdout, len(reports))
		}
	}
}

// told is a router that keeps what it is told.
type told struct{ events []agenthook.Sent }

func (r *told) Emit(_ context.Context, e agenthook.Sent) (chain.Result, error) {
	r.events = append(r.events, e)
	return chain.Result{}, nil
}

func (r *told) Execute(context.Context, agenthook.Sent) (verdict.Verdict, error) {
	return verdict.Verdict{}, errors.New("nothing to decide")
}

// The same holds where the router itself reads the message, over HTTP.
func TestUnreadableIsReportedOverHTTP(t *testing.T) {
	t.Parallel()
	h, r := newCall(t, "qwen", "PostToolUseFailure", ""), new(told)
	h.Router = r
	h.Answer(t.Context(), []byte(`{"session_id":"s1","error":"\ud83d"}`))
	if len(r.events) != 1 || r.events[0].Name != agenthook.UncheckedEvent || !strings.Contains(string(r.events[0].Data), `"session_id":"s1"`) {
		t.Errorf("reported %+v", r.events)
	}
}
