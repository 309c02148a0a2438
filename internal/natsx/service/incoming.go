package service

import (
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Request is one request that a service received.
type Request struct {
	Subject string
	Header  wire.Header
	Data    []byte
	Waited  time.Duration // for its turn: see [Endpoint.Wait]; the sender may have stopped waiting

	msg   *nats.Msg
	reply string      // the subject to reply on; empty for none
	echo  wire.Header // headers that every reply repeats
	conn  *natsx.Conn

	read   bool // sender and hidden are set
	sender Sender
	hidden error
}

func newRequest(m *nats.Msg, c *natsx.Conn) *Request {
	return &Request{Subject: m.Subject, Header: m.Header, Data: m.Data, msg: m, reply: m.Reply, echo: wire.Echo(m.Header), conn: c}
}

// newImported returns a request that the server imported from the account of an agent. The subjects
// prove the account: the sender chooses neither its own name nor that of whoever gets the reply.
func newImported(m *nats.Msg, c *natsx.Conn) *Request {
	r := newRequest(m, c)
	account, rest, _ := strings.Cut(c.Tail("from", m.Subject), ".")
	r.Subject, r.sender, r.read = c.Of(rest), Sender{Account: account}, true
	if m.Reply != "" {
		r.reply = c.Of("to", account, m.Reply)
	}
	return r
}

// WithoutData returns the request without its headers and data, to reply later.
func (r *Request) WithoutData() *Request {
	return &Request{Subject: r.Subject, msg: &nats.Msg{Subject: r.Subject}, reply: r.reply, echo: r.echo, conn: r.conn}
}

// wantsReply reports whether the request has a reply subject.
func (r *Request) wantsReply() bool { return r.reply != "" }

// Reply sends a reply with header, to which it may add, and body. Without a reply subject it does
// nothing. It repeats the headers that bind the reply to the request. The error has the code
// [wire.TooLarge] if the reply exceeds the server's maximum size.
func (r *Request) Reply(header wire.Header, body []byte) error {
	if !r.wantsReply() {
		return nil
	}
	if header == nil {
		header = make(wire.Header, len(r.echo))
	}
	maps.Copy(header, r.echo)
	err := r.conn.Publish(r.reply, header, body)
	if errors.Is(err, nats.ErrMaxPayload) {
		return wire.Errorf(wire.TooLarge, "the answer has %d bytes, more than the server's max_payload of %d: raise max_payload or send less",
			len(body), r.conn.MaxPayload())
	}
	return err
}

// SetReplyHeader adds a header to every reply to the request, including error replies.
func (r *Request) SetReplyHeader(name, value string) {
	if r.echo == nil {
		r.echo = wire.Header{}
	}
	r.echo[name] = []string{value}
}

func (r *Request) replyError(e *wire.Error) {
	if !r.wantsReply() {
		r.conn.Log().Debug("message refused; nobody waits for a reply", "subject", r.Subject, "error", e.Text)
	}
	if err := r.Reply(e.Header(), nil); err != nil {
		r.conn.Log().Warn("error reply failed", "subject", r.Subject, "reply", e.Text, "error", err)
	}
}
