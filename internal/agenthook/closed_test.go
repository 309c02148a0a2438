package agenthook_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// blocks reports whether an answer stops, or hides, what a gated event is about.
func blocks(out agenthook.Output) bool {
	if out.Code == agenthook.CodeBlock {
		return out.Stderr != ""
	}
	for _, word := range []string{
		`"permissionDecision":"deny"`, `"continue":false`, `"decision":"block"`, `"decision":"deny"`, `"behavior":"deny"`, `{"deny":"`, `"modifiedResult":`, `"modifiedPrompt":`,
	} {
		if bytes.Contains(out.Stdout, []byte(word)) {
			return true
		}
	}
	return false
}

// gated are the samples of a dialect at which nothing may pass without a verdict.
func gated(t *testing.T, d agenthook.Dialect) (natives []string) {
	t.Helper()
	for _, native := range samples(t, d.Name) {
		if e, ok := d.Event(native); ok && e.Gated() {
			natives = append(natives, native)
		}
	}
	if len(natives) == 0 {
		t.Fatalf("%s has no gated sample", d.Name)
	}
	return natives
}

// Whatever is wrong with the router, gated calls are blocked, with a reason for people.
func TestFailsClosed(t *testing.T) {
	t.Parallel()
	hung := routerThat(t, func(*nats.Msg) {})
	garbage := routerThat(t, func(m *nats.Msg) { natstest.Respond(m, about(m), []byte(`{"action":"perhaps"}`)) })
	cut := routerThat(t, func(m *nats.Msg) { natstest.Respond(m, about(m), []byte(`{"action":"cont`)) })
	other := routerThat(t, func(m *nats.Msg) {
		natstest.Respond(m, map[string][]string{"Hook-Event-Id": {"another"}}, []byte(`{"action":"continue"}`))
	})
	refusing := routerThat(t, func(m *nats.Msg) {
		natstest.Respond(m, map[string][]string{"Nats-Service-Error-Code": {"503"}, "Nats-Service-Error": {"not ready"}}, nil)
	})
	silent := silentServer(t)
	for name, failure := range map[string]struct {
		url     string
		timeout time.Duration
		says    string
	}{
		"no NATS":                   {"nats://127.0.0.1:1", 5 * time.Second, "can't be reached"},
		"NATS that says nothing":    {silent, 200 * time.Millisecond, "can't be reached"},
		"no router":                 {natstest.Listening(t).ClientURL(), 5 * time.Second, "is hook-router running"},
		"a router that hangs":       {hung, 200 * time.Millisecond, "did not answer in time"},
		"an unknown action":         {garbage, 5 * time.Second, "read the answer"},
		"half an answer":            {cut, 5 * time.Second, "read the answer"},
		"the answer to another":     {other, 200 * time.Millisecond, "did not answer in time"},
		"a router that can't serve": {refusing, 5 * time.Second, "not ready"},
		"an address that is none":   {"nats://127.0.0.1:notaport", 5 * time.Second, "notaport"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			volume := testkit.Volume(t, 2, 100, 100)
			slots := make(chan struct{}, 32) // more at once would time out for want of a processor
			var all sync.WaitGroup
			for _, d := range agenthook.Dialects() {
				natives := gated(t, d)
				for i := range volume {
					native := natives[i%len(natives)]
					slots <- struct{}{}
					all.Go(func() {
						defer func() { <-slots }()
						out := patiently(failure.timeout, failure.says, func(timeout time.Duration) agenthook.Output {
							h := newCall(t, d.Name, native, failure.url)
							h.Options.Timeout = timeout
							return h.Run(context.Background(), bytes.NewReader(sample(t, d.Name, native)))
						})
						if !blocks(out) || !strings.Contains(string(out.Stdout), failure.says) {
							t.Errorf("%s %s: %s %s; want a block that says %q", d.Name, native, out.Stdout, out.Stderr, failure.says)
						}
					})
				}
			}
			all.Wait()
		})
	}
}

