package events

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzToolOf gives it whatever data: nothing panics, all bounds hold, what is
// unclear is said, and the data stays as it was.
func FuzzToolOf(f *testing.F) {
	for _, s := range []string{
		`{"tool_name":"Bash","tool_input":{"command":["bash","-lc","ls"]},"cwd":"/p"}`,
		`{"tool_name":"apply_patch","tool_input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`,
		`{"tool_call":{"function":{"name":"shell","arguments":"{\"command\":\"ls\"}"}}}`,
		`{"hook_event_name":"beforeShellExecution","command":"ls"}`, `{"tool_name":"mcp__a__b","mcp_context":{"server_name":"s"}}`,
		`{"tool_name":"web_fetch","tool_input":{"prompt":"see https://x"}}`, `{"tool_name":"Edit","tool_input":{"edits":[{"file_path":"a"}]}}`,
		`{"tool":"batch","args":{"tool_calls":[{"tool":"bash","parameters":{"command":"ls"}},{"function":{"name":"Read","arguments":"{\"path\":\"a\"}"}}]}}`,
		`{"tool_name":"mcp__a__b","tool_input":{"tool_name":"Bash","arguments":{"command":"rm","args":["-rf","/"]},"url":"view-source:FILE://h/%2e"}}`,
		`{"tool_name":"x","tool_input":{"cmd":1}}`, `{"tool":{"name":7}}`, `[`, `{"tool_name":"mcp_"}`, `{"tool_name":"MCP:"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		tool, ok := ToolOf(ToolPre, data)
		if !ok || !slices.Contains(ToolClasses(), tool.Class) {
			t.Fatalf("class %q, ok %v", tool.Class, ok)
		}
		if tool.Operation != "" && !slices.Contains(ToolOperations(), tool.Operation) {
			t.Errorf("operation %q", tool.Operation)
		}
		if len(tool.Paths) > MaxToolPaths || len(tool.URLs) > MaxToolPaths {
			t.Errorf("%d paths, %d URLs", len(tool.Paths), len(tool.URLs))
		}
		if tool.Command != "" && tool.Class != ClassShell && tool.Class != ClassMCP {
			t.Errorf("a command of class %s", tool.Class)
		}
		if o, err := ParseObject(data); err != nil && (tool.Known || !tool.Partial) {
			t.Errorf("data is refused (%v), and yet known %v, partial %v", err, tool.Known, tool.Partial)
		} else if err == nil {
			guardSeesCommand(t, o, tool)
		}
		if !bytes.Equal(before, data) {
			t.Error("ToolOf changed the data")
		}
		if all := ToolsOf(ToolPre, data); len(all) > MaxToolCalls || !cmp.Equal(tool, all[0]) {
			t.Errorf("%d calls, the first is %+v, not %+v", len(all), all[0], tool)
		}
		if again, _ := ToolOf(ToolPre, data); !cmp.Equal(tool, again) {
			t.Errorf("ToolOf is not the same twice:\n%s", cmp.Diff(tool, again))
		}
	})
}

// guardSeesCommand: where tool_input has a command that is a text, the tool has it,
// unless its name says that it runs none, or it is a shell that is given a script.
func guardSeesCommand(t *testing.T, data Object, tool Tool) {
	t.Helper()
	name, isText := data.GetString("tool_name")
	raw, _ := data.Get("tool_input")
	input, ok := objectOf(raw)
	command, hasCommand := input.GetString("command")
	if !isText || name == "" || !ok || !hasCommand || command == "" || isShell(command) {
		return
	}
	if kind, known := kindOf(name); known && kind.class != ClassShell && tool.Class != ClassMCP {
		return
	}
	if !strings.Contains(tool.Command, command) {
		t.Errorf("command %q is not in %q", command, tool.Command)
	}
}
