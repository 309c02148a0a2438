package mcpproxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// What is allowed goes on byte for byte, in both directions.
func TestPass(t *testing.T) {
	t.Parallel()
	s := open(t, start(t).url, "mirror")
	for _, line := range []string{
		`{ "jsonrpc" : "2.0", "id":1, "method":"tools/call","params":{"arguments":{"n":12345678901234567890, "é":"\u00e9"},"name":"write"} }`,
		`{"jsonrpc":"2.0","id":"a","method":"tools\/call","params":{"name":"write"}}`,
		`{"method":"resources/read","id":2,"params":{"uri":"file:///x"},"jsonrpc":"2.0"}`,
	} {
		s.send(line)
		if got := s.saw(); got != line {
			t.Errorf("the server saw %s; want %s", got, line)
		}
		if r := s.answer(); r.text() != "RAN" {
			t.Errorf("%s", r.raw)
		}
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"declined"}}`,
	} {
		s.send(line)
		if got := s.saw(); got != line {
			t.Errorf("the server saw %s; want %s", got, line)
		}
	}
}

// The events name the tool as agents do, and hold what guards look at.
func TestEvents(t *testing.T) {
	t.Parallel()
	b := start(t)
	seen := make(chan worker.Event, 2)
	b.answer(func(_ context.Context, ev worker.Event) (worker.Result, error) {
		seen <- ev
		return worker.Continue()
	})
	s := open(t, b.url, "mirror")
	s.send(call(1, "a__b", `{"path":"/etc/x"}`))
	for _, name := range []string{"tool:pre", "tool:post"} {
		ev := testkit.Receive(t, name, seen)
		var data struct {
			ToolName   string `json:"tool_name"`
			Cwd        string
			ToolInput  struct{ Path string }                     `json:"tool_input"`
			ToolResult struct{ Content []struct{ Text string } } `json:"tool_result"`
			MCP        struct{ ServerName, ToolName string }     `json:"-"`
			Context    struct {
				ServerName string `json:"server_name"`
				ToolName   string `json:"tool_name"`
			} `json:"mcp_context"`
			Success bool
		}
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			t.Fatal(err)
		}
		if ev.Name != name || ev.Session != "s-TestEvents" || data.ToolName != "mcp__srv__a__b" || data.ToolInput.Path != "/etc/x" || data.Cwd != "/repo" || data.Context.ToolName != "a__b" {
			t.Errorf("%s of session %s: %s", ev.Name, ev.Session, ev.Data)
		}
		if name == "tool:post" && (!data.Success || data.ToolResult.Content[0].Text != "RAN") {
			t.Errorf("%s", ev.Data)
		}
	}
}

func TestDeny(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:pre", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POLICY-NO") })
	s := open(t, b.url, "mirror")
	s.send(call(1, "write", `{}`))
	if r := s.answer(); string(r.ID) != "1" || !r.Result.IsError || r.text() != "POLICY-NO" || r.Result.ResultType != "" {
		t.Errorf("%s", r.raw)
	}
	s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	if r := s.answer(); r.Result.ResultType != "complete" {
		t.Errorf("%s; want a result with its type", r.raw)
	}
	s.nothing()
}

func TestModify(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(json.RawMessage(strings.Replace(string(ev.Data), `"/tmp/a"`, `"/tmp/b"`, 1)))
	})
	s := open(t, b.url, "mirror")
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"x":1.0},"arguments":{"path":"/tmp/a","n":1e2},"name":"write"}}`)
	if got := s.saw(); got != `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"x":1.0},"arguments":{"path":"/tmp/b","n":1e2},"name":"write"}}` {
		t.Errorf("the server saw %s", got)
	}
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(json.RawMessage(strings.Replace(string(ev.Data), `mcp__srv__write`, `mcp__srv__read`, 1)))
	})
	s.answer()
	s.send(call(2, "write", `{}`))
	s.refused("another tool_name")
}

