package suggesttool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/suggesttool"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestAToolIsSuggested(t *testing.T) {
	t.Parallel()
	hook, err := suggesttool.New(kind.Section{}, suggesttool.Options{Words: map[string][]string{"calculator": {"calculate", "percent"}, "absent": {"weather"}}})
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]string{
		`{"available_tools":["Bash","calculator"],"user_query":"Calculate 7 percent of 12"}`:      `{"recommended_tool":"calculator"}`,
		`{"available_tools":["Bash","web_search"],"user_query":"search the web"}`:                 `{"recommended_tool":"web_search"}`,
		`{"available_tools":["Bash","calculator"],"user_query":"what is the weather"}`:            ``,
		`{"available_tools":["Bash"],"user_query":"bashful"}`:                                     ``,
		`{"available_tools":["Bash"]}`:                                                            ``,
		`{}`:                                                                                      ``,
		`{"available_tools":[7,{"name":"calculator"},null,{"name":8}],"user_query":"calculator"}`: `{"recommended_tool":"calculator"}`,
	} {
		got, err := hook.Handler(t.Context(), events.Event{Name: events.DecisionToolResolution, Data: json.RawMessage(data)})
		if err != nil || string(got.Data) != want {
			t.Errorf("%s: %s, %v; want %s", data, got.Data, err, want)
		}
	}
}

func TestTwoWordsAreNoWord(t *testing.T) {
	t.Parallel()
	_, err := suggesttool.New(kind.Section{}, suggesttool.Options{Words: map[string][]string{"calculator": {"ok", "two words"}}})
	if err == nil || !strings.Contains(err.Error(), "/words/calculator/1") {
		t.Errorf("%v; want the place of the word", err)
	}
}
