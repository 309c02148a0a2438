package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// printer writes the demo for a person.
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
	p.out.Print("\n%2d  %s %-38s %s  %s\n", p.number, p.out.Paint(term.Bold, fmt.Sprintf("%-24s", s.Event)), term.Clip(subject(s), 38), verdict,
		p.out.Paint(term.Dim, fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000)))
}

func (p *printer) answered(s step, x agent.Execution, answers []answer, took time.Duration) {
	p.head(s, p.verdict(x.Action), took)
	for _, hook := range answers {
		p.hook(hook)
	}
	if !x.Permitted() && (len(answers) == 0 || answers[len(answers)-1].result.Action != chain.Deny) {
		p.line(term.Red, "no hook", x.Reason)
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
	p.line(code, h.hook, fmt.Sprintf("%-14s %s", action(r), oneLine(text)))
	if r.UserMessage != "" {
		p.line("35", "", fmt.Sprintf("%-14s %s", "tells the user", oneLine(r.UserMessage)))
	}
}

func (p *printer) line(code term.Color, name, text string) {
	p.out.Print("      %-18s %s\n", name, p.out.Paint(code, term.Clip(strings.TrimRight(text, " "), 96)))
}

func (p *printer) arrow(text string) { p.out.Print("    → %s\n", term.Clip(text, 140)) }

func (p *printer) collected(s step, c agent.Collection, took time.Duration) {
	p.head(s, p.out.Paint(term.Cyan, "collected "+fmt.Sprint(len(c.Values))), took)
	for i, v := range c.Values {
		p.line(term.Cyan, c.From[i], oneLine(string(v)))
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
	p.out.Print("\nDenied although no worker answered: the guard is registered with on_failure deny.\n")
}

func (p *printer) proved(honest, forged audit.Report) {
	p.out.Print("\n%s\n\n", p.out.Paint(term.Bold, "Every step is in the audit log, and was on disk before the agent got its answer:"))
	p.out.Print("%d records in %d messages, exported to a file and verified with the router's public key:\n", honest.Records, honest.Messages)
	p.out.Print("    %s\n", p.out.Paint(term.Green, honest.String()))
	p.out.Print("and the same file with one hook's \"deny\" changed to \"allow\":\n")
	p.out.Print("    %s\n", p.out.Paint(term.Red, forged.String()))
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

// subject says in a few words what an event is about.
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

// shortPath leaves out where the demo's workspace is.
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
	_ = json.Unmarshal(data, &d) // shown as far as it can be
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
