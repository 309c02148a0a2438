package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// logTo writes lines without their time.
func logTo(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func TestHookWritesOneLineForEachEvent(t *testing.T) {
	for sentence, c := range map[string]struct{ event, data, want string }{
		"a tool starts": {
			events.ToolPre, `{"tool_name":"Bash","tool_input":{"command":"secret"}}`,
			"level=INFO msg=\"tool starting\" session_id=s1 tool_name=Bash\n",
		},
		"a tool is done": {
			events.ToolPost, `{"tool_name":"Bash","success":true,"duration_ms":12,"tool_result":{"output":"secret"}}`,
			"level=INFO msg=\"tool completed\" session_id=s1 tool_name=Bash success=true duration_ms=12\n",
		},
		"a tool failed, under the other name of the event": {
			"error:tool", `{"tool_name":"Bash","error":{"message":"secret"}}`,
			"level=WARN msg=\"tool failed\" session_id=s1 tool_name=Bash\n",
		},
		"a tool without a name": {events.ToolPre, `{}`, "level=INFO msg=\"tool starting\" session_id=s1 tool_name=\"\"\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var out bytes.Buffer
			got, err := Hook(Options{Log: logTo(&out)})(t.Context(), events.Event{Name: c.event, Session: "s1", Data: json.RawMessage(c.data)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(chain.Result{}, got); diff != "" {
				t.Errorf("an observer decided something:\n%s", diff)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHookReportsDataItCannotRead(t *testing.T) {
	var out strings.Builder
	_, err := Hook(Options{Log: logTo(&out)})(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(`{"tool_name":5}`)})
	if err == nil || out.Len() > 0 {
		t.Errorf("error %v, wrote %q", err, out.String())
	}
}

func ExampleHook() {
	hook := Hook(Options{Log: logTo(os.Stdout)})
	ev := events.Event{Name: events.ToolPost, Session: "s1", Data: json.RawMessage(`{"tool_name":"Write","success":true,"duration_ms":7}`)}
	if _, err := hook(context.Background(), ev); err != nil {
		fmt.Println(err)
	}
	// Output: level=INFO msg="tool completed" session_id=s1 tool_name=Write success=true duration_ms=7
}