func TestPost(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:post", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(json.RawMessage(strings.ReplaceAll(strings.ReplaceAll(string(ev.Data), "RAN", "[MASKED]"), "SECRET", "[MASKED]")))
	})
	s := open(t, b.url, "mirror")
	s.send(call(1, "read", `{}`))
	s.saw()
	if r := s.answer(); r.text() != "[MASKED]" {
		t.Errorf("%s", r.raw)
	}
	failing := open(t, b.url, "error")
	failing.send(call(1, "read", `{}`))
	failing.saw()
	if r := failing.answer(); r.Error == nil || r.text() != "[MASKED]" {
		t.Errorf("%s", r.raw)
	}
	b.at("tool:post", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POLICY-NO") })
	s.send(call(2, "read", `{}`))
	s.saw()
	if r := s.answer(); !r.Result.IsError || strings.Contains(r.raw, "RAN") || !strings.Contains(r.text(), "POLICY-NO") {
		t.Errorf("%s", r.raw)
	}
}

func TestInject(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.answer(func(_ context.Context, ev worker.Event) (worker.Result, error) { return worker.Inject("AT " + ev.Name) })
	s := open(t, b.url, "mirror")
	s.send(call(1, "read", `{}`))
	s.saw()
	if r := s.answer(); r.text() != "RAN\nAT tool:pre\n\nAT tool:post" {
		t.Errorf("%s", r.raw)
	}
}

// A result that the router does not take is withheld; a smaller one is judged.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := open(t, b.url, "big")
	s.send(call(1, "read", `{}`))
	s.saw()
	s.refused("the NATS server takes")
	s = open(t, b.url, "over")
	s.send(call(1, "read", `{}`))
	s.saw()
	s.refused("too large for a hook to judge")
	s = open(t, b.url, "large")
	s.send(call(1, "read", `{}`))
	s.saw()
	if r := s.answer(); len(r.text()) != 300<<10 {
		t.Errorf("%d bytes: %s", len(r.text()), r.raw[:min(len(r.raw), 500)])
	}
}

// A call whose arguments the router does not take does not run.
func TestLargeArguments(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := open(t, b.url, "mirror")
	s.send(call(1, "write", `{"text":"`+strings.Repeat("x", 600<<10)+`"}`))
	s.refused("too large for a hook to judge")
	s.send(call(2, "read", `{}`))
	if saw := s.saw(); strings.Contains(saw, "write") {
		t.Errorf("the server saw %s", saw[:min(len(saw), 200)])
	}
}

// Batches of the revision 2025-03-26.
func TestBatch(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), "__bad") {
			return worker.Deny("POLICY-NO")
		}
		return worker.Continue()
	})
	s := open(t, b.url, "mirror")
	s.send(`[` + call(1, "bad", `{}`) + `,{"jsonrpc":"2.0","method":"notifications/x"}]`)
	got := []string{s.next(), s.next()}
	if all := strings.Join(got, "\n"); !strings.Contains(all, "POLICY-NO") || !strings.Contains(all, "notifications/x") || strings.Contains(all, "bad") {
		t.Errorf("%s", all)
	}
	s.send(`[` + call(2, "good", `{}`) + `,` + call(3, "good", `{}`) + `,{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
	seen := map[string]int{}
	for range 5 {
		line := s.next()
		for _, what := range []string{"notifications/saw", "RAN", "another request"} {
			if strings.Contains(line, what) {
				seen[what]++
			}
		}
	}
	if seen["notifications/saw"] != 2 || seen["RAN"] != 2 || seen["another request"] != 1 {
		t.Errorf("%v", seen)
	}
	back := open(t, b.url, "batch")
	b.at("tool:post", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POST-NO") })
	back.send(call(1, "good", `{}`))
	back.saw()
	back.refused("POST-NO")
}

// Cancelled while it is held: the tool does not run, and there is no response.
func TestCancelHeld(t *testing.T) {
	t.Parallel()
	b := start(t)
	asked := make(chan struct{}, 1)
	b.at("tool:pre", func(context.Context, worker.Event) (worker.Result, error) {
		asked <- struct{}{}
		return worker.Ask("Deploy?", "Allow once", "Deny")
	})
	s := open(t, b.url, "mirror")
	s.send(call(1, "deploy", `{}`))
	testkit.Receive(t, "a question", asked)
	testkit.Eventually(t, "somebody is waited for", func() bool { return strings.Contains(s.notes.String(), "waiting for a person") })
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	s.nothing()
}

// What the server says to a call that it was not given is no result.
func TestAnswerBeforeTheCall(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:pre", func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Ask("Deploy?", "Allow once", "Deny")
	})
	s := open(t, b.url, "eager")
	s.send(call(1, "deploy", `{}`))
	testkit.Eventually(t, "somebody is waited for", func() bool { return strings.Contains(s.notes.String(), "waiting for a person") })
	s.send(`{"jsonrpc":"2.0","method":"notifications/go"}`)
	s.saw()
	testkit.Eventually(t, "it is dropped", func() bool { return strings.Contains(s.notes.String(), "not open") })
	s.nothing()
}

// Cancelled while the server has it: the server is told, and what it answers is dropped, also
// for another request with that id.
func TestCancelSent(t *testing.T) {
	t.Parallel()
	s := open(t, start(t).url, "silent")
	s.send(call(1, "slow", `{}`))
	s.saw()
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	s.send(cancel)
	if got := s.saw(); got != cancel {
		t.Errorf("the server saw %s", got)
	}
	s.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	s.refused("another request")
}

// Servers need not answer what was cancelled.
func TestManyAreCancelled(t *testing.T) {
	t.Parallel()
	s := open(t, start(t).url, "silent")
	for id := range 5000 {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x/slow"}`, id))
		s.saw()
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		s.saw()
	}
	s.nothing()
	s.send(`{"jsonrpc":"2.0","id":0,"method":"ping"}`)
	s.refused("another request")
}

