package console

import (
	"net/http"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// maxWhyID bounds the id, in bytes: no event has a longer one.
const maxWhyID = 4 << 10

// why answers GET /v1/why, which the page of the same name shows.
func (c *Console) why(_ http.ResponseWriter, r *http.Request) (any, error) {
	id := r.URL.Query().Get("id")
	switch {
	case c.o.Why == nil:
		return nil, errNoRecords
	case len(id) > maxWhyID:
		return nil, wire.Errorf(wire.Malformed, "the id has %d bytes, at most %d are allowed", len(id), maxWhyID)
	}
	return c.o.Why(r.Context(), id)
}
