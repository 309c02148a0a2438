package service

import (
	"errors"
	"maps"
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
	Waited  time.Duration // for its turn, see [Endpoint.Wait]; somebody may no longer expect the answer

	msg  *nats.Msg
	echo wire.Header // what every reply repeats
	conn *natsx.Conn

	read   bool // sender and hidden are those of the request
	sender Sender
	hidden error
}

func newRequest(m *nats.Msg, c *natsx.Conn) *Request {
	return &Request{Subject: m.Subject, Header: m.Header, Data: m.Data, msg: m, echo: wire.Echo(m.Header), conn: c}
}

// WithoutData is the request without its headers and data: enough to reply later.
func (r *Request) WithoutData() *Request {
	return &Request{Subject: r.Subject, msg: &nats.Msg{Subject: r.Subject, Reply: r.msg.Reply}, echo: r.echo, conn: r.conn}
}

// WantsReply reports whether somebody waits for a reply.
func (r *Request) WantsReply() bool { return r.msg.Reply != "" }

// Reply answers, and may add to header; without a reply subject it does nothing. It
// echoes what binds the reply to the request. The error has the code [wire.TooLarge] if
// the answer is too large for the server.
func (r *Request) Reply(header wire.Header, body []byte) error {
	if !r.WantsReply() {
		return nil
	}
	if header == nil {
		header = make(wire.Header, len(r.echo))
	}
	maps.Copy(header, r.echo)
	err := r.conn.Publish(r.msg.Reply, header, body)
	if errors.Is(err, nats.ErrMaxPayload) {
		return wire.Errorf(wire.TooLarge, "the answer has %d bytes, more than the server's max_payload of %d: raise max_payload or send less",
			len(body), r.conn.MaxPayload())
	}
	return err
}

// SetReplyHeader adds a header to every reply to the request, one with an error too.
func (r *Request) SetReplyHeader(name, value string) {
	if r.echo == nil {
		r.echo = wire.Header{}
	}
	r.echo[name] = []string{value}
}

func (r *Request) replyError(e *wire.Error) {
	if !r.WantsReply() {
		r.conn.Log().Debug("message refused; nobody waits for a reply", "subject", r.Subject, "error", e.Text)
	}
	if err := r.Reply(e.Header(), nil); err != nil {
		r.conn.Log().Warn("error reply failed", "subject", r.Subject, "reply", e.Text, "error", err)
	}
}
