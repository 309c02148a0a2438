package agents_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
	"github.com/hookrouter/hookrouter/test/agents"
	"github.com/hookrouter/hookrouter/test/agents/stubmodel"
)

// scenario is a case: what the model wants, what the hook says, and what must follow. check
// runs the agent, and returns what else the matrix should say.
type scenario struct {
	name    string
	command string
	next    []string      // commands after that
	sub     []string      // commands of its sub-agents
	timeout time.Duration // of the agent's hook; 0 means the default
	hook    func(ev worker.Event) (worker.Result, error)
	// identity is whose credentials the agent has; empty for those that the router made.
	identity string
	hang     string // the event at which the hook never answers
	check    func(l *lab) string
}

const reason = "NOT-ON-MY-WATCH"

// at is a hook that says something before a tool runs.
func at(event string, say func(ev worker.Event) (worker.Result, error)) func(ev worker.Event) (worker.Result, error) {
	return func(ev worker.Event) (worker.Result, error) {
		if ev.Name != event {
			return worker.Continue()
		}
		return say(ev)
	}
}

func ask(worker.Event) (worker.Result, error) {
	return worker.Ask("May it?", "Allow once", "Deny")
}

// injected is the text that a hook adds at an event.
func injected(event string) string { return "INJECTED-AT-" + strings.ReplaceAll(event, ":", "-") }

var scenarios = []scenario{
	{
		name: agents.CaseInject, command: "echo pass > marker",
		hook:  func(ev worker.Event) (worker.Result, error) { return worker.Inject(injected(ev.Name)) },
		check: passes,
	},
	{
		name: "deny", command: "echo denied > marker",
		hook: at(events.ToolPre, func(worker.Event) (worker.Result, error) { return worker.Deny(reason) }),
		check: func(l *lab) string {
			l.finishes()
			l.ran("")
			l.told(reason)
			l.recorded(events.ToolPre, "deny")
			return ""
		},
	},
	{
		name: agents.CaseModify, command: "echo original > marker",
		hook: at(events.ToolPre, func(ev worker.Event) (worker.Result, error) {
			return worker.Result{Action: "modify", Data: bytes.ReplaceAll(ev.Data, []byte("original"), []byte("changed"))}, nil
		}),
		check: modifies,
	},
	{
		// The call that the model makes does not hold the word that the tool writes.
		name: agents.CaseRedact, command: "echo redacted > marker; printf 'SECRET-%s' WORD",
		hook: at(events.ToolPost, func(ev worker.Event) (worker.Result, error) {
			return worker.Result{Action: "modify", Data: bytes.ReplaceAll(ev.Data, []byte("SECRET-WORD"), []byte("MASKED-WORD"))}, nil
		}),
		check: redacts,
	},
	{
		name: "withhold the result", command: "echo withheld > marker; printf 'SECRET-%s' WORD",
		hook:  at(events.ToolPost, func(worker.Event) (worker.Result, error) { return worker.Deny(reason) }),
		check: withholds,
	},
	{name: "ask granted", command: "echo granted > marker", hook: at(events.ToolPre, ask), check: func(l *lab) string {
		l.asksAndGets("Allow once", false)
		l.ran("granted")
		return ""
	}},
	{name: "ask refused", command: "echo refused > marker", hook: at(events.ToolPre, ask), check: func(l *lab) string {
		l.asksAndGets("Deny", false)
		l.ran("")
		l.told("May it?")
		return ""
	}},
	{name: "router dead", command: "echo dead > marker", check: func(l *lab) string {
		l.model.Before = func(r stubmodel.Request) {
			if r.Results == 0 {
				l.router.kill()
			}
		}
		l.finishes()
		l.ran("")
		l.told("Blocked, since no policy could be asked")
		return ""
	}},
	{name: "router never there", command: "echo dead > marker", check: deadFromTheStart},
	{name: "router restarted", command: "echo granted > marker", hook: at(events.ToolPre, ask), check: func(l *lab) string {
		l.asksAndGets("Allow once", true)
		l.ran("granted")
		return ""
	}},
	{name: "slow hook", command: "echo slow > marker", hang: events.ToolPre, timeout: 10 * time.Second, check: func(l *lab) string {
		l.finishes()
		l.ran("")
		l.told("Blocked, since no policy could be asked")
		l.recorded(events.ToolPre, "deadline")
		return ""
	}},
	{
		name: "disconnected", command: "echo free > marker",
		hook:  at(events.ToolPre, func(worker.Event) (worker.Result, error) { return worker.Deny(reason) }),
		check: disconnects,
	},
	{
		name: "disconnected while it runs", command: "sh ./disconnect", next: []string{"echo ungated > marker"},
		hook: denying("echo ungated", `"ConfigChange"`), check: keepsItsHooks,
	},
	{name: "5 MB output", command: "echo large > marker; yes large | head -c 5000000", check: largeOutput},
}

