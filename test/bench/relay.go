package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// relay is the floor. In place of the router, with the same kind of connection, it calls the same
// hooks with the same headers and body, and answers with the same headers and body. It does not
// parse JSON, look anything up or log. With prefixFloor it also publishes nothing; with prefixRelay
// it publishes two messages for watchers, as the router does.
type relay struct {
	conn  *nats.Conn
	calls []string // subjects of the hooks, in call order
}

// relayedResult is as long as the result that the router publishes.
var relayedResult = bytes.Repeat([]byte("x"), resultSize)

// attributes are the headers of the agent that are passed to hooks.
var attributes = [...]string{"ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time"}

// The router's default timeouts of a chain and of a hook.
const (
	chainTime = 30 * time.Second
	hookTime  = 5 * time.Second
)

func relayRole(ctx context.Context, o options, ready readyFunc) error {
	b, err := natsx.Connect(natsx.Options{URL: o.nats, Name: "relay"})
	if err != nil {
		return err
	}
	defer b.Close()
	r := &relay{conn: b.Conn()}
	for i := range 10 {
		r.calls = append(r.calls, subjects(prefixRouter).Call(hopID(i)))
	}
	for prefix, forward := range map[string]func(*nats.Msg){prefixFloor: r.forward, prefixRelay: r.forwardAndPublish} {
		if _, err := b.Conn().QueueSubscribe(subjects(prefix).Of("emit", ">"), "relay", func(m *nats.Msg) { go forward(m) }); err != nil {
			return err
		}
	}
	if err := b.Conn().FlushTimeout(5 * time.Second); err != nil {
		return err
	}
	ready("")
	<-ctx.Done()
	return nil
}

// forward forwards an event to its hooks and answers it.
func (r *relay) forward(m *nats.Msg) { r.relay(m, events.NewID()) }

// forwardAndPublish is like forward, but also publishes the event before and a result afterwards.
func (r *relay) forwardAndPublish(m *nats.Msg) {
	chainID, event := events.NewID(), strings.TrimPrefix(m.Subject, prefixRelay+".emit.")
	_ = r.conn.PublishMsg(&nats.Msg{Subject: prefixRelay + ".event." + event, Header: r.header(m, chainID), Data: m.Data})
	r.relay(m, chainID)
	_ = r.conn.PublishMsg(&nats.Msg{Subject: prefixRelay + ".result." + event, Data: relayedResult})
}

// header returns the headers that the router passes on for an event.
func (r *relay) header(m *nats.Msg, chainID string) nats.Header {
	h := make(nats.Header, len(attributes)+4)
	for _, name := range attributes {
		h[name] = m.Header[name]
	}
	h[wire.HeaderChainID] = []string{chainID}
	return h
}

// relay calls the hooks and answers. If a hook fails, it does not answer, so the bench fails.
func (r *relay) relay(m *nats.Msg, chainID string) {
	ctx, cancel := context.WithTimeout(context.Background(), chainTime)
	defer cancel()
	end, _ := ctx.Deadline()
	hops := chains[m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]]
	for _, subject := range r.calls[:hops] {
		left := min(hookTime, time.Until(end))
		h := r.header(m, chainID)
		h[wire.HeaderCallID] = []string{rand.Text()}
		h[wire.HeaderMode] = []string{"enforce"}
		h[wire.HeaderTimeout] = []string{strconv.FormatInt(left.Milliseconds(), 10)}
		if _, err := r.conn.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Header: h, Data: m.Data}); err != nil {
			return
		}
	}
	body := make([]byte, 0, len(m.Data)+32)
	body = append(body, `{"action":"continue","data":`...)
	body = append(append(body, m.Data...), '}')
	_ = r.conn.PublishMsg(&nats.Msg{Subject: m.Reply, Data: body, Header: nats.Header{
		wire.HeaderEventID: m.Header["ce-id"],
		wire.HeaderChainID: {chainID},
		wire.HeaderCount:   {strconv.Itoa(hops)},
		wire.HeaderAudit:   {"off"},
	}})
}
