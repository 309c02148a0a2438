package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// printer prints the demo.
type printer struct {
	out    *term.Printer
	began  time.Time
	number int

	request *verdict.Approval // of the current event
}

func (p *printer) title(hooks int) {
	p.out.Print("%s\n", p.out.Paint(term.Bold, "hook-router demo: one agent turn"))
	p.out.Print("An embedded NATS server, a router and %d hooks, ready after %d ms.\n",
		hooks, time.Since(p.began).Milliseconds())
}

// head prints the line of one event.
func (p *printer) head(s step, verdict string, took time.Duration) {
	p.number++
	p.out.Print("\n%2d  %s %-28s %s  %s\n", p.number, p.out.Paint(term.Bold, fmt.Sprintf("%-24s", s.Event)), term.Clip(subject(s), 28), verdict,
		p.out.Paint(term.Dim, fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000)))
}

func (p *printer) answered(s step, x agent.Execution, answers []answer, took time.Duration) {
	p.head(s, p.verdict(x.Action), took)
	for _, hook := range answers {
		p.hook(hook)
	}
	if !x.Permitted() && !slices.ContainsFunc(answers, func(h answer) bool { return h.result.Action == chain.Deny }) {
		p.line(term.Red, "no hook", "deny", x.Reason)
	}
	if x.Permitted() && modified(answers) {
		p.arrow("the tool gets " + input(x.Data))
	}
	if q := p.request; q != nil {
		p.arrow("approval requested: " + strings.Join(q.Options, " / "))
		p.arrow(fmt.Sprintf("ann answers %q; the answer covers exactly this data, %s…", x.Approval.Option, q.DataSHA256[:12]))
		p.request = nil
	}
	for _, m := range x.Messages {
		p.arrow(fmt.Sprintf("the agent's context gains %d characters", len([]rune(m.Content))))
	}
}

// asked keeps an approval request until its event is printed.
func (p *printer) asked(q verdict.Approval) { p.request = &q }

func (p *printer) hook(h answer) {
	r := h.result
	text, code := r.Reason, term.Dim
	switch r.Action {
	case chain.Deny:
		code = term.Red
	case chain.Modify:
		text, code = "changed the data", term.Cyan
	case chain.InjectContext:
		text, code = r.ContextInjection, "34"
	case chain.AskUser:
		text, code = r.ApprovalPrompt, term.Yellow
	}
	if h.err != nil {
		text, code = "failed: "+h.err.Error(), term.Red
	}
	p.line(code, h.hook, action(r), oneLine(text))
	if r.UserMessage != "" {
		p.line("35", "", "tells the user", oneLine(r.UserMessage))
	}
}

// columns is the width of the output.
const columns = 80

// line prints what a hook did, and in the last column a text of up to three lines.
func (p *printer) line(code term.Color, name, did, text string) {
	const before = 40
	for i, part := range wrap(text, columns-before, 3) {
		if i > 0 {
			name, did = "", ""
		}
		line := strings.TrimRight(fmt.Sprintf("%-14s %s", did, part), " ")
		p.out.Print("      %-18s %s\n", name, p.out.Paint(code, line))
	}
}

func (p *printer) arrow(text string) {
	for i, part := range wrap(text, columns-6, 2) {
		p.out.Print("    %s %s\n", map[bool]string{true: "→", false: " "}[i == 0], part)
	}
}

// indented prints a text below the previous line.
func (p *printer) indented(code term.Color, text string) {
	for _, part := range wrap(text, columns-4, 4) {
		p.out.Print("    %s\n", p.out.Paint(code, part))
	}
}

// wrap breaks a text between words into lines of at most width characters. If there are more than
// limit lines, it cuts them and ends the last one with an ellipsis.
func wrap(text string, width, limit int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
		for runes := []rune(line); len(runes) > width; runes = []rune(line) { // a long word
			lines, line = append(lines, string(runes[:width])), string(runes[width:])
		}
	}
	lines = append(lines, line)
	if len(lines) > limit {
		last := []rune(lines[limit-1])
		lines = append(lines[:limit-1], string(last[:min(len(last), width-1)])+"…")
	}
	return lines
}

func (p *printer) collected(s step, c agent.Collection, took time.Duration) {
	p.head(s, p.out.Paint(term.Cyan, "collected "+fmt.Sprint(len(c.Values))), took)
	for i, v := range c.Values {
		p.line(term.Cyan, c.From[i], "contributes", oneLine(string(v)))
	}
}

func (p *printer) verdict(a verdict.Action) string {
	code := term.Green
	if a != verdict.Continue {
		code = "1;31"
	}
	return p.out.Paint(code, string(a))
}

func (p *printer) killed(guard string) {
	p.out.Print("\n%s\n", p.out.Paint(term.Bold, "Killing the worker of "+guard+" and repeating the call:"))
}

func (p *printer) held() {
	p.out.Print("\nDenied although no worker answered: the on_failure of the guard is deny.\n")
}

func (p *printer) proved(honest, forged audit.Report) {
	p.out.Print("\n%s\n\n", p.out.Paint(term.Bold, "Every step is in the audit log, on disk before the agent got its answer:"))
	p.out.Print("%d records in %d messages, exported and verified with the public key:\n", honest.Records, honest.Messages)
	p.indented(term.Green, honest.String())
	p.out.Print("and the same file with one hook's \"deny\" changed to \"allow\":\n")
	p.indented(term.Red, forged.String())
}

func (p *printer) end(observed int64) {
	p.out.Print("\nHooks in mode observe got %d events as well. Total time: %.2f s.\n", observed, time.Since(p.began).Seconds())
}

func action(r chain.Result) string {
	if r.Action == "" {
		return string(chain.Continue)
	}
	return string(r.Action)
}

func modified(answers []answer) bool {
	for _, h := range answers {
		if h.result.Action == chain.Modify {
			return true
		}
	}
	return false
}

// subject returns a short description of an event.
func subject(s step) string {
	var d struct {
		ToolName  string         `json:"tool_name"`
		ToolInput map[string]any `json:"tool_input"`
		UserQuery string         `json:"user_query"`
		Prompt    string         `json:"prompt"`
		Source    string         `json:"source"`
		Message   string         `json:"message"`
		Status    string         `json:"status"`
		Reason    string         `json:"reason"`
	}
	if json.Unmarshal(s.Data, &d) != nil {
		return ""
	}
	for _, key := range []string{"command", "file_path", "to"} {
		if v, ok := d.ToolInput[key].(string); ok {
			return d.ToolName + " " + shortPath(v)
		}
	}
	for _, text := range []string{d.ToolName, d.UserQuery, d.Prompt, d.Source, d.Message, d.Status, d.Reason} {
		if text != "" {
			return text
		}
	}
	return ""
}

// shortPath returns a path relative to the demo's workspace.
func shortPath(path string) string {
	if _, after, ok := strings.Cut(path, "/workspace/"); ok {
		return after
	}
	return path
}

func input(data json.RawMessage) string {
	var d struct {
		ToolInput json.RawMessage `json:"tool_input"`
	}
	_ = json.Unmarshal(data, &d) // on failure, nothing is shown
	return oneLine(string(d.ToolInput))
}

func oneLine(text string) string { return strings.Join(strings.Fields(shortAll(text)), " ") }

func shortAll(text string) string {
	before, after, ok := strings.Cut(text, "/workspace/")
	if !ok {
		return text
	}
	start := strings.LastIndexAny(before, " \n\"") + 1
	return text[:start] + after
}
