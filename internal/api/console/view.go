package console

import (
	"net/http"

	"github.com/hookrouter/hookrouter/internal/judge"
)

// view answers GET /v1/approvals/{id}/view: the data of an approval request as a person is
// shown it, the same as in a terminal.
func (c *Console) view(w http.ResponseWriter, r *http.Request) {
	id, err := approvalID(r)
	if err != nil {
		c.refuse(w, r, err)
		return
	}
	record, err := c.o.Approvals.Get(r.Context(), id)
	if err != nil {
		c.refuse(w, r, err)
		return
	}
	reply(w, judge.Of(record))
}
