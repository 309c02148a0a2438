package agentapi

import (
	"errors"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// MaxSmallBody is the largest body of a request about approvals or sessions, in bytes.
const MaxSmallBody = 16 << 10

// ReadBody decodes the body of a small request strictly; an empty one is the zero value. A
// sender with a newer protocol may send unknown fields.
func ReadBody(header wire.Header, data []byte, into any) error {
	if len(data) == 0 {
		return nil
	}
	if len(data) > MaxSmallBody {
		return wire.Errorf(wire.TooLarge, "the body has %d bytes: at most %d are allowed", len(data), MaxSmallBody)
	}
	if _, err := events.ParseObject(data); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	var options []jsonv2.Options
	if Protocol(header) <= 1 {
		options = append(options, jsonv2.RejectUnknownMembers(true))
	}
	err := jsonv2.Unmarshal(data, into, options...)
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

// Protocol returns the protocol version of a request's sender.
func Protocol(header wire.Header) int {
	version, err := strconv.Atoi(wire.Get(header, wire.HeaderProtocol))
	if err != nil {
		return chain.ProtocolVersion
	}
	return version
}