// A router that took the event from the first process, and left no time for the second one to ask
// again, can be reached.
func TestALateRouterIsNotAway(t *testing.T) {
	t.Parallel()
	h := newCall(t, "claude-code", "", silentServer(t))
	h.Options.EventID, h.Options.Timeout = "sent-before", 50*time.Millisecond
	if out := h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse")); !blocks(out) || !strings.Contains(string(out.Stdout), "did not answer in time") {
		t.Errorf("%s; want a block that says that it is late", out.Stdout)
	}
}

// patiently calls with a time-out that it doubles while the answer does not say what is
// expected: on a busy machine the time may be over before anybody was asked. Each answer
// must block.
func patiently(timeout time.Duration, says string, call func(time.Duration) agenthook.Output) (out agenthook.Output) {
	for ; timeout < testkit.Patience; timeout *= 2 {
		if out = call(timeout); !blocks(out) || strings.Contains(string(out.Stdout), says) {
			break
		}
	}
	return out
}

// routerThat stands in the place of a router.
func routerThat(t *testing.T, answer func(*nats.Msg)) (url string) {
	t.Helper()
	s := natstest.Listening(t)
	nc := natstest.Conn(t, s)
	if _, err := nc.Subscribe("hooks.execute.>", answer); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return s.ClientURL()
}

func about(m *nats.Msg) map[string][]string {
	return map[string][]string{"Hook-Event-Id": {m.Header["ce-id"][0]}}
}

// silentServer accepts connections and says nothing.
func silentServer(t *testing.T) (url string) {
	t.Helper()
	return serverThat(t, func(conn net.Conn) { t.Cleanup(func() { _ = conn.Close() }) })
}

// refusingServer is a NATS server that refuses everybody's credentials.
func refusingServer(t *testing.T, refusal string) (url string) {
	t.Helper()
	return serverThat(t, func(conn net.Conn) {
		_, _ = conn.Write([]byte(`INFO {"server_id":"S","max_payload":1048576,"headers":true,"auth_required":true}` + "\r\n"))
		_, _ = bufio.NewReader(conn).ReadString('\n')
		_, _ = conn.Write([]byte("-ERR '" + refusal + "'\r\n"))
		_ = conn.Close()
	})
}

// serverThat hands each connection to accept.
func serverThat(t *testing.T, accept func(net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by the test's end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accept(conn)
		}
	}()
	return "nats://" + l.Addr().String()
}

// A router that is away for a moment is waited for.
func TestRouterRestarts(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	_, stop := routertest.Start(t, s, router.Options{})
	stop()
	h := newCall(t, "claude-code", "", s.ClientURL())
	h.Options.Patience = testkit.Patience
	done := make(chan agenthook.Output, 1)
	go func() { done <- h.Answer(context.Background(), sample(t, "claude-code", "PreToolUse")) }()
	routertest.Start(t, s, router.Options{})
	if out := testkit.Receive(t, "an answer", done); blocks(out) {
		t.Errorf("%s; want it to pass once the router is back", out.Stdout)
	}
}

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	b := start(t)
	whole := sample(t, "claude-code", "PreToolUse")
	large := bytes.Replace(whole, []byte("echo hi"), bytes.Repeat([]byte("x"), 5<<20), 1)
	for name, test := range map[string]struct {
		native   string
		document []byte
		says     string
	}{
		"nothing":           {"", nil, "sent its hook nothing"},
		"truncated":         {"", whole[:len(whole)/2], "can't be read"},
		"truncated, named":  {"PreToolUse", whole[:len(whole)/2], "can't be read"},
		"two documents":     {"", append(bytes.Clone(whole), whole...), "something follows"},
		"a list":            {"", []byte("[]"), "must be a JSON object"},
		"no event":          {"", []byte(`{"tool_name":"Bash"}`), "does not say which event"},
		"a name twice":      {"PreToolUse", []byte(`{"tool_name":"Read","tool_name":"Bash"}`), "twice"},
		"invalid UTF-8":     {"", bytes.Replace(whole, []byte("echo"), []byte("\xff\xfe"), 1), "UTF-8"},
		"5 MB":              {"", large, "bytes"},
		"a long session id": {"", bytes.Replace(whole, []byte(`"session_id": "`), []byte(`"session_id": "`+strings.Repeat("s", 500)), 1), "session"},
		"nested deep":       {"PreToolUse", []byte(`{"tool_input":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`), "nests deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := newCall(t, "claude-code", test.native, b.url).Answer(t.Context(), test.document)
			if said := string(out.Stdout) + out.Stderr; !blocks(out) || !strings.Contains(said, test.says) {
				t.Errorf("%s; want a block that says %q", said, test.says)
			}
		})
	}
}

