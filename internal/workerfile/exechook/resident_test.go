package exechook_test

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// guard answers as its call says, and counts. It writes its last call to a file.
const guard = `
import json, sys

calls = 0
for line in sys.stdin:
    calls += 1
    call = json.loads(line)
    with open(sys.argv[1], "w") as f:
        json.dump(call, f)
    answer = call["data"].get("answer", {"result": {"action": "deny", "reason": str(calls)}})
    print(json.dumps({"id": call["id"]} | answer), flush=True)
`

// residentHook returns a hook whose command runs guard; seen is the file with its last call.
func residentHook(t *testing.T) (h workerfile.Hook, seen string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "guard.py"), guard, 0o644)
	file, err := workerfile.Parse("worker.yaml", []byte(`
hooks:
  - id: guard
    events: [tool:pre]
    exec:
      command: [python3, guard.py, seen.json]
      resident: true
`), basic.Kinds(kind.Worker{Dir: dir}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Close)
	return file.Hooks[0], filepath.Join(dir, "seen.json")
}

func TestAResidentCommandAnswersEvents(t *testing.T) {
	t.Parallel()
	h, seen := residentHook(t)
	h.Start()
	for _, want := range []string{"1", "2", "3"} {
		got, err := h.Handler(t.Context(), bash)
		if diff := cmp.Diff(chain.Denial(want), got); err != nil || diff != "" {
			t.Fatalf("call %s: %v, result (-want +got):\n%s", want, err, diff)
		}
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(read(t, seen)), &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "id")
	want := map[string]json.RawMessage{
		"event": json.RawMessage(`"tool:pre"`), "session_id": json.RawMessage(`"s1"`), "event_id": json.RawMessage(`"e1"`),
		"source": json.RawMessage(`"/agent"`), "time": json.RawMessage(`"2026-01-02T03:04:05Z"`),
		"traceparent": json.RawMessage(`"` + bash.Extensions["traceparent"] + `"`),
		"data":        json.RawMessage(`{"tool_name": "Bash", "big": 9007199254740993}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the call (-want +got):\n%s", diff)
	}
}

func TestAnswersOfAResidentCommand(t *testing.T) {
	t.Parallel()
	h, _ := residentHook(t)
	for answer, want := range map[string]string{
		`{"result":null}`:                     "",
		`{"result":{}}`:                       "",
		`{"result":{"action":"continue"}}`:    "",
		`{"result":{"action":"explode"}}`:     "ask python3: read its answer: invalid result: action must be one of",
		`{"result":{"decision":"block"}}`:     `ask python3: read its answer: invalid result: it has "decision" and no action`,
		`{"result":{"action":"modify"}}`:      "ask python3: read its answer: invalid result: modify without data",
		`{"result":"deny"}`:                   "ask python3: read its answer: invalid result",
		`{"action":"deny"}`:                   `ask python3: its answer has "action" beside the id`,
		`{}`:                                  "ask python3: its answer has no result",
		`{"error":"the policy is not there"}`: "ask python3: it failed: the policy is not there",
	} {
		got, err := h.Handler(t.Context(), events.Event{Name: "tool:pre", Data: json.RawMessage(`{"answer":` + answer + `}`)})
		if want == "" && (err != nil || got.Denied()) || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: result %+v, %v; want the error %q", answer, got, err, want)
		}
	}
}

// What an agent can make a denial quote: half of a character, and all of an event's data.
func TestADenialOfAResidentCommandStands(t *testing.T) {
	t.Parallel()
	h, _ := residentHook(t)
	long := strings.Repeat("x", 500<<10)
	for text, want := range map[string]string{`no \ud83d`: "no \ufffd", long: long} {
		data := `{"answer":{"result":{"action":"deny","reason":"` + text + `"}}}`
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		got, err := h.Handler(ctx, events.Event{Name: "tool:pre", Data: json.RawMessage(data)})
		cancel()
		if err != nil || !got.Denied() || got.Reason != want {
			t.Errorf("%.20s: result %.100v, %v; want the denial", text, got, err)
		}
	}
}

func TestInvalidResidentCommands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]exechook.Config{
		"without a worker": {Command: []string{"sh"}, Resident: true},
	} {
		_, err := exechook.New(c)
		if field, ok := errors.AsType[*kind.FieldError](err); !ok || field.Pointer != "/resident" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := workerfile.Parse("worker.yaml", []byte(`
hooks:
  - id: guard
    events: [tool:pre]
    exec: {command: [sh], resident: true, dialect: claude-code, startup_ms: -1}
`), basic.Kinds(kind.Worker{Dir: t.TempDir()}))
	if err == nil || !strings.Contains(err.Error(), "startup_ms") {
		t.Errorf("error %v", err)
	}
	_, err = workerfile.Parse("worker.yaml", []byte(`
hooks:
  - id: guard
    events: [tool:pre]
    exec: {command: [sh], resident: true, dialect: claude-code}
`), basic.Kinds(kind.Worker{Dir: t.TempDir()}))
	if err == nil || !strings.Contains(err.Error(), "exclude each other") {
		t.Errorf("error %v", err)
	}
}
