package events_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestToolTexts(t *testing.T) {
	for data, want := range map[string][]string{
		`{"tool_name":"x","tool_input":{"a":"1","b":{"c":["2",{"d":"3"}]},"e":4,"f":""}}`:                        {"1", "2", "3"},
		`{"tool_name":"MultiEdit","tool_input":{"edits":[{"old_string":"a","new_string":"b"},{"oldText":"c"}]}}`: {"b"},
		`{"tool_name":"x","tool_input":{"a":"1"},"args":{"a":"2"}}`:                                              {"1", "2"},
		`{"toolName":"x","toolArgs":"{\"a\":\"1\"}"}`:                                                            {"1"},
		`{"tool_name":"apply_patch","tool_input":"*** Begin"}`:                                                   {"*** Begin"},
		`{"tool_name":"x","tool_input":{"older":"a","a":"\u0041"}}`:                                              {"a", "A"},
		`{"tool_name":"x","tool_input":["a"]}`:                                                                   nil,
		`{"tool_name":"x"}`:                                                                                      nil,
	} {
		o, err := events.ParseObject([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, o.ToolTexts()); diff != "" {
			t.Errorf("%s: texts (-want +got):\n%s", data, diff)
		}
	}
}

// BenchmarkToolTexts is of an input that nests as deep as data may: the time is in proportion to it.
func BenchmarkToolTexts(b *testing.B) {
	const depth = 50
	data := `{"tool_name":"x","tool_input":{"a":` + strings.Repeat(`{"a":`, depth) + `"` + strings.Repeat("x", 200_000) + `"` + strings.Repeat("}", depth) + `}}`
	o, err := events.ParseObject([]byte(data))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if len(o.ToolTexts()) != 1 {
			b.Fatal("no text")
		}
	}
}
