package router

import (
	"encoding/json"
	"time"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// recordIdentities records the identities that this router read. An identity contains no secret.
func (r *Router) recordIdentities(digest string, changes []identity.Difference) {
	record := func(action string, detail audit.Identity) {
		detail.Digest = digest
		r.audit.Note(audit.Record{Time: time.Now(), Kind: audit.IdentityKind, Action: action, Detail: detail}.Append(nil))
	}
	if len(changes) == 0 {
		record("loaded", audit.Identity{})
	}
	for _, c := range changes {
		entry, err := json.Marshal(c.Identity)
		if err != nil {
			r.opts.Log.Error("identity not recorded", "identity", c.Identity.Label(), "error", err)
			continue
		}
		record(c.Action, audit.Identity{Name: c.Identity.Label(), Identity: entry})
	}
}
