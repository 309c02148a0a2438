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

// Claude Code ignores a result of another form than its tool's, and shows the model the original:
// such a change withholds the result.
func TestClaudeCodeTakesResultsInTheirForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, result string
		change       changing
		takes        bool
	}{
		{"Bash", `{"stdout":"SECRET","interrupted":false}`, changing{"SECRET", "MASKED"}, true},
		{"Bash", `{"stdout":"SECRET","interrupted":false}`, changing{`"interrupted":false`, `"interrupted":true`}, true},
		{"Bash", `{"stdout":"SECRET","interrupted":false}`, changing{`"stdout":"SECRET","interrupted":false`, `"redacted":true`}, false},
		{"Bash", `{"stdout":"SECRET","interrupted":false}`, changing{`"stdout":"SECRET",`, ``}, false},
		{"Bash", `{"stdout":"SECRET","interrupted":false}`, changing{`"SECRET"`, `null`}, false},
		{"Glob", `{"filenames":["/a","SECRET"]}`, changing{`,"SECRET"`, ``}, true},
		{"Glob", `{"filenames":["/a","SECRET"]}`, changing{`"SECRET"`, `1`}, false},
		{"Grep", `{"mode":"content","content":"SECRET"}`, changing{`"mode":"content"`, `"mode":"MASKED"`}, false},
		{"mcp__db__query", `{"rows":"SECRET"}`, changing{`"rows":"SECRET"`, `"redacted":true`}, true},
	} {
		h := newCall(t, "claude-code", "PostToolUse", "")
		h.Router = c.change
		out := h.Answer(t.Context(), []byte(`{"session_id":"s","tool_name":"`+c.tool+`","tool_response":`+c.result+`}`))
		if got := string(out.Stdout); strings.Contains(got, `"decision":"block"`) == c.takes || !strings.Contains(got, `"updatedToolOutput":`) {
			t.Errorf("%s %v: %s; want it taken: %t", c.tool, c.change, got, c.takes)
		}
	}
}

// A denied result that can't be withheld, since the message can't be read, stops Claude Code.
func TestClaudeCodeStopsWhereAResultCannotBeWithheld(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for _, document := range []string{``, `{"tool_response":"SECR`, `{"tool_name":"Bash","toolResponse":"SECRET"}`, `{"tool_name":"mcp__a__b","tool_response":` + deep + `}`} {
		out := newCall(t, "claude-code", "PostToolUse", "nats://127.0.0.1:1").Answer(t.Context(), []byte(document))
		if got := string(out.Stdout); !strings.HasPrefix(got, `{"continue":false,"stopReason":"Blocked`) {
			t.Errorf("%.40s: %s; want it to stop", document, got)
		}
	}
}
