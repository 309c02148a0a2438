package events_test

import (
	"fmt"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleObject_ToolInput() {
	data, err := events.ParseObject([]byte(`{"toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	input, _ := data.ToolInput()
	command, ok := input.GetString("command")
	fmt.Println(command, ok)
	// Output: ls true
}

func TestToolInputAndResult(t *testing.T) {
	for data, want := range map[string][3]string{
		`{"tool_name":"x","tool_input":{"a":1},"tool_result":{"b":2}}`:      {`{"a":1}`, "", `{"b":2}`},
		`{"tool_call":{"function":{"name":"x","arguments":{"a":1}}}}`:       {`{"a":1}`, "", ""},
		`{"tool_name":"apply_patch","tool_input":"*** Begin"}`:              {"{}", "*** Begin", ""},
		`{"tool_name":"x","tool_input":null,"tool_response":null}`:          {"{}", "", ""},
		`{"tool_name":"x","tool_input":[1],"tool_output":"text","other":1}`: {"{}", "", `"text"`},
		`{}`: {"{}", "", ""},
	} {
		o, err := events.ParseObject([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		input, text := o.ToolInput()
		if got := [3]string{string(input.Bytes()), text, string(o.ToolResult())}; got != want {
			t.Errorf("%s\n got %q\nwant %q", data, got, want)
		}
	}
}
