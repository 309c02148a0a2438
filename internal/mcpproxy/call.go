package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// call asks the router about a request that runs a tool or reads from the server, and relays it
// with the changes of hooks.
func (p *Proxy) call(ctx context.Context, m message) {
	parseParams := parseCall
	if m.method != toolsCall {
		parseParams = parseRead
	}
	c, err := parseParams(m)
	if unseen := m.extraMember(); err == nil && unseen != "" {
		err = fmt.Errorf("hooks would not see its member %q", clip(unseen))
	}
	if err != nil {
		p.refuse(&malformed{m.id, codeParams, err.Error()})
		return
	}
	p.judge(ctx, m, &entry{id: m.id, method: m.method, call: c}, func(ctx context.Context, e *entry) { p.before(ctx, m, e) })
}

// judge adds a request to the table and asks about it in a new goroutine.
func (p *Proxy) judge(ctx context.Context, m message, e *entry, ask func(ctx context.Context, e *entry)) {
	ctx, cancel := context.WithCancel(ctx)
	e.state, e.cancel = asking, cancel
	if refusal := p.requests.add(m.key, e); refusal != "" {
		cancel()
		p.refuse(&malformed{m.id, codeInvalid, refusal})
		return
	}
	select {
	case p.calls <- struct{}{}:
	default:
		cancel()
		p.deny(m.key, e, fmt.Sprintf("Blocked: %d tool calls are waiting for a decision already.", maxAsking))
		return
	}
	go func() {
		defer func() { <-p.calls }()
		defer cancel()
		ask(ctx, e)
	}()
}

// before asks about a call and applies the decision.
func (p *Proxy) before(ctx context.Context, m message, e *entry) {
	d := p.ask(ctx, p.gate.Before, p.preData(e.call), e.call.token)
	if d.Deny {
		p.deny(m.key, e, d.Reason)
		return
	}
	if d.Changed != nil {
		put := withInput
		if e.call.reads() {
			put = withParams
		}
		changed, err := put(m, d.Changed)
		if err != nil {
			p.deny(m.key, e, "Blocked: the policy wants other arguments, which can't be put in place: "+err.Error())
			return
		}
		m, e.call.input = changed, d.Changed
	}
	e.call.context, e.call.began = d.Context, time.Now()
	if p.requests.send(m.key, e) {
		p.server.send(m)
	}
}

// deny answers a denied call, unless the client has cancelled it.
func (p *Proxy) deny(key string, e *entry, reason string) {
	if !p.requests.done(key, e) {
		return
	}
	p.client.send(refusalOf(e, reason))
}

// refusalOf returns the response to a denied request: a tool result with the reason for the model
// where possible, otherwise an error.
func refusalOf(e *entry, reason string) []byte {
	if e.call.reads() || e.call.asTask && !e.task || e.method == "tasks/get" || e.method == "tasks/update" { // the result of such a request is not a tool result
		return failure(e.id, codeRefused, reason)
	}
	return reply(e.id, toolError(reason, e.call.modern))
}

// ask asks the gate. While a person decides, the client gets progress notifications if it sent a
// token.
func (p *Proxy) ask(ctx context.Context, question question, data []byte, token jsontext.Value) agenthook.Decision {
	ctx, cancel := context.WithCancel(ctx)
	var telling sync.WaitGroup
	defer telling.Wait()
	defer cancel()
	return question(ctx, data, func(r verdict.Approval) {
		if token != nil {
			telling.Go(func() { p.tell(ctx, token, r) })
		}
	})
}

type question = func(ctx context.Context, data []byte, waiting func(verdict.Approval)) agenthook.Decision

func (p *Proxy) tell(ctx context.Context, token jsontext.Value, r verdict.Approval) {
	tick := time.NewTicker(p.options.Tell)
	defer tick.Stop()
	for n := 1.0; ; n++ {
		p.client.send(progress(token, n/1e6, "waiting for a person: "+clip(r.Prompt))) // less than the progress that the server will report
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// preData returns the data of tool:pre.
func (p *Proxy) preData(c *call) []byte {
	w := events.NewObjectWriter(make([]byte, 0, len(c.input)+512))
	p.describe(&w, c)
	return w.End()
}

// describe writes the members that tool:pre and tool:post have in common.
func (p *Proxy) describe(w *events.ObjectWriter, c *call) {
	w.String("session_id", p.options.Session)
	w.String("tool_name", "mcp__"+p.options.Name+"__"+c.tool)
	w.Raw("tool_input", c.input)
	w.Text("cwd", p.options.Cwd)
	w.Object("mcp_context", func(w *events.ObjectWriter) {
		w.String("server_name", p.options.Name)
		w.String("tool_name", c.tool)
		w.Text("method", c.method)
	})
	if c.params != nil {
		w.Raw("mcp_params", c.params)
	}
	if c.answers != nil {
		w.Raw("mcp_input_responses", c.answers)
	}
}

// withInput returns a tools/call with other arguments. All other values keep their bytes.
func withInput(m message, input []byte) (message, error) {
	if _, err := events.ParseObject(input); err != nil {
		return m, err
	}
	params, err := m.params()
	if err != nil {
		return m, err
	}
	return parse(with(m.members, "params", with(params, "arguments", input)))
}

func metaOf(params events.Object) (events.Object, error) {
	raw, ok := params.Get("_meta")
	if !ok || raw.Kind() == 'n' {
		return events.Object{}, nil
	}
	meta, err := events.ParseObject(raw)
	if err != nil {
		return meta, errors.New("its _meta must be an object")
	}
	return meta, nil
}
