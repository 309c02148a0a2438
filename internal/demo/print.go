package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// printer writes the demo for a person.
type printer struct {
	out    io.Writer
	colour bool
	began  time.Time
	number int

	request *verdict.Approval // of the current event
}

func (p *printer) paint(code, text string) string {
	if !p.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p *printer) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

func (p *printer) title(hooks int) {
	p.printf("%s\n", p.paint("1", "hook-router demo: one agent turn"))
	p.printf("An embedded NATS server, a router and %d hooks, ready after %d ms.\n",
		hooks, time.Since(p.began).Milliseconds())
}

// head prints the line of one event.
func (p *printer) head(s step, verdict string, took time.Duration) {
	p.number++
	p.printf("\n%2d  %s %-38s %s  %s\n", p.number, p.paint("1", fmt.Sprintf("%-24s", s.Event)), cut(subject(s), 38), verdict,
		p.paint("2", fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000)))
}

func (p *printer) answered(s step, x agent.Execution, answers []answer, took time.Duration) {
	p.head(s, p.verdict(x.Action), took)
	for _, hook := range answers {
		p.hook(hook)
	}
	if !x.Permitted() && (len(answers) == 0 || answers[len(answers)-1].result.Action != chain.Deny) {
		p.line("31", "no hook", x.Reason)
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
	text, code := r.Reason, "2"
	switch r.Action {
	case chain.Deny:
		code = "31"
	case chain.Modify:
		text, code = "changed the data", "36"
	case chain.InjectContext:
		text, code = r.ContextInjection, "34"
	case chain.AskUser:
		text, code = r.ApprovalPrompt, "33"
	}
	if h.err != nil {
		text, code = "failed: "+h.err.Error(), "31"
	}
	p.line(code, h.hook, fmt.Sprintf("%-14s %s", action(r), oneLine(text)))
	if r.UserMessage != "" {
		p.line("35", "", fmt.Sprintf("%-14s %s", "tells the user", oneLine(r.UserMessage)))
	}
}

func (p *printer) line(code, name, text string) {
	p.printf("      %-18s %s\n", name, p.paint(code, cut(strings.TrimRight(text, " "), 96)))
}

func (p *printer) arrow(text string) { p.printf("    → %s\n", cut(text, 140)) }

func (p *printer) collected(s step, c agent.Collection, took time.Duration) {
	p.head(s, p.paint("36", "collected "+fmt.Sprint(len(c.Values))), took)
	for i, v := range c.Values {
		p.line("36", c.From[i], oneLine(string(v)))
	}
}

func (p *printer) verdict(a verdict.Action) string {
	code := "32"
	if a != verdict.Continue {
		code = "1;31"
	}
	return p.paint(code, string(a))
}

func (p *printer) killed(guard string) {
	p.printf("\n%s\n", p.paint("1", "Killing the worker of "+guard+" and repeating the call:"))
}

func (p *printer) held() {
	p.printf("\nDenied although no worker answered: the guard is registered with on_failure deny.\n")
}

func (p *printer) proved(honest, forged audit.Report) {
	p.printf("\n%s\n\n", p.paint("1", "Every step is in the audit log, and was on disk before the agent got its answer:"))
	p.printf("%d records in %d messages, exported to a file and verified with the router's public key:\n", honest.Records, honest.Messages)
	p.printf("    %s\n", p.paint("32", honest.String()))
	p.printf("and the same file with one hook's \"deny\" changed to \"allow\":\n")
	p.printf("    %s\n", p.paint("31", forged.String()))
}

func (p *printer) end(observed int64) {
	p.printf("\nHooks in mode observe got %d events as well. Total time: %.2f s.\n", observed, time.Since(p.began).Seconds())
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

func cut(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n-1]) + "…"
}
