package natstest

import (
	"maps"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// Respond answers a request as a router does: with what binds the reply to it. header
// may be nil. An error is that the requester is gone, and is ignored.
func Respond(m *nats.Msg, header wire.Header, body []byte) {
	reply := wire.Echo(m.Header)
	if reply == nil {
		reply = wire.Header{}
	}
	maps.Copy(reply, header)
	_ = m.RespondMsg(&nats.Msg{Header: reply, Data: body})
}