// Whatever a call brings to the server besides its arguments is seen by hooks.
func TestParametersBesideTheArguments(t *testing.T) {
	t.Parallel()
	b := start(t)
	seen := make(chan string, 1)
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		var data struct {
			Params json.RawMessage `json:"mcp_params"`
		}
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			t.Error(err)
		}
		seen <- string(data.Params)
		return worker.Continue()
	})
	s := open(t, b.url, "mirror")
	for params, want := range map[string]string{
		`{"name":"a","_meta":{"progressToken":7}}`: "",
		`{"name":"a","arguments":{}}`:              "",
		`{"name":"a","_meta":{"progressToken":7,"x/cmd":"rm"},"task":{"ttl":1},"requestState":"st"}`: `{"_meta":{"x/cmd":"rm"},"task":{"ttl":1},"requestState":"st"}`,
		`{"name":"a","_meta":{"progressToken":["SECRET"]}}`:                                          `{"_meta":{"progressToken":["SECRET"]}}`,
	} {
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)
		if got := testkit.Receive(t, "tool:pre", seen); got != want {
			t.Errorf("%s: hooks see %q, want %q", params, got, want)
		}
		s.saw()
		s.answer()
	}
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"other":1}`)
	s.refused("would not see")
}

// A server that does not repeat ids as they were, and writes what is no message.
func TestStrayResponses(t *testing.T) {
	t.Parallel()
	s := open(t, start(t).url, "otherid")
	s.send(call(1, "read", `{}`))
	s.saw()
	s.nothing()
	if n := s.notes.String(); !strings.Contains(n, "not open") || !strings.Contains(n, "LOG LINE") {
		t.Errorf("noted %q", n)
	}
}

// A result that can't be judged does not pass as it is; other responses do.
func TestUnreadableResult(t *testing.T) {
	t.Parallel()
	s := open(t, start(t).url, "surrogate")
	s.send(call(1, "read", `{}`))
	s.saw()
	s.refused("withheld")
	s.send(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`)
	s.saw()
	if line := s.next(); !strings.Contains(line, `SECRET \ud800`) {
		t.Errorf("%s", line)
	}
}

// The client gets nothing of a judged response that hooks do not see.
func TestMembersBesideTheResult(t *testing.T) {
	t.Parallel()
	b := start(t)
	seen := make(chan string, 1)
	b.at("tool:post", func(_ context.Context, e worker.Event) (worker.Result, error) {
		seen <- string(e.Data)
		return worker.Continue()
	})
	s := open(t, b.url, "members")
	s.send(call(1, "read", `{}`))
	s.saw()
	r := s.answer()
	if data := <-seen; strings.Contains(data, "SECRET") || strings.Contains(r.raw, "SECRET") || r.Result == nil {
		t.Errorf("hooks saw %s; the client got %s", data, r.raw)
	}
	s.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	s.saw()
	if line := s.next(); !strings.Contains(line, "SECRET") {
		t.Errorf("what nobody judges was changed: %s", line)
	}
}

