package natstest

import (
	"maps"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// Respond answers a request as a router does, with the headers that bind the reply to the request.
// header may be nil. It ignores an error, which means that the requester is gone.
func Respond(m *nats.Msg, header wire.Header, body []byte) {
	reply := wire.Echo(m.Header)
	if reply == nil {
		reply = wire.Header{}
	}
	maps.Copy(reply, header)
	_ = m.RespondMsg(&nats.Msg{Header: reply, Data: body})
}
