package nats

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxListed bounds the grants in one answer.
const maxListed = 500

// showGrants answers with the grants beyond sessions, of an agent or of all, newest first.
func (s *Server) showGrants(ctx context.Context, req *service.Request, agent string) error {
	list, err := s.opts.Sessions.Scoped(ctx, agent)
	if err != nil {
		return err
	}
	type granted struct {
		session.Grant
		of session.State
	}
	var all []granted
	for _, state := range list {
		for _, g := range state.Grants {
			all = append(all, granted{g, state})
		}
	}
	slices.SortStableFunc(all, func(a, b granted) int { return b.Granted.Compare(a.Granted.Time) })
	all = all[:min(len(all), maxListed)]
	w := events.NewObjectWriter(nil)
	w.Objects("grants", len(all), func(i int, w *events.ObjectWriter) {
		w.String("scope", all[i].of.Scope)
		w.Text("root", all[i].of.Session)
		w.Text("session_id", all[i].Session)
		writeGrant(w, all[i].Grant)
	})
	return req.Reply(nil, w.End())
}

func writeGrant(w *events.ObjectWriter, g session.Grant) {
	w.String("hook", g.Hook)
	w.String("prompt", g.Prompt)
	w.String("by", g.By)
	w.String("granted", g.Granted.String())
	if !g.Expires.IsZero() {
		w.String("expires", g.Expires.String())
	}
	w.Text("tool_name", g.Tool)
	w.String("approval_id", g.Approval)
	w.Text("emitter", g.Emitter)
}
