package dispatch

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Reveal returns an approval request with its secrets unmasked, after recording who sees them.
// The caller checks that by may see them.
func (d *Dispatcher) Reveal(ctx context.Context, id, by string) (approval.Record, error) {
	s, err := d.approvals.Load(ctx, id)
	if err != nil {
		return approval.Record{}, err
	}
	if !d.journal.Enabled() {
		return approval.Record{}, wire.Errorf(wire.Forbidden, "showing secrets must be recorded, but this router keeps no audit log")
	}
	line := recordOf(s, audit.ApprovalRevealed, "revealed", audit.Reveal{ApprovalID: s.ID, By: by, DataSHA256: s.DataSHA256})
	if err := d.journal.Record(ctx, line.Append(nil)); err != nil {
		return approval.Record{}, err
	}
	d.log.WarnContext(ctx, "secrets of an approval request revealed", "approval_id", s.ID, "event_id", s.EventID, "chain_id", s.ChainID, "by", by)
	return s.Record, nil
}

// Mask masks the secrets in a request's data and in what hooks say about it. A nil mask uses the
// default rules for approvals.
func (p PublishData) Mask(mask redact.Masker) func(*approval.Record) {
	if mask == nil {
		mask = redact.Default().ForApproval()
	}
	return func(record *approval.Record) {
		record.Prompt, _ = mask.Text(record.Prompt)
		record.Reason, _ = mask.Text(record.Reason)
		record.Reviews = slices.Clone(record.Reviews)
		for i := range record.Reviews {
			record.Reviews[i].Note, _ = mask.Text(record.Reviews[i].Note)
		}
		if p == PublishNone {
			record.Data, record.Changes = nil, nil
			return
		}
		if record.Data != nil {
			record.Data, _ = mask.Object(record.Data)
		}
		if record.Changes != nil {
			record.Changes, _ = mask.Object(record.Changes)
		}
	}
}
