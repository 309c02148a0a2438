package conformance

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
)

// entry is an entry of the list of what is pending.
func entry(id, session string) string {
	return fmt.Sprintf(`{"id":%q,"session_id":%q,"event":"a:b","hook":"guard","prompt":"P?","options":["Allow","Deny"],"default":"deny",
		"created":"2026-03-01T12:00:00.000Z","expires":"2026-03-01T12:00:12.500Z","data_sha256":"d16e57"}`, id, session)
}

// asking is a fake router whose execute makes one approval request, in the case's session
// and in another, and waits for the answer.
func asking(t *testing.T) (*fakeRouter, Target, <-chan map[string]any) {
	f, target := startFake(t)
	answers := make(chan map[string]any, 1)
	given := make(chan map[string]any, 1)
	f.approve = func(id string, answer map[string]any) {
		if id != "q1" {
			t.Errorf("%s was answered", id)
		}
		given <- answer
		answers <- answer
	}
	f.execute = func(msg *nats.Msg) any {
		mine := entry("q1", attribute(msg.Header, "subject"))
		f.mu.Lock()
		f.pending = []any{parsed(t, mine)}
		f.mu.Unlock()
		for _, e := range []string{entry("q0", "other"), mine, mine} {
			f.send(&nats.Msg{Subject: "fake.event.approval.required", Data: []byte(e)})
		}
		<-answers
		return map[string]any{"action": "continue"}
	}
	return f, target, given
}

func TestApprovalIsAnswered(t *testing.T) {
	for name, tt := range map[string]struct {
		answers string
		want    map[string]any
	}{
		"an option that is offered": {`["allow"]`, map[string]any{"by": "conformance", "option": "allow", "data_sha256": "d16e57"}},
		"an option that is not":     {`["Sure"]`, map[string]any{"by": "conformance", "option": "Sure", "data_sha256": "d16e57", "free_text": true}},
		"a failing system":          {`["error:ui crashed"]`, map[string]any{"by": "conformance", "error": "ui crashed"}},
		"a case out of answers":     {`[]`, map[string]any{"by": "conformance", "error": "the case has no more answers"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, target, given := asking(t)
			err := Run(t.Context(), target, oneCase(t, `{"name":"x","op":"execute","event":"a:b","data":{},"approval_answers":`+tt.answers+`,
				"expect":{"approval_count":1,"approvals":[{"prompt":"P?","options":["Allow","Deny"],"timeout":12.5,"default":"deny","hook":"guard"}]}}`))
			if err != nil {
				t.Error(err)
			}
			if err := compare("answer", tt.want, <-given, exact); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestApprovalThatIsNotListedIsReported(t *testing.T) {
	f, target := startFake(t)
	f.execute = func(msg *nats.Msg) any {
		f.send(&nats.Msg{
			Subject: "fake.event.approval.required", Data: []byte(entry("q1", attribute(msg.Header, "subject"))),
		})
		return map[string]any{"action": "continue"}
	}
	f.pending = []any{}
	err := Run(t.Context(), target, oneCase(t, `{"name":"x","op":"execute","event":"a:b","data":{},"approval_answers":["Allow"]}`))
	if err == nil || !strings.Contains(err.Error(), "q1 was announced but is not in the list: []") {
		t.Errorf("Run = %v", err)
	}
}

func TestApprovalIsLeftAlone(t *testing.T) {
	for name, rest := range map[string]string{
		"by a system that never answers": `"approval_answers":["timeout"],"expect":{"approval_count":1}`,
		"where there is no system":       `"config":{"approval_system":"none"},"expect":{"approval_count":0}`,
	} {
		t.Run(name, func(t *testing.T) {
			f, target := startFake(t)
			var once sync.Once
			f.approve = func(string, map[string]any) { once.Do(func() { t.Error("answered") }) }
			f.execute = func(msg *nats.Msg) any {
				f.send(&nats.Msg{
					Subject: "fake.event.approval.required", Data: []byte(entry("q1", attribute(msg.Header, "subject"))),
				})
				return map[string]any{"action": "deny"}
			}
			if err := Run(t.Context(), target, oneCase(t, `{"name":"x","op":"execute","event":"a:b","data":{},`+rest+`}`)); err != nil {
				t.Error(err)
			}
		})
	}
}
