package console

import (
	"net/http"

	"github.com/hookrouter/hookrouter/internal/approvalview"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// view answers GET /v1/approvals/{id}/view: an approval request's data as people see it, the
// same as in a terminal.
func (c *Console) view(_ http.ResponseWriter, r *http.Request) (any, error) {
	record, err := c.approval(r)
	if err != nil {
		return nil, err
	}
	return approvalview.Of(record), nil
}

// reveal answers POST /v1/approvals/{id}/reveal: the view with its secrets unmasked, after
// recording that.
func (c *Console) reveal(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := approvalID(r)
	switch {
	case err != nil:
		return nil, err
	case c.o.Reveal == nil:
		return nil, wire.Errorf(wire.Unavailable, "this console can't reveal secrets")
	case !c.may(c.o.MayReveal, who(r)):
		return nil, wire.Errorf(wire.Forbidden, "%s may not see secrets: the operator grants that right with --console-reveal", who(r))
	}
	record, err := c.o.Reveal(r.Context(), id, who(r))
	if err != nil {
		return nil, err
	}
	return approvalview.Of(record), nil
}