// An event of a newer version is announced, stops only at a denial, and is noted once.
func TestUnknownEvent(t *testing.T) {
	t.Parallel()
	b := start(t)
	seen := make(chan string, 2)
	b.answer(func(_ context.Context, ev worker.Event) (worker.Result, error) {
		seen <- ev.Name
		return worker.Deny("no")
	})
	first := newCall(t, "claude-code", "", b.url)
	document := []byte(`{"session_id":"s","hook_event_name":"Message.Display"}`)
	if out := first.Answer(t.Context(), document); out.Code != agenthook.CodeBlock || out.Stderr != "no" || len(out.Stdout) > 0 {
		t.Errorf("%+v; want the denial by the exit code, which all agents obey", out)
	}
	if name := testkit.Receive(t, "the event", seen); name != "claude-code:Message-Display" {
		t.Errorf("announced as %s", name)
	}
	if !strings.Contains(first.notes.String(), "knows no event Message.Display") {
		t.Errorf("noted %q", first.notes.String())
	}
	second := newCall(t, "claude-code", "", b.url)
	second.Options = first.Options
	second.Answer(t.Context(), document)
	if strings.Contains(second.notes.String(), "knows no event") {
		t.Error("noted twice")
	}
	b.answer(func(context.Context, worker.Event) (worker.Result, error) { return worker.Ask("Go on?") })
	out := agenthook.Output{}
	for timeout := 250 * time.Millisecond; timeout < testkit.Patience && !blocks(out); timeout *= 2 { // it may be over before anybody was asked
		asking := newCall(t, "claude-code", "", b.url)
		asking.Options.Timeout = timeout
		out = asking.Answer(t.Context(), document)
	}
	if !strings.Contains(out.Stderr, "nobody has answered") {
		t.Errorf("%+v; want a block where nobody answers", out)
	}
	b.answer(changed)
	if out := newCall(t, "claude-code", "", b.url).Answer(t.Context(), document); blocks(out) || len(out.Stdout) > 0 {
		t.Errorf("%+v; want nothing", out)
	}
}

// An event that another agent has, or that is spelled otherwise, is blocked where it would be
// gated there: hook-agent is set up wrongly, and would let all pass.
func TestAnotherAgentsEvent(t *testing.T) {
	t.Parallel()
	const another = "set up for another agent"
	for _, c := range []struct{ dialect, native, document, says string }{
		{"claude-code", "", `{"hook_event_name":"pre_tool_use","tool_name":"Bash"}`, another},
		{"claude-code", "", `{"hook_event_name":"PreToolUse ","tool_name":"Bash"}`, another},
		{"claude-code", "", `{"hook_event_name":"BeforeTool","tool_name":"write_file"}`, another},
		{"copilot", "preToolUse", `{"hookEventName":"PreToolUse","sessionId":"s","tool_name":"editFiles","tool_input":{}}`, "another form"},
		{"copilot", "preToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{}}`, "another form"},
		{"copilot", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`, "write preToolUse in its settings and in the command of the hook, as in hook-agent copilot preToolUse"},
		{"gemini", "", `{"hook_event_name":"PreToolUse","tool_name":"run_shell_command"}`, another},
		{"opencode", "", `{"hook_event_name":"PreToolUse","tool_name":"bash"}`, another},
	} {
		h := newCall(t, c.dialect, c.native, "nats://127.0.0.1:1")
		if out := h.Answer(t.Context(), []byte(c.document)); !blocks(out) || !strings.Contains(out.Stderr, c.says) {
			t.Errorf("%s %s: %s%s; want a block that says %s", c.dialect, c.document, out.Stdout, out.Stderr, c.says)
		}
	}
}

// An event that only the command line names must be one of the agent's: a misspelled one would let
// all pass. One that the agent names may be new.
func TestAMisspelledEvent(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, c := range []struct{ dialect, native, document, says string }{
		{"copilot", "preToolUs", string(sample(t, "copilot", "preToolUse")), `"preToolUs" in the command of the hook is not an event of Copilot CLI`},
		{"copilot", "SessionStart", `{"hook_event_name":"SessionStart","session_id":"s"}`, "as in hook-agent copilot sessionStart"},
		{"claude-code", "PreToolUs", `{"session_id":"s","tool_name":"Bash"}`, "is not an event of Claude Code"},
		{"claude-code", "New", `{"hook_event_name":"New","session_id":"s"}`, ""},
		{"claude-code", "", `{"hook_event_name":"New","session_id":"s"}`, ""},
	} {
		out := newCall(t, c.dialect, c.native, b.url).Answer(t.Context(), []byte(c.document))
		if blocks(out) != (c.says != "") || !strings.Contains(out.Stderr, c.says) {
			t.Errorf("%s %s %s: %s%s; want %q", c.dialect, c.native, c.document, out.Stdout, out.Stderr, c.says)
		}
	}
}

// The event that a document names counts, whatever the command line says.
func TestTheDocumentNamesTheEvent(t *testing.T) {
	t.Parallel()
	for _, native := range []string{"Message.Display", "PostToolUse", "--on-unreachable=allow"} {
		h := newCall(t, "claude-code", native, "nats://127.0.0.1:1")
		h.Options.Patience = time.Millisecond
		if out := h.Answer(t.Context(), []byte(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`)); !blocks(out) {
			t.Errorf("%s: %s%s; want a block", native, out.Stdout, out.Stderr)
		}
	}
}

