package nats

import (
	"errors"
	"fmt"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxBody is the largest body of a request about approvals or sessions, in bytes.
const maxBody = 16 << 10

// readBody decodes the body of a small request strictly; an empty one means the zero
// value. A sender that speaks a newer protocol may send fields that are unknown here.
func readBody(req *natsx.Request, into any) error {
	if len(req.Data) == 0 {
		return nil
	}
	if len(req.Data) > maxBody {
		return wire.Errorf(wire.TooLarge, "the body has %d bytes: at most %d are allowed", len(req.Data), maxBody)
	}
	if _, err := events.ParseObject(req.Data); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	var options []jsonv2.Options
	if protocolOf(req) <= 1 {
		options = append(options, jsonv2.RejectUnknownMembers(true))
	}
	err := jsonv2.Unmarshal(req.Data, into, options...)
	where, _ := errors.AsType[*jsonv2.SemanticError](err)
	switch {
	case err == nil:
		return nil
	case where == nil:
		return wire.Errorf(wire.Malformed, "the body can't be read: %v", err)
	case errors.Is(err, jsonv2.ErrUnknownName):
		return wire.Errorf(wire.Malformed, "the body has the unknown field %q", where.JSONPointer.LastToken())
	default:
		return wire.Errorf(wire.Malformed, "the field %q of the body is of the wrong type", where.JSONPointer.LastToken())
	}
}

// protocolOf is the version of the protocol that the sender of a request speaks.
func protocolOf(req *natsx.Request) int {
	version, err := strconv.Atoi(wire.Get(req.Header, wire.HeaderProtocol))
	if err != nil {
		return chain.ProtocolVersion
	}
	return version
}

func replyJSON(req *natsx.Request, v any) error {
	body, err := jsonv2.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	return req.Reply(nil, body)
}
