package dispatch_test

import (
	"encoding/json"
	"testing"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

func TestMaskLeavesCommandsVisible(t *testing.T) {
	record := approval.Record{
		Request: approval.Request{Prompt: "Run PASSWORD=a1;reboot?"},
		Data:    json.RawMessage(`{"command":"export TOKEN=a1;sh</tmp/x","password":"a;b"}`),
	}
	var published dispatch.PublishData
	published.Mask(nil)(&record)
	if want := "Run PASSWORD=[REDACTED:assignment];reboot?"; record.Prompt != want {
		t.Errorf("the prompt is %q, want %q", record.Prompt, want)
	}
	want := `{"command":"export TOKEN=[REDACTED:assignment];sh</tmp/x","password":"[REDACTED:key]"}`
	if string(record.Data) != want {
		t.Errorf("the data is %s, want %s", record.Data, want)
	}
}
