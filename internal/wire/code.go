package wire

import "errors"

// The error codes of the wire protocol.
const (
	Malformed     = 400 // the request can't be understood
	Forbidden     = 403 // the sender must be authenticated, and is not; or only the operator may do it
	NotFound      = 404 // what it names is unknown
	Conflict      = 409 // it contradicts what is stored
	Gone          = 410 // its deadline for an answer has passed
	TooLarge      = 413 // more bytes than are allowed
	Overloaded    = 429 // too many requests in flight; try again later
	Internal      = 500 // a defect of the answering side
	InvalidResult = 502 // a hook's own program answered something that is no result
	Unavailable   = 503 // it can't be served now; nothing was done
	Deadline      = 504 // its time was over
)

// CodeOf is the code of the [Error] in err's chain, or 0 if there is none.
func CodeOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return 0
}