// finishes runs the agent to its end.
func (l *lab) finishes() outcome {
	l.t.Helper()
	o := l.ended(l.start())
	if o.err != nil {
		l.t.Errorf("it ended with %v", o.err)
	}
	return o
}

// passes checks that each context reaches the model that the agent's table says it takes,
// and no other one.
func passes(l *lab) string {
	l.finishes()
	l.ran("pass")
	var lost []string
	for _, e := range l.dialect.Events {
		switch e.Name {
		case events.SessionStart, events.PromptSubmit, events.ToolPre, events.ToolPost:
		default:
			continue
		}
		if e.Native != l.event(e.Name).Native { // this run fires only the first event of a name
			continue
		}
		verdict := "continue"
		if !e.Obeys() { // it is emitted, and nothing waits for the verdict
			verdict = "inject_context"
		}
		l.recorded(e.Name, verdict)
		switch saw := l.model.Saw(injected(e.Name)); {
		case saw != e.Inject:
			l.t.Errorf("context of %s reaches the model: %t, and the table says %t", e.Native, saw, e.Inject)
		case !saw:
			lost = append(lost, e.Name)
		}
	}
	if len(lost) > 0 {
		return "no context at " + strings.Join(lost, ", ")
	}
	return ""
}

func modifies(l *lab) string {
	l.finishes()
	l.recorded(events.ToolPre, "continue")
	if l.event(events.ToolPre).Modify == "" {
		l.ran("")
		l.told("The policy wants this done with another tool_input")
		return "denied with the change as the reason"
	}
	l.ran("changed")
	return ""
}

// redacts checks that the model gets the result that hooks left, where the agent lets them
// change it.
func redacts(l *lab) string {
	l.finishes()
	l.ran("redacted")
	if l.event(events.ToolPost).Modify == "" {
		return "the model gets the result as it was"
	}
	l.told("MASKED-WORD")
	if l.model.Saw("SECRET-WORD") {
		l.t.Error("the model got the secret")
	}
	return ""
}

// withholds checks that the model gets the reason in place of a denied result, where the agent's
// table says so.
func withholds(l *lab) string {
	l.finishes()
	l.ran("withheld")
	if !l.event(events.ToolPost).Gated() {
		return "the model gets the result as it was"
	}
	l.told(reason)
	if l.model.Saw("SECRET-WORD") {
		l.t.Error("the model got the secret")
	}
	return ""
}

// disconnects runs the agent, which may write its settings anew, takes hook-agent out of
// them, and runs it again.
func disconnects(l *lab) string {
	l.finishes()
	l.ran("")
	l.hookctl("doctor", l.agent.Name)
	l.hookctl("disconnect", l.agent.Name, "--yes")
	before := len(l.router.audit("chain.result", "*"))
	l.finishes()
	l.ran("free")
	if after := l.router.audit("chain.result", "*"); len(after) != before {
		l.t.Errorf("it still asks the router: %+v", after[before:])
	}
	return ""
}

