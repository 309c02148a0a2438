package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// A router goes while a person thinks, none is there for a while, and another
// one comes.
func TestExecuteOutlivesItsRouter(t *testing.T) {
	natstest.Bubble(t, outlive)
}

func outlive(t *testing.T) {
	s := natstest.Server(t)
	waiting := make(chan struct{}, 100)
	first := script(t, natstest.Conn(t, s), toolPreExecuted, pending(inAMinute()), func(*nats.Msg) { waiting <- struct{}{} })
	a := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s), Patience: -1}, agent.Options{})
	done := make(chan error, 1)
	go func() {
		x, err := a.Execute(t.Context(), events.ToolPre, nil)
		if err == nil && string(x.Data) != `{"a":1}` {
			err = fmt.Errorf("data is %s", x.Data)
		}
		done <- err
	}()
	for range 10 {
		<-waiting
	}
	first.stop() // the answer to the last one never comes either
	second := script(t, natstest.Conn(t, s), toolPreExecuted, granted(`{"a":1}`))
	recovered := time.Now()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if took := time.Since(recovered); took > 4200*time.Millisecond { // one try's time, and a short pause
		t.Errorf("the answer came %v after the recovery", took)
	}
	if m := second.taken()[0]; header(m, "ce-id") != header(first.taken()[0], "ce-id") || header(m, "Hook-Retry") != "1" {
		t.Errorf("sent %v", m.Header)
	}
}

// Nobody hears of the approval request any more: a minute after its time the agent says
// so, and what it knows.
func TestExecuteGivesUpAMinuteAfterTheQuestion(t *testing.T) {
	for sentence, c := range map[string]struct {
		then answer
		is   error
		want string
	}{
		"where a router goes on to say that it is open": {nil, nil, "it was not decided within a minute after it expired"},
		"where nothing answers":                         {silence, nil, "no answer came within 4s"},
		"where no router can serve":                     {refuse(503, "no storage"), nil, "no storage (503)"},
		"where the time can't be read":                  {say(`{"action":"pending","approval":{"id":"q1","expires":"soon"}}`), nil, "it was not decided"},
	} {
		t.Run(sentence, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				s := natstest.Server(t)
				began := time.Now()
				ask := pending(began.Add(5 * time.Minute))
				if c.then == nil {
					c.then = ask
				}
				r := script(t, natstest.Conn(t, s), toolPreExecuted, ask, c.then)
				_, err := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{}).Execute(t.Context(), events.ToolPre, nil)
				var open *agent.PendingError
				if !errors.As(err, &open) || open.Approval.ID != "q1" || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error is %v", err)
				}
				took, want := time.Since(began), 6*time.Minute
				if sentence == "where the time can't be read" {
					want = time.Minute
				}
				if took < want-5*time.Second || took > want+5*time.Second {
					t.Errorf("gave up after %v, want %v", took, want)
				}
				if n, most := len(r.taken()), int(want/(500*time.Millisecond))+10; n > most {
					t.Errorf("asked %d times, want at most %d", n, most)
				}
			})
		})
	}
}

// Before an approval request is known an answer is waited for as long as hooks may take.
func TestExecuteWithARouterThatIsSilent(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Server(t)
		r := script(t, natstest.Conn(t, s), toolPreExecuted, []answer{silence, silence, say(`{"action":"continue","data":{}}`)}...)
		began := time.Now()
		x, err := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s), Patience: time.Minute}, agent.Options{}).Execute(t.Context(), events.ToolPre, nil)
		if err != nil || !x.Permitted() {
			t.Errorf("%+v, %v", x, err)
		}
		if took := time.Since(began); took < 70*time.Second || took > 72*time.Second {
			t.Errorf("took %v", took)
		}
		for i, m := range r.taken() {
			if ms := header(m, "Hook-Timeout-Ms"); ms != "34900" {
				t.Errorf("request %d told the router %s ms", i, ms)
			}
		}
	})
}

// A second approval request to the same event is told of too.
func TestOnPendingHearsOfEachQuestionOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Server(t)
		other := say(`{"action":"pending","approval":{"id":"q2","expires":"` + time.Now().Add(time.Minute).Format(time.RFC3339) + `"}}`)
		first := pending(inAMinute())
		script(t, natstest.Conn(t, s), toolPreExecuted, []answer{first, first, other, other, say(`{"action":"deny"}`)}...)
		var told []string
		a := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{OnPending: func(q verdict.Approval) { told = append(told, q.ID) }})
		if x, err := a.Execute(t.Context(), events.ToolPre, nil); err != nil || x.Action != verdict.Deny {
			t.Errorf("%+v, %v", x, err)
		}
		if fmt.Sprint(told) != "[q1 q2]" {
			t.Errorf("told of %v", told)
		}
	})
}