// No response to a request that nothing judges can be taken for the result of a call.
func TestAResponseForTwoRequests(t *testing.T) {
	t.Parallel()
	s := open(t, start(t).url, "twoids")
	s.send(call(1, "read", `{}`))
	s.saw()
	for i, trick := range []string{"escaped", "case", "behind", "return", "result", "no-utf-8"} {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"trick/%s"}`, i+2, trick))
		s.saw()
		if r := s.answer(); strings.Contains(r.raw, "SECRET") || r.Error == nil {
			t.Errorf("%s: %s", trick, r.raw)
		}
	}
}

// Tasks of the revision 2025-11-25, and of the extension for tasks.
func TestTasks(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := open(t, b.url, "task")
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","task":{"ttl":1}}}`)
	s.saw()
	s.answer()
	b.at("tool:post", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POST-NO") })
	s.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"t1"}}`)
	s.saw()
	s.refused("POST-NO")
	s.send(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":"foreign"}}`)
	s.refused("which tool call started this task")
	b.at("tool:pre", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("PRE-NO") })
	s.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"x","task":{}}}`)
	if r := s.answer(); r.Error == nil || r.text() != "PRE-NO" {
		t.Errorf("%s; want an error, since the client waits for a task", r.raw)
	}

	b.at("tool:post", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(json.RawMessage(strings.ReplaceAll(strings.ReplaceAll(string(ev.Data), "RAN", "[MASKED]"), "SECRET", "[MASKED]")))
	})
	s = open(t, b.url, "exttask")
	s.send(call(1, "x", `{}`))
	s.saw()
	both := s.next() + s.next() // in any order
	testkit.Eventually(t, "the foreign task is dropped", func() bool { return strings.Contains(s.notes.String(), "no call through this proxy") })
	if !strings.Contains(both, "[MASKED]") || !strings.Contains(both, `"status":"working"`) {
		t.Errorf("%s", both)
	}
	for i, method := range []string{"tasks/get", "tasks/cancel"} { // the second names the result in another case
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"taskId":"t1"}}`, 2+i, method))
		s.saw()
		if line := s.next(); !strings.Contains(line, "[MASKED]") {
			t.Errorf("%s: %s", method, line)
		}
	}
}

// What a client answers to the questions of a task is input of its call.
func TestTheAnswersToATaskAreJudged(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := open(t, b.url, "task")
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","task":{"ttl":1}}}`)
	s.saw()
	s.answer()
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), "EVIL") {
			return worker.Deny("PRE-NO")
		}
		return worker.Continue()
	})
	for i, method := range []string{"tasks/update", "Tasks/update"} {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"taskId":"t1","inputResponses":{"q":{"action":"accept","content":{"path":"EVIL"}}}}}`, 10+i, method))
		if r := s.answer(); r.Error == nil {
			t.Errorf("%s: %s", method, r.raw)
		}
	}
	s.send(`{"jsonrpc":"2.0","method":"tasks/update","params":{"taskId":"t1","inputResponses":{"q":"EVIL"}}}`)
	if r := s.answer(); r.Error == nil {
		t.Errorf("a notification: %s", r.raw)
	}
	s.send(`{"jsonrpc":"2.0","id":20,"method":"tasks/update","params":{"taskId":"t1","inputResponses":{"q":"fine"}}}`)
	if seen := s.saw(); !strings.Contains(seen, "fine") {
		t.Errorf("the server saw %s", seen)
	}
}

func TestChild(t *testing.T) {
	t.Parallel()
	b := start(t)
	t.Run("its exit code is handed on", func(t *testing.T) {
		s := open(t, b.url, "exit")
		if code := testkit.Receive(t, "the end", s.ended); code != 7 {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("the end of input is handed on, behind what was sent", func(t *testing.T) {
		s := open(t, b.url, "mirror")
		s.send(call(1, "x", `{}`))
		_ = s.in.Close()
		s.saw()
		s.answer()
		if code := testkit.Receive(t, "the end", s.ended); code != 3 {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("a signal ends one that does not end with its input", func(t *testing.T) {
		s := open(t, b.url, "deaf")
		s.stop()
		if code := testkit.Receive(t, "the end", s.ended); code != 128+15 {
			t.Errorf("exit code %d", code)
		}
	})
}
