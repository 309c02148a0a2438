package progress_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/progress"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestProgressIsShownInThePlaceOfOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o          progress.Options
		data, want string
		hidden     bool
	}{
		{progress.Options{}, `{"tool_name":"index","files_processed":12}`, "Processed 12 files successfully", true},
		{progress.Options{}, `{"tool_name":"index","tool_result":{"files_processed":3}}`, "Processed 3 files successfully", true},
		{progress.Options{Member: "pages", Text: "{count} pages", Verbose: true}, `{"pages":7}`, "7 pages", false},
		{progress.Options{}, `{"tool_name":"Bash","tool_result":"files_processed"}`, "", false},
		{progress.Options{}, `{"files_processed":"many"}`, "", false},
		{progress.Options{}, `{"files_processed":12,"success":false}`, "", false},
	} {
		hook, err := progress.New(kind.Section{}, c.o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := hook.Handler(t.Context(), events.Event{Name: events.ToolPost, Data: json.RawMessage(c.data)})
		if err != nil || got.UserMessage != c.want || got.SuppressOutput != c.hidden || c.want != "" && got.UserMessageLevel != chain.LevelInfo {
			t.Errorf("%s: %+v, %v; want %q", c.data, got, err, c.want)
		}
	}
	if _, err := progress.New(kind.Section{}, progress.Options{Text: strings.Repeat("a", 201)}); err == nil {
		t.Error("a long text is taken")
	}
}
