package agenthook_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
)

// Claude Code shows the model the result itself if what replaces it has another form. The forms are
// those that it sends.
func TestClaudeCodeWithholdsResultsInTheirForm(t *testing.T) {
	t.Parallel()
	d, _ := agenthook.Find("claude-code")
	for _, c := range []struct{ name, tool, result, want string }{
		{"bash", "Bash", `{"stdout":"SECRET","stderr":"SECRET","interrupted":false}`, `{"interrupted":false,"stderr":"","stdout":""}`},
		{"a file", "Read", `{"type":"text","file":{"filePath":"/a","content":"SECRET","numLines":1,"startLine":1,"totalLines":1}}`, `{"type":"text","file":{"filePath":"","content":"","numLines":0,"startLine":1,"totalLines":0}}`},
		{"an image", "Read", `{"type":"image","file":{"base64":"SECRET","type":"image/png","originalSize":7}}`, `{"type":"text","file":{"filePath":"","content":"","numLines":0,"startLine":1,"totalLines":0}}`},
		{"a search", "Grep", `{"mode":"content","numFiles":0,"filenames":["SECRET"],"content":"SECRET"}`, `{"content":"","filenames":[""],"mode":"content","numFiles":0}`},
		{"not a word of a schema", "Grep", `{"mode":"the SECRET is this"}`, `{"mode":""}`},
		{"an MCP tool", "mcp__db__query", `[{"type":"text","text":"SECRET"},{"type":"image","data":"SECRET"}]`, `[{"type":"text","text":""}]`},
		{"an MCP object", "mcp__db__query", `{"status":"SECRET"}`, `{"status":""}`},
		{"a text", "Skill", `"SECRET"`, `""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := agenthook.Hook{Dialect: d, Native: "PostToolUse"}
			for _, document := range []string{
				`{"hook_event_name":"PostToolUse","tool_name":"` + c.tool + `","tool_response":` + c.result + `}`,
				`{"hook_event_name":"PostToolUse","cwd":"","cwd":"","tool_name":"` + c.tool + `","tool_response":` + c.result + `}`,
			} {
				out := h.Refuse([]byte(document), errors.New("no router"))
				if got := string(out.Stdout); !strings.Contains(got, `"updatedToolOutput":`+c.want+`}`) || strings.Contains(got, "SECRET") {
					t.Errorf("%s%s; want %s", got, out.Stderr, c.want)
				}
			}
		})
	}
}
