package mcpproxy

import (
	"context"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// startedTask is the id of the task that a result stands for: of revision 2025-11-25, or of
// the extension for tasks. It is empty for a result that is none.
func startedTask(result events.Object) (id string) {
	if inner, ok := result.Get("task"); ok {
		if task, err := events.ParseObject(inner); err == nil {
			result = task
		}
	}
	id, _ = result.GetString("taskId")
	return id
}

// ended reports whether what a server says of a task holds what the tool returned, for clients that
// ignore case too.
func ended(task events.Object) bool {
	for name := range task.All() {
		if strings.EqualFold(name, "result") || strings.EqualFold(name, "error") {
			return true
		}
	}
	return false
}

// taskNews handles a notification about a task. Where it holds what the tool returned, that
// is judged first.
func (p *Proxy) taskNews(ctx context.Context, m message) {
	params, err := m.params("taskId", "result", "error")
	if err != nil {
		p.unreadable(m.raw, err)
		return
	}
	if !ended(params) {
		p.client.send(m.raw)
		return
	}
	id, _ := params.GetString("taskId")
	c := p.requests.taskOf(id)
	if c == nil {
		p.note("dropped the result of a task that no call through this proxy has started")
		return
	}
	p.results <- struct{}{}
	go func() {
		defer func() { <-p.results }()
		d := p.gate.After(ctx, p.postData(c, params, false), nil)
		switch {
		case d.Deny:
			p.note("withheld the result of a task: %s", d.Reason)
			return
		case d.Changed != nil:
			changed, err := c.asResult(d.Changed)
			if err != nil {
				p.note("withheld the result of a task: the policy changed it to what can't be read: %v", err)
				return
			}
			m.raw = with(m.members, "params", changed.Bytes())
		}
		p.client.send(m.raw)
	}()
}
