package toolsuggest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestHook(t *testing.T) {
	for sentence, c := range map[string]struct{ data, want string }{
		"the tool that is asked for": {
			`{"user_query":"What's the weather like?","available_tools":["web_search","weather_api"]}`,
			`{"tool":"weather_api","confidence":0.5}`,
		},
		"the better of two": {
			`{"user_query":"search the web","available_tools":["search_files","web_search"]}`,
			`{"tool":"web_search","confidence":1}`,
		},
		"none is asked for": {`{"user_query":"hello","available_tools":["web_search","-"]}`, ""},
		"no tools":          {`{"user_query":"search"}`, ""},
		"no question":       {`{"available_tools":["web_search"]}`, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook()(t.Context(), events.Event{Name: events.DecisionToolResolution, Data: json.RawMessage(c.data)})
			if err != nil || string(got.Data) != c.want || got.Action != "" {
				t.Errorf("%s, %+v, %v", got.Data, got, err)
			}
		})
	}
	if _, err := Hook()(t.Context(), events.Event{Data: json.RawMessage(`{"available_tools":"all"}`)}); err == nil {
		t.Error("tools that are text are read")
	}
}

func ExampleHook() {
	hook := Hook()
	ev := events.Event{Name: events.DecisionToolResolution, Data: json.RawMessage(
		`{"user_query":"What's the weather like?","available_tools":["weather_api","web_search"]}`)}
	result, err := hook(context.Background(), ev)
	fmt.Println(string(result.Data), err)
	// Output: {"tool":"weather_api","confidence":0.5} <nil>
}