// A document that never ends is answered in time.
func TestStdinClosedLate(t *testing.T) {
	t.Parallel()
	h := newCall(t, "codex", "PreToolUse", "nats://127.0.0.1:1")
	h.Options.Timeout = 50 * time.Millisecond
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer w.Close()
	if out := h.Run(t.Context(), in); !blocks(out) || !strings.Contains(string(out.Stdout), "did not complete its message in time") {
		t.Errorf("%s", out.Stdout)
	}
}

// reports answers events with continue, and returns the data of the reports about what passed without
// a verdict.
func (b *bus) reports() <-chan []byte {
	reports := make(chan []byte, 2)
	b.answer(func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if ev.Name == agenthook.UncheckedEvent {
			reports <- ev.Data
		}
		return worker.Continue()
	})
	return reports
}

// What passes without a verdict is told, kept, and reported once the router is back.
func TestAllowIsReported(t *testing.T) {
	t.Parallel()
	b := start(t)
	reports := b.reports()
	h := newCall(t, "claude-code", "", "nats://127.0.0.1:1")
	h.Options.Allow = true
	for range 2 {
		out := h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse"))
		if blocks(out) || !strings.Contains(string(out.Stdout), "without a verdict") || !strings.Contains(h.notes.String(), "without a verdict") {
			t.Fatalf("%s, noted %q; want it to pass, and both told", out.Stdout, h.notes.String())
		}
	}
	h.Options.Server = b.url
	h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse"))
	var report struct {
		Count  int
		Events []struct{ Agent, Event, Cause string }
	}
	if err := json.Unmarshal(testkit.Receive(t, "the report", reports), &report); err != nil {
		t.Fatal(err)
	}
	if report.Count != 2 || report.Events[1].Agent != "claude-code" || report.Events[1].Event != "tool:pre" || report.Events[1].Cause == "" {
		t.Errorf("reported %+v", report)
	}
	h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse"))
	if len(reports) > 0 {
		t.Error("reported twice")
	}
	if left, _ := filepath.Glob(filepath.Join(h.Options.StateDir, "bypassed*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// No event, and no line that another program has written, keeps the others from being reported.
func TestALongEventIsReportedToo(t *testing.T) {
	t.Parallel()
	b := start(t)
	reports := make(chan []byte, 1)
	b.answer(func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if ev.Name == agenthook.UncheckedEvent {
			reports <- ev.Data
		}
		return worker.Continue()
	})
	h := newCall(t, "claude-code", "PreToolUse", "nats://127.0.0.1:1")
	h.Options.Allow = true
	h.Answer(t.Context(), []byte(`{"session_id":"s","tool_name":"`+strings.Repeat("x", 300<<10)+`"}`))
	h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse"))
	spool, err := os.OpenFile(filepath.Join(h.Options.StateDir, "bypassed.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = spool.WriteString(`{"tool_name":"` + strings.Repeat("x", 100<<10) + "\"}\n")
		_ = spool.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	h.Options.Server = b.url
	h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse"))
	var report struct{ Count int }
	if err := json.Unmarshal(testkit.Receive(t, "the report", reports), &report); err != nil || report.Count != 3 {
		t.Errorf("reported %+v, %v", report, err)
	}
}

// An event that is too large for NATS is blocked where it is gated, and reported where the
// agent goes on: an agent can't keep a result out of the audit log by making it long.
func TestTooLargeIsReported(t *testing.T) {
	t.Parallel()
	b := start(t)
	reports := make(chan []byte, 2)
	b.answer(func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if ev.Name == agenthook.UncheckedEvent {
			reports <- ev.Data
		}
		return worker.Continue()
	})
	for size, cause := range map[int]string{600 << 10: "(413)", 9 << 20: "the NATS server takes"} {
		document := `{"hook_event_name":"PostToolUseFailure","session_id":"s1","tool_name":"shell","error":"` + strings.Repeat("x", size) + `"}`
		out := newCall(t, "qwen", "", b.url).Answer(t.Context(), []byte(document))
		if blocks(out) || !strings.Contains(string(out.Stdout), cause) {
			t.Errorf("%d bytes: %s; want it to pass, and told", size, out.Stdout)
		}
		var report struct {
			Session string `json:"session_id"`
			Events  []struct{ Event, Cause string }
		}
		if err := json.Unmarshal(testkit.Receive(t, "the report", reports), &report); err != nil {
			t.Fatal(err)
		}
		if report.Session != "s1" || len(report.Events) != 1 || report.Events[0].Event != "tool:error" || !strings.Contains(report.Events[0].Cause, cause) {
			t.Errorf("%d bytes: reported %+v", size, report)
		}
		out = newCall(t, "gemini", "", b.url).Answer(t.Context(), []byte(strings.Replace(document, "PostToolUseFailure", "AfterTool", 1)))
		if !blocks(out) || len(reports) > 0 {
			t.Errorf("%d bytes: %s, %d reports; want it blocked and not reported", size, out.Stdout, len(reports))
		}
	}
}

// The option is for a router that is away, not for one that refuses, or that answers
// what can't be read; and without a place for its report, it says so.
func TestAllowIsNarrow(t *testing.T) {
	t.Parallel()
	garbage := routerThat(t, func(m *nats.Msg) { natstest.Respond(m, about(m), []byte(`{}`)) })
	h := newCall(t, "claude-code", "", garbage)
	h.Options.Allow = true
	if out := h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse")); !blocks(out) {
		t.Errorf("garbage: %s; want a block", out.Stdout)
	}
	if out := h.Answer(t.Context(), []byte(`{"hook_event_name":"PreToolUse"`)); !blocks(out) {
		t.Errorf("truncated: %s; want a block", out.Stdout)
	}
	for _, refusal := range []string{"Authorization Violation", "User Authentication Expired"} {
		h := newCall(t, "claude-code", "", refusingServer(t, refusal))
		h.Options.Allow = true
		if out := h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse")); !blocks(out) || !strings.Contains(string(out.Stdout), refusal) {
			t.Errorf("%s: %s; want a block", refusal, out.Stdout)
		}
	}
	h = newCall(t, "claude-code", "", guardedServer(t))
	h.Options.Allow, h.Options.Creds = true, filepath.Join(t.TempDir(), "removed.creds")
	if out := h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse")); !blocks(out) || !strings.Contains(string(out.Stdout), "removed.creds") {
		t.Errorf("credentials that were removed: %s; want a block that names them", out.Stdout)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h = newCall(t, "claude-code", "", "nats://127.0.0.1:1")
	h.Options.Allow, h.Options.StateDir = true, filepath.Join(blocked, "state")
	if out := h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse")); !strings.Contains(string(out.Stdout), "can't be reported later") {
		t.Errorf("%s; want it told", out.Stdout)
	}
}

// A server that asks who is there, and nothing to say who: blocked in all dialects, with the
// file that was looked for; --on-unreachable=allow does not help.
func TestNoCredentials(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	url := guardedServer(t)
	for _, d := range agenthook.Dialects() {
		for _, native := range gated(t, d) {
			h := newCall(t, d.Name, native, url)
			h.Options.Allow = true
			out := h.Answer(t.Context(), sample(t, d.Name, native))
			if !blocks(out) {
				t.Fatalf("%s %s: %s %s; want a block", d.Name, native, out.Stdout, out.Stderr)
			}
			for _, says := range []string{"no credentials at " + filepath.Join(home, ".config", "nats", "context", "hookrouter-127.0.0.1-"), "hookctl connect"} {
				if !strings.Contains(string(out.Stdout), says) {
					t.Errorf("%s %s: %s; want it to say %q", d.Name, native, out.Stdout, says)
				}
			}
		}
	}
}

// guardedServer is a NATS server that takes nobody without a password.
func guardedServer(t *testing.T) (url string) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, Username: "ann", Password: "secret", NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

// A person decides while the agent waits; nobody in time is a block.
func TestAsks(t *testing.T) {
	t.Parallel()
	asking := func() *bus {
		b := start(t)
		b.answer(func(context.Context, worker.Event) (worker.Result, error) {
			return worker.Ask("Deploy?", "Allow once", "Deny")
		})
		return b
	}
	unheard := asking()
	answered := map[string]*bus{"Allow once": asking(), "Deny": asking()} // whatever is asked there gets this answer
	for _, d := range agenthook.Dialects() {
		native := preTool(t, d)
		for option, b := range answered {
			t.Run(d.Name+" "+option, func(t *testing.T) {
				t.Parallel()
				people := approver.New(b.client)
				h := newCall(t, d.Name, native, b.url)
				done := make(chan agenthook.Output, 1)
				go func() { done <- h.Answer(context.Background(), sample(t, d.Name, native)) }()
				answerUntil(t, people, option, done)
				out := testkit.Receive(t, "an answer", done)
				if blocks(out) != (option != "Allow once") {
					t.Errorf("%q: %s", option, out.Stdout)
				}
			})
		}
		t.Run(d.Name+" nobody answers", func(t *testing.T) {
			t.Parallel()
			var h *call
			out := patiently(200*time.Millisecond, "nobody has answered", func(timeout time.Duration) agenthook.Output {
				h = newCall(t, d.Name, native, unheard.url)
				h.Options.Timeout = timeout
				return h.Answer(t.Context(), sample(t, d.Name, native))
			})
			if !blocks(out) || !strings.Contains(string(out.Stdout), "nobody has answered") {
				t.Errorf("%s; want a block that says who was waited for", out.Stdout)
			}
			if note := h.notes.String(); !strings.Contains(note, "waiting for a person: Deploy?") || !strings.Contains(note, " OPTION)") {
				t.Errorf("noted %q; want that it waits, and how to answer", note)
			}
		})
	}
}

// preTool is the sample of a tool that is about to run.
func preTool(t *testing.T, d agenthook.Dialect) string {
	t.Helper()
	for _, native := range gated(t, d) {
		if e, _ := d.Event(native); e.Name == "tool:pre" {
			return native
		}
	}
	t.Fatalf("%s has no tool:pre", d.Name)
	return ""
}

// answerUntil answers whatever is asked, until there is an answer to the agent.
func answerUntil(t *testing.T, a *approver.Approver, option string, done <-chan agenthook.Output) {
	t.Helper()
	testkit.Eventually(t, "the agent has its answer", func() bool {
		list, _, err := a.Pending(t.Context(), approval.Filter{})
		if err != nil {
			return false
		}
		for _, r := range list {
			_, _ = a.Answer(t.Context(), r.ID, approval.Answer{Option: option}) // one that is decided meanwhile is no matter
		}
		return len(done) > 0
	})
}
