package progressmonitor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/progressmonitor"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleNew() {
	hook, err := progressmonitor.New(kind.Section{}, progressmonitor.Options{ReadThreshold: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range []string{"a.go", "b.go"} {
		result, err := hook.Handler(context.Background(), events.Event{
			Name: events.ToolPost, Session: "s1", Data: json.RawMessage(`{"tool_name":"Read","tool_input":{"file_path":"` + file + `"}}`),
		})
		fmt.Println(result.UserMessage, err)
	}
	// Output:
	//  <nil>
	// The agent has read and searched 2 times and written nothing since <nil>
}

// monitor is the hook and the store behind it.
type monitor struct {
	*testing.T
	kind.Hook
	states *hookstate.Memory
}

func newMonitor(t *testing.T, o progressmonitor.Options) monitor {
	t.Helper()
	states := &hookstate.Memory{}
	hook, err := progressmonitor.New(kind.Section{Worker: kind.Worker{States: states}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return monitor{t, hook, states}
}

func (m monitor) send(name, session, data string) chain.Result {
	m.Helper()
	result, err := m.Handler(m.Context(), events.Event{Name: name, Session: session, Data: json.RawMessage(data)})
	if err != nil {
		m.Fatal(err)
	}
	return result
}

// tool runs a tool of the session s1, and returns what the agent is told.
func (m monitor) tool(name, input string) string {
	m.Helper()
	return m.send(events.ToolPost, "s1", `{"tool_name":"`+name+`","tool_input":`+input+`}`).ContextInjection
}

func TestReadsAreCountedSinceTheLastWrite(t *testing.T) {
	m := newMonitor(t, progressmonitor.Options{ReadThreshold: 3, WarningInterval: 2})
	told := ""
	for i, tool := range []string{"Read", "Grep", "WebFetch", "Glob", "list_dir", "read_file", "codebase_search", "webfetch"} {
		text := m.tool(tool, fmt.Sprintf(`{"path":"/p/%d","url":"http://x/"}`, i))
		told += text[:min(len(text), 1)]
		if text == "" {
			told += "."
		}
	}
	if told != "..N.W.U." {
		t.Errorf("warnings came as %s; want the first after 3 reads, then after each 2, ever more urgent", told)
	}
	for _, write := range []string{`{"tool_name":"Write","tool_input":{"file_path":"/p/x"}}`, `{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}}`} {
		m.send(events.ToolPost, "s1", write)
		if m.tool("Read", `{"file_path":"/p/a"}`) != "" || m.tool("Read", `{"file_path":"/p/b"}`) != "" || !strings.HasPrefix(m.tool("Read", `{"file_path":"/p/c"}`), "Note: 3 reads") {
			t.Errorf("after %s it does not begin to count anew", write)
		}
	}
}

func TestOtherCallsCountAsNoProgress(t *testing.T) {
	for name, between := range map[string]string{
		"a write that failed":          `{"tool_name":"Write","tool_input":{"file_path":"/p/x"},"success":false}`,
		"a command, whatever it does":  `{"tool_name":"Bash","tool_input":{"command":"make"}}`,
		"a tool that nobody knows":     `{"tool_name":"frobnicate","tool_input":{}}`,
		"the agent's list of its work": `{"tool_name":"TodoWrite","tool_input":{"todos":[]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := newMonitor(t, progressmonitor.Options{ReadThreshold: 2})
			m.tool("Read", `{"file_path":"/p/a"}`)
			if text := m.send(events.ToolPost, "s1", between).ContextInjection; text != "" {
				t.Errorf("it is counted: %q", text)
			}
			if text := m.tool("Read", `{"file_path":"/p/b"}`); !strings.HasPrefix(text, "Note: 2 reads") {
				t.Errorf("the agent is told %q", text)
			}
		})
	}
}

func TestAPromptBeginsANewCount(t *testing.T) {
	m := newMonitor(t, progressmonitor.Options{ReadThreshold: 2})
	m.tool("Read", `{"file_path":"/p/a"}`)
	m.send(events.PromptSubmit, "s1", `{"prompt":"and now?"}`)
	if text := m.tool("Read", `{"file_path":"/p/a"}`); text != "" {
		t.Errorf("the agent is told %q", text)
	}
}

func TestAFileThatIsReadAgainAndAgain(t *testing.T) {
	m := newMonitor(t, progressmonitor.Options{})
	var told []string
	for range 5 {
		told = append(told, m.tool("read_file", `{"path":"/p/a.go"}`))
		m.tool("Read", `{"file_path":"/p/b.go"}`)
		m.send(events.ToolPost, "s1", `{"tool_name":"Bash","tool_input":{"command":"true"}}`)
	}
	if told[0] != "" || told[1] != "" || !strings.Contains(told[2], "/p/a.go 3 times") || told[3] != "" || told[4] != "" {
		t.Errorf("the agent is told %q; want it once, at the third time", told)
	}
}

func TestTheWarningIsForThisModelCallOnly(t *testing.T) {
	m := newMonitor(t, progressmonitor.Options{ReadThreshold: 1, Silent: true})
	got := m.send(events.ToolPost, "s1", `{"tool_name":"Read","tool_input":{"file_path":"/p/a"}}`)
	if got.Action != chain.InjectContext || !got.Ephemeral || !got.AppendToLastToolResult || got.UserMessage != "" {
		t.Errorf("%+v", got)
	}
}

func TestASessionsStateIsSmallAndFreedAtItsEnd(t *testing.T) {
	m := newMonitor(t, progressmonitor.Options{ReadThreshold: -1, SameFileThreshold: -1})
	for i := range 300 {
		if text := m.tool("Read", fmt.Sprintf(`{"file_path":"/%s/%d"}`, strings.Repeat("<", 400), i)); text != "" {
			t.Fatalf("what is switched off tells the agent %q", text)
		}
	}
	m.send(events.ToolPost, "", `{"tool_name":"Read","tool_input":{"file_path":"/p/a"}}`)
	if err := m.states.Under(t.Context(), "progress-monitor", func(_ string, value []byte) bool {
		if len(value) > hookstate.MaxValue {
			t.Errorf("the state has %d bytes", len(value))
		}
		return true
	}); err != nil || m.states.Len() != 1 {
		t.Errorf("%d states, %v; want 1", m.states.Len(), err)
	}
	if m.send(events.SessionEnd, "s1", `{}`); m.states.Len() != 0 {
		t.Errorf("%d states are left", m.states.Len())
	}
}

func TestTheCountsAreContributed(t *testing.T) {
	m := newMonitor(t, progressmonitor.Options{})
	m.tool("Write", `{"file_path":"/p/a"}`)
	m.tool("Read", `{"file_path":"/p/secret"}`)
	value, err := m.Contributors["session.metadata"](t.Context(), "session.metadata")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(value)
	if want := `[{"progress":{"reads_since_write":1,"writes":1},"session_id":"s1"}]`; string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if private := newMonitor(t, progressmonitor.Options{Private: true}); len(private.Contributors) != 0 {
		t.Error("a private one contributes")
	}
}

// away is a store that can't be reached.
type away struct{ hookstate.Store }

func (away) Update(context.Context, string, hookstate.Change) error { return errors.New("away") }

func TestAStoreThatIsAway(t *testing.T) {
	hook, err := progressmonitor.New(kind.Section{Worker: kind.Worker{States: away{}}}, progressmonitor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ev := events.Event{Name: events.ToolPost, Session: "s1", Data: json.RawMessage(`{"tool_name":"Read","tool_input":{"file_path":"/p/a"}}`)}
	if _, err := hook.Handler(t.Context(), ev); err == nil {
		t.Error("that nothing could be counted is not said")
	}
	if _, err := hook.Handler(t.Context(), events.Event{Name: events.SessionEnd, Session: "s1"}); err != nil {
		t.Errorf("the end of a session fails: %v", err)
	}
}

func TestAnIntervalIsNotNegative(t *testing.T) {
	if _, err := progressmonitor.New(kind.Section{}, progressmonitor.Options{WarningInterval: -1}); err == nil || !strings.Contains(err.Error(), "/warning_interval") {
		t.Errorf("New = %v", err)
	}
}

// The user is shown the progress every so often, counted over prompts.
func TestProgressIsShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    progressmonitor.Options
		want string
	}{
		"by default":  {progressmonitor.Options{}, "Progress: 8 reads and searches, 2 changes"},
		"every third": {progressmonitor.Options{ShowEvery: 3}, "Progress: 3 reads and searches, 0 changes\nProgress: 5 reads and searches, 1 changes\nProgress: 7 reads and searches, 2 changes"},
		"never":       {progressmonitor.Options{ShowEvery: -1}, ""},
		"silent":      {progressmonitor.Options{Silent: true}, ""},
	} {
		m := newMonitor(t, c.o)
		var shown []string
		for tool := range strings.FieldsSeq("Read Read Read Read Write Read Read Read Write Read") {
			r := m.send(events.ToolPost, "s1", `{"tool_name":"`+tool+`","tool_input":{"file_path":"`+fmt.Sprint(len(shown), tool)+`.go","content":"x"}}`)
			if r.UserMessage != "" {
				shown = append(shown, r.UserMessage)
			}
			m.send(events.PromptSubmit, "s1", `{"prompt":"on"}`)
		}
		if got := strings.Join(shown, "\n"); got != c.want {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
	}
}
