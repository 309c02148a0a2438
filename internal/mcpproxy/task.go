package mcpproxy

import (
	"context"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// startedTask returns the id of the task in a result of revision 2025-11-25 or of the tasks
// extension. It is empty if the result is not a task.
func startedTask(result events.Object) (id string) {
	if inner, ok := result.Get("task"); ok {
		if task, err := events.ParseObject(inner); err == nil {
			result = task
		}
	}
	id, _ = result.GetString("taskId")
	return id
}

// ended reports whether a task has a result or an error of the tool. It ignores case, as some
// clients do.
func ended(task events.Object) bool {
	for name := range task.All() {
		if strings.EqualFold(name, "result") || strings.EqualFold(name, "error") {
			return true
		}
	}
	return false
}

// taskNews handles a notification about a task. If it has the result of the tool, it asks the
// router first.
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
	m = m.judgeable()
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
