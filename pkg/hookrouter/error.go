package hookrouter

import (
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// ErrUnreachable means that no NATS server answers at the address given to [Connect].
var ErrUnreachable = natsx.ErrUnreachable

// Errors of requests that got no reply.
var (
	// ErrNoRouter means that no router is subscribed under the prefix.
	ErrNoRouter = clientconn.ErrNoRouter
	// ErrDisconnected means that NATS is disconnected and nothing was sent. The client reconnects
	// by itself.
	ErrDisconnected = clientconn.ErrDisconnected
	// ErrConnectionLost means that the connection was lost while waiting for a reply. The request
	// may have taken effect.
	ErrConnectionLost = clientconn.ErrConnectionLost
	// ErrImpostor means that the program that answers is not the router that issued the
	// credentials: another program may have taken its port. Its replies are dropped.
	ErrImpostor = natsx.ErrImpostor
	// ErrPermission means that these credentials may not send the request. On a connection of
	// [Options.Conn] it is not reported: the request times out.
	ErrPermission = natsx.ErrPermission
)

// Error is an error reply of a router. Agents, workers and approvers return it wrapped; use
// [errors.As] or [CodeOf].
type Error struct {
	Code Code
	Text string // the problem and how to fix it, in a sentence
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Code) }

// Unwrap returns the error as the wire protocol's error type, for packages of this module.
func (e *Error) Unwrap() error { return &wire.Error{Code: int(e.Code), Text: e.Text} }

func newError(code int, text string) error { return &Error{Code(code), text} }

// Code is an error code of the wire protocol.
type Code int

// The codes.
const (
	CodeMalformed     Code = 400 // the request is malformed
	CodeForbidden     Code = 403 // the sender is unknown or not permitted
	CodeNotFound      Code = 404 // the request names something unknown
	CodeConflict      Code = 409 // the request contradicts the current state
	CodeGone          Code = 410 // the time to answer is over
	CodeTooLarge      Code = 413 // the request exceeds a size limit
	CodeOverloaded    Code = 429 // too many requests in flight; retry later
	CodeInternal      Code = 500 // a defect of the answering program
	CodeInvalidResult Code = 502 // a hook's program returned an invalid result
	CodeUnavailable   Code = 503 // the router can't serve now; nothing was done
	CodeDeadline      Code = 504 // the request's time is over
)

// CodeOf returns the code of the [*Error] in err's chain, or 0 if there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return 0
}
