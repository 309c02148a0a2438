package wire

import "errors"

// The error codes of the wire protocol.
const (
	Malformed     = 400 // the request is malformed
	Forbidden     = 403 // the sender is not authenticated, or not permitted
	NotFound      = 404 // the request names something unknown
	Conflict      = 409 // the request contradicts stored state
	Gone          = 410 // the deadline for an answer has passed
	TooLarge      = 413 // the request exceeds a size limit
	Overloaded    = 429 // too many requests in flight; retry later
	Internal      = 500 // a bug in the program that answers
	InvalidResult = 502 // a hook program returned an invalid result
	Unavailable   = 503 // the request can't be served now; nothing was done
	Deadline      = 504 // the request's deadline has passed
)

// CodeOf returns the code of the [Error] in err's chain, or 0 if there is none.
func CodeOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return 0
}
