package hookrouter

import (
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// ErrUnreachable is the error of [Connect] if no NATS server answers at the address.
var ErrUnreachable = natsx.ErrUnreachable

// The errors of a request without a reply.
var (
	// ErrNoRouter means that no router subscribes to its subjects.
	ErrNoRouter = clientconn.ErrNoRouter
	// ErrDisconnected means that NATS is not connected and nothing was sent. The client
	// reconnects by itself.
	ErrDisconnected = clientconn.ErrDisconnected
	// ErrConnectionLost means that the connection was lost while waiting for a reply: the
	// request may have taken effect.
	ErrConnectionLost = clientconn.ErrConnectionLost
	// ErrImpostor means that the answering program is not the router that made the credentials:
	// another program may have taken its port. Its replies are dropped.
	ErrImpostor = natsx.ErrImpostor
	// ErrPermission means that NATS does not permit these credentials to send the request. A
	// connection that the program made itself does not report it: the request's time ends.
	ErrPermission = natsx.ErrPermission
)

// Error is an error reply of a router. Agents, workers and approvers return it,
// wrapped; use [errors.As] or [CodeOf].
type Error struct {
	Code Code
	Text string // what was wrong and what to do, in a sentence
}

// Error returns the text, followed by the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Code) }

// Unwrap lets this module's own packages treat the error like one of its transport.
func (e *Error) Unwrap() error { return &wire.Error{Code: int(e.Code), Text: e.Text} }

func newError(code int, text string) error { return &Error{Code(code), text} }

// Code is an error code of the wire protocol.
type Code int

// The codes of the wire protocol.
const (
	CodeMalformed     Code = 400 // the request can't be understood
	CodeForbidden     Code = 403 // the sender is not known, and must be
	CodeNotFound      Code = 404 // what the request names is unknown
	CodeConflict      Code = 409 // the request contradicts what is there
	CodeGone          Code = 410 // the time for an answer is over
	CodeTooLarge      Code = 413 // more bytes than are allowed
	CodeOverloaded    Code = 429 // too many requests in flight; try again later
	CodeInternal      Code = 500 // a defect of the answering side
	CodeInvalidResult Code = 502 // a hook's own program answered something invalid
	CodeUnavailable   Code = 503 // the router can't serve now; nothing was done
	CodeDeadline      Code = 504 // the time of the request was over
)

// CodeOf returns the code of the [*Error] in err's chain, or 0 if there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return 0
}
