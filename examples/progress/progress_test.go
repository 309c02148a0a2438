package progress

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestHook(t *testing.T) {
	shown := func(text string) chain.Result {
		return chain.Result{UserMessage: text, UserMessageLevel: chain.LevelInfo, SuppressOutput: true}
	}
	for sentence, c := range map[string]struct {
		data string
		want chain.Result
	}{
		"several files":         {`{"files_processed":42}`, shown("Processed 42 files successfully")},
		"one file":              {`{"files_processed":1}`, shown("Processed 1 file successfully")},
		"no file":               {`{"files_processed":0}`, shown("Processed 0 files successfully")},
		"a tool without files":  {`{"tool_name":"Bash"}`, chain.Result{}},
		"a tool that says null": {`{"files_processed":null}`, chain.Result{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook()(t.Context(), events.Event{Name: events.ToolPost, Data: json.RawMessage(c.data)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := Hook()(t.Context(), events.Event{Data: json.RawMessage(`{"files_processed":"many"}`)}); err == nil {
		t.Error("a number of files that is text is read")
	}
}

func ExampleHook() {
	hook := Hook()
	result, err := hook(context.Background(), events.Event{Name: events.ToolPost, Data: json.RawMessage(`{"files_processed":42}`)})
	fmt.Println(result.UserMessage, err)
	// Output: Processed 42 files successfully <nil>
}
