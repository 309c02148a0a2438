package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

const (
	toolsCall = "tools/call"
	toolsList = "tools/list"
	tasks     = "tasks/"
	cancelNow = "notifications/cancelled"
)

// fromClient handles one line of the client: a message or a batch. The messages of a batch are
// relayed one by one.
func (p *Proxy) fromClient(ctx context.Context, line []byte) {
	parts, isBatch, err := split(line)
	if err != nil {
		p.refuse(err)
		return
	}
	list := make([]message, len(parts))
	for i, part := range parts {
		if list[i], err = parse(part); err != nil {
			if isBatch {
				err = &malformed{code: codeInvalid, cause: fmt.Sprintf("message %d of the batch: %v", i+1, err)}
			}
			p.refuse(err)
			return
		}
	}
	for _, m := range list {
		p.route(ctx, m)
	}
}

// refuse sends the client an error for a message that is not relayed.
func (p *Proxy) refuse(err error) {
	m, ok := errors.AsType[*malformed](err)
	if !ok {
		m = &malformed{code: codeInvalid, cause: err.Error()}
	}
	p.client.send(failure(m.id, m.code, "Refused by hook-agent, which relays only what can be read in one way: "+m.cause))
}

// route relays one message of the client, asks the router about it first, or refuses it.
func (p *Proxy) route(ctx context.Context, m message) {
	switch {
	case m.kind == response:
		p.server.send(m)
	case m.kind == request && (m.method == toolsCall || reads[m.method].tool != ""):
		p.call(ctx, m)
	case isLikeRead(m.method):
		p.refuse(&malformed{m.id, codeInvalid, fmt.Sprintf("%s may read from the server in a way that is not judged", clip(m.method))})
	case isOf(m.method, "tools/") && m.method != toolsList:
		p.refuse(&malformed{m.id, codeInvalid, fmt.Sprintf("%s may run a tool in a way that is not judged", clip(m.method))})
	case isOf(m.method, tasks) && (m.kind != request || !strings.HasPrefix(m.method, tasks)):
		p.refuse(&malformed{m.id, codeInvalid, fmt.Sprintf("%s may reach a task in a way that is not judged", clip(m.method))})
	case m.method == cancelNow:
		p.cancelled(m)
	case m.kind == notification:
		p.server.send(m)
	case strings.HasPrefix(m.method, tasks):
		p.askTask(ctx, m)
	default:
		p.relay(m, &entry{id: m.id, method: m.method, state: sent})
	}
}

// isOf reports whether a method starts with a name, ignoring case.
func isOf(method, name string) bool {
	return len(method) >= len(name) && strings.EqualFold(method[:len(name)], name)
}

// relay relays a request unchanged.
func (p *Proxy) relay(m message, e *entry) {
	if refusal := p.requests.add(m.key, e); refusal != "" {
		p.refuse(&malformed{m.id, codeInvalid, refusal})
		return
	}
	p.server.send(m)
}

// cancelled handles the client's notification that it cancelled a request.
func (p *Proxy) cancelled(m message) {
	params, err := m.params("requestId")
	if err != nil {
		p.refuse(&malformed{nil, codeInvalid, err.Error()})
		return
	}
	id, _ := params.Get("requestId")
	if key := keyOf(id); key == "" || p.requests.cancelRequest(key) {
		p.server.send(m)
		p.server.abandoned(key)
	}
}

// askTask relays a request about a task. The router judges the result of the task as the result of
// the call that started it.
func (p *Proxy) askTask(ctx context.Context, m message) {
	params, err := m.params("taskId", "inputResponses")
	if err != nil {
		p.refuse(&malformed{m.id, codeInvalid, err.Error()})
		return
	}
	e := &entry{id: m.id, method: m.method, state: sent, task: true}
	if id, ok := params.GetString("taskId"); ok {
		e.call = p.requests.taskOf(id)
	}
	if e.call == nil && m.method != "tasks/list" {
		p.client.send(failure(m.id, codeRefused, "Refused by hook-agent: it did not see which tool call started this task, so nothing can judge its result."))
		return
	}
	if answers, ok := params.Get("inputResponses"); ok && e.call != nil {
		p.answerTask(ctx, m, e, answers, paramsBeside(params, "taskId", "inputResponses"))
		return
	}
	p.relay(m, e)
}

// answerTask asks the router about the client's answers to the server's questions about a task.
// They are further input of the call that started the task.
func (p *Proxy) answerTask(ctx context.Context, m message, e *entry, answers jsontext.Value, beside []byte) {
	call := *e.call
	call.answers, call.params = answers, beside
	p.judge(ctx, m, e, func(ctx context.Context, e *entry) {
		d := p.ask(ctx, p.gate.Before, p.preData(&call), nil)
		switch {
		case d.Deny:
			p.deny(m.key, e, d.Reason)
		case d.Changed != nil:
			p.deny(m.key, e, "Blocked: the policy wants other arguments, and the call runs already.")
		case p.requests.send(m.key, e):
			p.server.send(m)
		}
	})
}

// checkTool returns what is wrong with a tool's name; empty if it is valid.
func checkTool(name string) string {
	if name == "" || len(name) > 256 || name != strings.TrimSpace(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "the tool's name must be of 1 to 256 characters that can be seen"
	}
	return ""
}

// version is the member of a request's _meta with the protocol revision, since revision 2026-07-28.
const version = "io.modelcontextprotocol/protocolVersion"

// callParams are the parameters that a tools/call may have.
var callParams = append([]string{"name", "arguments", "task"}, protocolParams...)

// parseCall parses the parameters of a tools/call.
func parseCall(m message) (c *call, err error) {
	params, err := m.params(callParams...)
	if err != nil {
		return nil, err
	}
	for name := range params.All() {
		if !slices.Contains(callParams, name) {
			return nil, fmt.Errorf("hooks would not see its parameter %q", clip(name))
		}
	}
	c = &call{input: []byte("{}")}
	c.tool, _ = params.GetString("name")
	if wrong := checkTool(c.tool); wrong != "" {
		return nil, errors.New(wrong)
	}
	input, hasInput := params.Get("arguments")
	switch {
	case !hasInput || input.Kind() == 'n':
	case input.Kind() != '{':
		return nil, errors.New("the arguments of a tool must be an object")
	default:
		c.input = input
	}
	_, c.asTask = params.Get("task")
	c.params = paramsBeside(params, "name", "arguments", "inputResponses")
	err = c.readProtocolParams(params)
	return c, err
}

// readProtocolParams parses the parameters that every request may have.
func (c *call) readProtocolParams(params events.Object) error {
	meta, err := metaOf(params)
	if err != nil {
		return err
	}
	c.answers, _ = params.Get("inputResponses")
	c.token, _ = meta.Get("progressToken")
	if keyOf(c.token) == "" {
		c.token = nil
	}
	_, c.modern = meta.Get(version)
	return nil
}