// keepsItsHooks checks that a program of the agent can't end the gate for the running session.
func keepsItsHooks(l *lab) string {
	script := filepath.Join(l.run.Dir, "disconnect")
	text := "HOME=" + l.run.Home + " " + testkit.Program(l.t, "hookctl") + " disconnect " + l.agent.Name + " --yes > said\nsleep 4\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.finishes()
	if said, err := os.ReadFile(filepath.Join(l.run.Dir, "said")); err != nil || !strings.Contains(string(said), "no longer asks") {
		l.t.Errorf("the program did not disconnect: %s, %v", said, err)
	}
	l.ran("")
	l.told(reason)
	return ""
}

// asksAndGets has a person answer, with a restart of the router in between where wanted.
func (l *lab) asksAndGets(option string, restart bool) {
	l.t.Helper()
	ctx := testkit.Within(l.t, limit)
	person := approver.New(l.router.client("admin"))
	done := l.start()
	q := l.router.asked(ctx, person)
	l.ran("")
	if restart {
		l.router.kill()
		l.router.start()
		person = approver.New(l.router.client("admin"))
		if again := l.router.asked(ctx, person); again.ID != q.ID {
			l.t.Errorf("after the restart, the request is %s; before it was %s", again.ID, q.ID)
		}
		l.ran("")
	}
	if _, err := person.Answer(ctx, q.ID, approval.Answer{Option: option, By: "ann", DataSHA256: q.DataSHA256}); err != nil {
		l.t.Errorf("answer: %v", err)
	}
	if o := l.ended(done); o.err != nil {
		l.t.Errorf("it ended with %v", o.err)
	}
	verdict := map[string]string{"Allow once": "allow", "Deny": "deny"}[option]
	if list := l.router.audit("approval.decided", events.ToolPre); len(list) != 1 || list[0].Action != verdict {
		l.t.Errorf("the audit log says %+v", list)
	}
}

// deadFromTheStart has an agent without a router: where it gates prompts, the model is
// never asked, and no tool runs in any case.
func deadFromTheStart(l *lab) string {
	l.router.kill()
	l.ended(l.start()) // an agent whose prompt was blocked may call it an error
	l.ran("")
	asked := slices.ContainsFunc(l.model.Requests(), func(r stubmodel.Request) bool { return len(r.Tools) > 0 })
	if l.event(events.PromptSubmit).Deny == agenthook.Stops {
		if asked {
			l.t.Error("the model was asked, though no policy has seen the prompt")
		}
		return "the prompt is stopped"
	}
	l.told("Blocked, since no policy could be asked")
	return "the tool is denied"
}

// largeOutput has a tool write more than a NATS server takes. The agent goes on, and where
// it lets hooks withhold a result, the model gets none that no hook has seen.
func largeOutput(l *lab) string {
	l.finishes()
	l.ran("large")
	if !slices.ContainsFunc(l.model.Requests(), func(r stubmodel.Request) bool { return r.Results > 0 }) {
		l.t.Error("the model got no result")
	}
	if l.router.recorded(l.agent.Name, events.ToolPost, "continue") {
		return "the agent cuts it"
	}
	if l.event(events.ToolPost).Gated() {
		l.told("Blocked, since no policy could be asked")
		return "withheld"
	}
	l.recorded(agenthook.UncheckedEvent, "continue")
	return "no hook sees it, and the router is told"
}

// TestAgents runs each case with each agent that AGENTS names.
func TestAgents(t *testing.T) {
	m := newMatrix(t)
	for _, a := range m.agents {
		t.Run(a.Name, func(t *testing.T) {
			for _, s := range scenarios {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					began := time.Now()
					l := newLab(t, a, s)
					note := s.check(l)
					m.add(t, a, s.name, note, time.Since(began))
				})
			}
		})
	}
}
