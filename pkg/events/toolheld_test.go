package events

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestToolsOfACallThatHoldsCalls(t *testing.T) {
	for sentence, c := range map[string]struct {
		data string
		want string // the calls that are held: name, command and paths of each; ? is one that can't be read
	}{
		"OpenCode's batch":                   {`{"tool":"batch","args":{"tool_calls":[{"tool":"bash","parameters":{"command":"ls"}},{"tool":"read","parameters":{"filePath":"/x"}}]}}`, "bash ls|read /x"},
		"Codex's parallel":                   {`{"tool_name":"multi_tool_use.parallel","tool_input":{"tool_uses":[{"recipient_name":"functions.shell","parameters":{"command":["bash","-c","ls | wc"]}}]}}`, "shell ls | wc"},
		"calls as models write them":         {`{"tool_name":"batch","tool_input":{"toolCalls":[{"id":"1","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}},{"type":"tool_use","name":"Read","input":{"path":"a"}}]}}`, "Bash ls|Read a"},
		"a call alone":                       {`{"tool_name":"batch","tool_input":{"calls":{"name":"Bash","input":{"command":"ls"}}}}`, "Bash ls"},
		"a batch in a batch":                 {`{"tool":"batch","args":{"tool_calls":[{"tool":"batch","parameters":{"tool_calls":[{"tool":"bash","parameters":{"command":"ls"}}]}}]}}`, "batch|bash ls"},
		"a batch in a batch in a …":          {`{"tool":"batch","args":` + strings.Repeat(`{"tool_calls":[{"tool":"batch","parameters":`, 5) + `{}` + strings.Repeat(`}]}`, 5) + `}`, "batch|batch|batch|?"},
		"a second input":                     {`{"tool_name":"Bash","tool_input":{"command":"ls"},"arguments":{"command":"rm"}}`, "Bash rm"},
		"calls in a second input":            {`{"tool_name":"batch","tool_input":{},"arguments":{"tool_calls":[{"tool":"bash","parameters":{"command":"ls"}}]}}`, "?|batch|bash ls"},
		"the same input twice":               {`{"tool_name":"Bash","tool_input":{"command":"ls"},"arguments":{ "command" : "ls"}}`, ""},
		"an input around a call":             {`{"tool_call":{"name":"Bash","arguments":{"command":"ls"}},"tool_input":{"command":"rm"}}`, "Bash rm"},
		"an input in a call within a call":   {`{"tool_call":{"function":{"name":"Read","arguments":"{\"path\":\"a\"}"},"input":{"path":"b"}}}`, "Read b"},
		"a call beside a name":               {`{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_call":{"name":"Bash","arguments":{"command":"rm"}}}`, "Bash rm"},
		"an unknown tool":                    {`{"tool_name":"parallel","tool_input":{"invocations":[{"tool":"bash","args":{"command":"ls"}}]}}`, "bash ls"},
		"a tool of an MCP server":            {`{"tool_name":"mcp__hub__all","tool_input":{"tool_calls":[{"tool_name":"bash","arguments":{"command":"ls"}}]}}`, "bash ls"},
		"calls in a text for an MCP server":  {`{"tool_name":"mcp__hub__all","tool_input":{"tool_calls":"[{\"tool_name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}]"}}`, "bash ls"},
		"such calls that can't be read":      {`{"tool_name":"mcp__hub__all","tool_input":{"tool_calls":"[{\"tool\":\"a\",\"tool\":\"bash\"}]"}}`, "?"},
		"an input that is a call":            {`{"tool_name":"mcp__hub__call","tool_input":{"tool_name":"bash","arguments":{"command":"ls"}}}`, "bash ls"},
		"an input that has a call":           {`{"tool_name":"mcp__hub__call","tool_input":{"tool_call":{"name":"bash","arguments":{"command":"ls"}}}}`, "bash ls"},
		"two members that could be the name": {`{"tool":"batch","args":{"tool_calls":[{"tool_name":"read","tool":"bash","parameters":{"command":"ls"}}]}}`, "?"},
		"two that could be the input":        {`{"tool":"batch","args":{"tool_calls":[{"tool":"bash","input":{"command":"ls"},"parameters":{"command":"rm"}}]}}`, "?"},
		"two, in another case":               {`{"tool_name":"mcp__hub__call","tool_input":{"tool":"bash","Tool":"read","args":{}}}`, "?"},
		"some can't be read":                 {`{"tool":"batch","args":{"tool_calls":[7,{"tool":"bash","parameters":{"command":"ls"}},{"tool":7,"parameters":{}}]}}`, "bash ls|?|?"},
		"no name":                            {`{"tool":"batch","args":{"tool_calls":[{"parameters":{"command":"ls"}}]}}`, "?"},
		"no input":                           {`{"tool":"batch","args":{"tool_calls":[{"tool":"list"}]}}`, "?"},
		"no list":                            {`{"tool":"batch","args":{"things":[]}}`, "?"},
		"a list that is a text":              {`{"tool":"batch","args":{"tool_calls":"[]"}}`, "?"},
		"an input that is a text":            {`{"tool":"batch","args":"x"}`, "?"},
		"an empty list":                      {`{"tool":"batch","args":{"tool_calls":[]}}`, ""},
		"calls that aren't those of tools":   {`{"tool_name":"mcp__phone__log","tool_input":{"calls":[{"name":"Eve","from":"1"},2],"tool_calls":["id1"],"name":"x","args":{"a":1}}}`, ""},
		"a tool that is known holds none":    {`{"tool_name":"Grep","tool_input":{"path":"a","tool_calls":[{"tool":"bash","parameters":{"command":"ls"}}]}}`, ""},
		"a list of tasks":                    {`{"tool_name":"TodoWrite","tool_input":{"todos":[{"content":"a","tool_calls":[{"tool":"bash","parameters":{"command":"ls"}}]}]}}`, "bash ls"},
		"what a sub-agent shall call":        {`{"tool_name":"Task","tool_input":{"prompt":"a","tools":[{"name":"Bash","input":{"command":"ls"}}]}}`, "Bash ls"},
		"what a sub-agent shall run":         {`{"tool_name":"delegate","tool_input":{"instruction":"a","plan":{"commands":["ls","wc"]}}}`, "delegate ls\nwc"},
		"calls by the tool's name":           {`{"tool_name":"Task","tool_input":{"prompt":"a","tools":{"Read":{"file_path":"a"},"b":{}}}}`, "Read a"},
		"the tools that a sub-agent has":     {`{"tool_name":"Task","tool_input":{"prompt":"a","tools":["Bash",{"name":"Read"}]}}`, ""},
		"calls as JSON in a text":            {`{"tool_name":"Task","tool_input":{"prompt":"a","tool_calls":"[{\"name\":\"Bash\",\"input\":{\"command\":\"ls\"}}]"}}`, "Bash ls"},
		"a shell's name":                     {`{"tool_name":"Task","tool_input":{"prompt":"a","steps":[{"bash":"ls"},{"run":"go test"},{"run":"7"},{"shell":"bash"}]}}`, "Task ls|Task go test"},
		"a shell that is given a text":       {`{"tool_name":"Task","tool_input":{"prompt":"a","steps":[{"tool":"bash","input":"ls"},{"tool":"bash","args":["ls"]}]}}`, "bash ls|bash"},
		"a script beside a command":          {`{"tool_name":"SlashCommand","tool_input":{"command":"/x","script":"ls"}}`, "SlashCommand /x\nls"},
		"a command of the agent":             {`{"tool_name":"task","tool_input":{"prompt":"a","command":"/review 7"}}`, ""},
		"a skill":                            {`{"tool_name":"Skill","tool_input":{"command":"pdf"}}`, ""},
		"a skill with commands":              {`{"tool_name":"Skill","tool_input":{"command":"pdf","commands":["ls"]}}`, "Skill pdf\nls"},
		"files that a skill's prompt names":  {`{"tool_name":"Skill","cwd":"/p","tool_input":{"skill":"pdf","args":"see @.env, @\"a b\" and @c#L1-2"}}`, "Skill .env, @/p|Skill .env @/p|Skill a b @/p|Skill c#L1-2 @/p|Skill c @/p"},
		"no files":                           {`{"tool_name":"Skill","tool_input":{"skill":"pdf","args":"a @ b @#"}}`, "Skill #"},
		"prompts that a plan allows":         {`{"tool_name":"ExitPlanMode","tool_input":{"plan":"a","allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}}`, ""},
		"calls deeper than anybody looks":    {`{"tool_name":"Task","tool_input":` + strings.Repeat(`{"a":`, 9) + `{"command":"ls"}` + strings.Repeat(`}`, 9) + `}`, "?"},
		"where the calls run":                {`{"tool":"batch","cwd":"/p","args":{"tool_calls":[{"tool":"bash","hook_event_name":"beforeReadFile","cwd":"/q","parameters":{"command":"ls"}}]}}`, "bash ls @/p"},
	} {
		t.Run(sentence, func(t *testing.T) {
			tools := ToolsOf(ToolPre, []byte(c.data))
			if diff := cmp.Diff(toolOf(t, c.data), tools[0]); diff != "" {
				t.Errorf("the call itself (-ToolOf +ToolsOf):\n%s", diff)
			}
			var got []string
			for _, tool := range tools[1:] {
				words := append([]string{tool.Name}, tool.Paths...)
				if tool.Unread() {
					words[0] = "?"
				}
				if tool.Command != "" {
					words = append(words, tool.Command)
				}
				if tool.Cwd != "" {
					words = append(words, "@"+tool.Cwd)
				}
				got = append(got, strings.Join(words, " "))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("ToolsOf(%s) (-want +got):\n%s", c.data, diff)
			}
		})
	}
}

func TestToolsOfOtherEvents(t *testing.T) {
	if got := ToolsOf(SessionStart, []byte(`{"tool_name":"Bash"}`)); got != nil {
		t.Errorf("tools %v of an event that is about none", got)
	}
	if got := ToolsOf(ToolPre, []byte(`[`)); len(got) != 1 || !got[0].Unread() {
		t.Errorf("tools %v of what is no object; want one that can't be read", got)
	}
}

func TestHeldCallsAreBounded(t *testing.T) {
	call := `{"tool":"bash","parameters":{"command":"ls"}},`
	inner := `{"tool":"batch","parameters":{"tool_calls":[` + strings.Repeat(call, 200) + call[:len(call)-1] + `]}}`
	got := ToolsOf(ToolPre, []byte(`{"tool":"batch","args":{"tool_calls":[`+inner+`,`+inner+`]}}`))
	if len(got) != MaxToolCalls || !got[len(got)-1].Unread() {
		t.Errorf("%d calls, the last is %+v; want %d, and that there are more", len(got), got[len(got)-1], MaxToolCalls)
	}
}
