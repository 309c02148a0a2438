package console

import (
	"net/http"

	"github.com/hookrouter/hookrouter/internal/approvalview"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// view answers GET /v1/approvals/{id}/view: an approval request's data as people see it, the
// same as in a terminal.
func (c *Console) view(w http.ResponseWriter, r *http.Request) {
	if record, ok := c.approval(w, r); ok {
		reply(w, approvalview.Of(record))
	}
}

// reveal answers POST /v1/approvals/{id}/reveal: the view without masks, after recording that.
func (c *Console) reveal(w http.ResponseWriter, r *http.Request) {
	id, err := approvalID(r)
	switch {
	case err != nil:
	case c.o.Reveal == nil:
		err = wire.Errorf(wire.Unavailable, "this console reveals nothing")
	case !c.may(c.o.MayReveal, who(r)):
		err = wire.Errorf(wire.Forbidden, "%s may not see secrets: the operator gives that right with --console-reveal", who(r))
	}
	var record approval.Record
	if err == nil {
		record, err = c.o.Reveal(r.Context(), id, who(r))
	}
	if err != nil {
		c.refuse(w, r, err)
		return
	}
	reply(w, approvalview.Of(record))
}
