package sessionlogger_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/sessionlogger"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestASessionIsLogged(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{"reason":"complete","duration_ms":48210,"stats":{"total_messages":4,"tool_invocations":2,"total_tokens":91}}`: `"session_id":"s1","reason":"complete","duration_ms":48210,"messages":4,"tools":2,"tokens":91}`,
		`{}`:                             `"session_id":"s1","reason":""}`,
		`{"reason":"a\nb","stats":null}`: `"session_id":"s1","reason":"a b"}`,
	} {
		var out bytes.Buffer
		hook, err := sessionlogger.New(kind.Section{Worker: kind.Worker{Log: slog.New(slog.NewJSONHandler(&out, nil))}}, sessionlogger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := hook.Handler(t.Context(), events.Event{Name: events.SessionEnd, Session: "s1", Data: json.RawMessage(data)})
		if err != nil || result.Action != "" && result.Action != chain.Continue {
			t.Errorf("%s: %+v, %v", data, result, err)
		}
		if line := out.String(); !strings.Contains(line, `"msg":"session complete"`) || !strings.Contains(line, want) {
			t.Errorf("%s: logged %s; want %s", data, line, want)
		}
	}
}
