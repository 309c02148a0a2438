package mcpproxy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// fromServer handles a line of the server: a message or a batch. It relays messages unchanged,
// except for results that the router judges. It drops invalid messages and responses to no open
// request.
func (p *Proxy) fromServer(ctx context.Context, line []byte) {
	parts, isBatch, err := split(line)
	if err != nil {
		p.unreadable(line, err)
		return
	}
	if !isBatch {
		p.routeBack(ctx, line, parts[0])
		return
	}
	for _, part := range parts {
		p.routeBack(ctx, part, part)
	}
}

func (p *Proxy) routeBack(ctx context.Context, line, body []byte) {
	m, err := parse(body)
	switch {
	case err != nil:
		p.unreadable(body, err)
	case m.kind == notification && strings.HasPrefix(m.method, "notifications/tasks"):
		p.taskNews(ctx, m)
	case m.kind != response || m.key == "": // an error without a request
		p.client.send(line)
	default:
		p.answer(ctx, m)
	}
}

// unreadable handles an invalid or ambiguous message: it withholds the response to an open request,
// and drops everything else.
func (p *Proxy) unreadable(line []byte, cause error) {
	id := strayID(line)
	if key := keyOf(id); key != "" {
		switch e := p.requests.answered(key, false, nil); {
		case e == nil:
		case e.call != nil:
			p.client.send(withheld(e, "Its result is withheld, since no policy can judge what can't be read: "+cause.Error()))
			return
		case isOne(line):
			p.client.send(line)
			return
		default: // a client could take it for the response to a call
			p.client.send(failure(e.id, codeRefused, "The server's response is withheld by hook-agent, since it can be taken for that to another request: "+cause.Error()))
			return
		}
	}
	p.note("dropped what the server wrote: %v: %q", cause, clip(string(line)))
}

// answer handles a response of the server.
func (p *Proxy) answer(ctx context.Context, m message) {
	ctx, cancel := context.WithCancel(ctx)
	e := p.requests.answered(m.key, true, cancel)
	switch {
	case e == nil:
		cancel()
		p.note("dropped a response of the server to a request that is not open: %s", clip(string(m.id)))
		return
	case e.call == nil:
		cancel()
		p.client.send(m.raw)
		return
	}
	m = m.judgeable()
	if !e.task {
		e.call.duration = time.Since(e.call.began)
		if _, result, err := outcome(m); err == nil && !e.call.reads() { // before the server sends more about the task
			p.requests.startTask(startedTask(result), e.call)
		}
	}
	p.results <- struct{}{}
	go func() {
		defer func() { <-p.results }()
		defer cancel()
		out := p.after(ctx, m, e)
		if p.requests.done(m.key, e) {
			p.client.send(out)
		}
	}()
}

// after asks about the result of a call, and returns the response for the client.
func (p *Proxy) after(ctx context.Context, m message, e *entry) []byte {
	member, result, err := outcome(m)
	if err != nil {
		return withheld(e, "Its result is withheld, since it is not an object.")
	}
	if e.task && e.method != "tasks/result" && member == "result" && !ended(result) {
		return m.raw
	}
	d := p.ask(ctx, p.gate.After, p.postData(e.call, result, member == "error"), e.call.token)
	if d.Deny {
		return withheld(e, "Its result is withheld. "+d.Reason)
	}
	raw := m.raw
	if d.Changed != nil {
		if result, err = e.call.asResult(d.Changed); err != nil {
			return withheld(e, "Its result is withheld, since the policy changed it to what can't be read: "+err.Error())
		}
		raw = with(m.members, member, result.Bytes())
	}
	extra := d.Context
	if isFinal(result) {
		extra = joined(e.call.context, extra)
	}
	switch {
	case extra == "":
		return raw
	case member == "error" || e.method == "tasks/get" || e.call.reads() || !isFinal(result):
		p.note("there is no place for context in the response to %s; lost: %s", e.method, extra)
		return raw
	}
	return with(m.members, member, appended(result, extra))
}

// withheld returns the response to a request whose result is withheld.
func withheld(e *entry, why string) []byte {
	if !e.call.reads() {
		why = "The tool has run. " + why
	}
	return refusalOf(e, why)
}

// outcome returns the name of the response's member, result or error, and its value.
func outcome(m message) (member string, value events.Object, err error) {
	member = "result"
	raw, ok := m.members.Get(member)
	if !ok {
		member = "error"
		raw, _ = m.members.Get(member)
	}
	value, err = events.ParseObject(raw)
	return member, value, err
}

// postData returns the data of tool:post.
func (p *Proxy) postData(c *call, result events.Object, failed bool) []byte {
	w := events.NewObjectWriter(make([]byte, 0, len(c.input)+len(result.Bytes())+512))
	p.describe(&w, c)
	w.Raw("tool_result", result.Bytes())
	isError, _ := result.Get("isError")
	w.Raw("success", fmt.Appendf(nil, "%t", !failed && string(isError) != "true"))
	w.Int("duration_ms", c.duration.Milliseconds())
	return w.End()
}

// asResult parses the replacement of a result by hooks: an object, or a string for the result of a
// tool.
func (c *call) asResult(changed []byte) (events.Object, error) {
	value := jsontext.Value(changed)
	if value.Kind() == '"' && !c.reads() {
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return events.Object{}, err
		}
		value = with(events.Object{}, "content", contentOf(string(text)))
	}
	return events.ParseObject(value)
}

// isFinal reports whether a result is the result of the tool, not a task or a question.
func isFinal(result events.Object) bool {
	kind, hasKind := result.GetString("resultType")
	_, task := result.Get("task")
	return (!hasKind || kind == "complete") && !task
}

func joined(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, "\n\n")
}
