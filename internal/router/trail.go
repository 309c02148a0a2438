package router

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// upgraded reports whether all replicas know the latest format of the audit log.
func (r *Router) upgraded() bool {
	oldest, known := r.registry.AuditFormat()
	return known && oldest >= int(audit.Latest)
}

// recordChange records a change of a registration before it is made.
func (r *Router) recordChange(ctx context.Context, c registry.Change) error {
	return r.audit.Record(ctx, audit.Record{
		Time: time.Now(), Kind: audit.RegistrationKind, Session: c.Session, Hook: c.Hook, Action: c.Action,
		Detail: audit.Change{
			Revision: int64(c.Revision), By: c.By, Instance: c.Instance, Reason: c.Reason, Registration: r.audit.View().Registration(c.Registration),
		},
	}.Append(nil))
}
