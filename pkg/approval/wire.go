package approval

import (
	"strconv"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Append appends the request to buf as JSON, in the form of hooks.approvals.
func (q Request) Append(buf []byte) []byte {
	w := events.NewObjectWriter(buf)
	q.write(&w)
	return w.End()
}

// Append appends the record to buf as JSON. It writes Data and Changes byte for byte, so that their
// digests hold; encoding/json would reformat them, but can decode the output.
func (r Record) Append(buf []byte) []byte {
	w := events.NewObjectWriter(buf)
	r.Request.write(&w)
	w.String("event_id", r.EventID)
	w.String("chain_id", r.ChainID)
	w.String("hook_id", r.HookID)
	w.String("agent", r.Agent)
	w.Text("emitter", r.Emitter)
	w.Text("tool_name", r.ToolName)
	w.Text("reason", r.Reason)
	if len(r.Data) > 0 {
		w.Raw("data", r.Data)
	}
	if len(r.Changes) > 0 {
		w.Raw("changes", r.Changes)
	}
	w.Text("shadow_rule", r.ShadowRule)
	w.Text("shadow_decision", r.ShadowDecision)
	if len(r.Labels) > 0 {
		w.Texts("labels", r.Labels)
	}
	if len(r.Scopes) > 0 {
		w.Texts("scopes", r.Scopes)
	}
	if r.Decision != nil {
		r.Decision.write(&w)
	}
	return w.End()
}

// Append appends the decision to buf as JSON.
func (d Decision) Append(buf []byte) []byte {
	w := events.NewObjectWriter(buf)
	d.write(&w)
	return w.End()
}

func (q Request) write(w *events.ObjectWriter) {
	w.String("id", q.ID)
	w.String("session_id", q.Session)
	w.String("event", q.Event)
	w.String("hook", q.Hook)
	w.String("prompt", q.Prompt)
	w.Texts("options", q.Options)
	w.String("default", q.Default)
	w.String("created", q.Created.String())
	w.String("expires", q.Expires.String())
	w.String("data_sha256", q.DataSHA256)
	if q.Needs != nil {
		w.Object("needs", func(w *events.ObjectWriter) {
			w.Objects("approvers", len(q.Needs.Approvers), func(i int, w *events.ObjectWriter) {
				w.String("group", q.Needs.Approvers[i].Group)
				w.Int("count", int64(q.Needs.Approvers[i].People()))
			})
			w.Flag("exclude_requester", q.Needs.ExcludeRequester)
		})
	}
	if len(q.Reviews) > 0 {
		w.Objects("reviews", len(q.Reviews), func(i int, w *events.ObjectWriter) { q.Reviews[i].write(w) })
	}
	w.Text("progress", q.Progress)
}

func (d Decision) write(w *events.ObjectWriter) {
	w.Text("option", d.Option)
	w.Raw("granted", strconv.AppendBool(nil, d.Granted))
	w.String("decided_by", d.DecidedBy)
	w.Text("claimed_by", d.ClaimedBy)
	w.Text("note", d.Note)
	w.String("decided", d.Decided.String())
	w.Flag("timed_out", d.TimedOut)
	w.Text("error", d.Error)
	if len(d.ApprovedBy) > 0 {
		w.Texts("approved_by", d.ApprovedBy)
	}
	w.Text("scope", d.Scope)
	if !d.GrantExpires.IsZero() {
		w.String("grant_expires", d.GrantExpires.String())
	}
}
