package console

import (
	"net/http"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// maxWhyID bounds the id: events have none longer.
const maxWhyID = 4 << 10

// why answers GET /v1/why, which the page of the same name shows.
func (c *Console) why(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	switch {
	case c.o.Why == nil:
		c.refuse(w, r, wire.Errorf(wire.Unavailable, "this console has no audit log"))
		return
	case len(id) > maxWhyID:
		c.refuse(w, r, wire.Errorf(wire.Malformed, "the id has %d bytes, at most %d are allowed", len(id), maxWhyID))
		return
	}
	text, err := c.o.Why(r.Context(), id)
	if err != nil {
		c.refuse(w, r, err)
		return
	}
	write(w, http.StatusOK, text)
}
