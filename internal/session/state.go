package session

import (
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// State is the state of a session. The zero State is a new session.
type State struct {
	Session string `json:"session_id"`
	Sender  string `json:"sender,omitempty"` // the proven owner; empty if unproven
	Scope   string `json:"scope,omitempty"`  // for grants beyond a session: lineage (Session is the root) or agent
	Turn    int    `json:"turn"`             // counted from 1
	// Prompted is set if a prompt:submit began this turn and no execution:start has followed yet.
	Prompted   bool           `json:"prompted,omitempty"`
	Used       int            `json:"used"` // tokens injected in this turn
	Limits     verdict.Limits `json:"limits"`
	Injections []Injection    `json:"injections,omitempty"` // of this turn, newest last
	Late       []Late         `json:"late,omitempty"`       // not taken by a turn yet, newest last
	Grants     []Grant        `json:"grants,omitempty"`
	Revoked    []string       `json:"revoked,omitempty"` // ids of approvals that must not be remembered again
	Ended      *time.Time     `json:"ended,omitempty"`   // time of the last end
	Epoch      int            `json:"epoch,omitempty"`   // number of ends and revocations; it survives both
}

// Empty reports whether the state has no turn, end, grants or injections.
func (s State) Empty() bool {
	return s.Turn == 0 && s.Ended == nil && len(s.Grants) == 0 && len(s.Injections) == 0
}

// Injection is one delivered injection.
type Injection struct {
	Event  string `json:"event"`
	Hook   string `json:"hook"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
	Time   string `json:"time"`
}

// Grant is an "Allow always", which answers later approval requests of the hook. With a proven
// sender it applies to that sender and hook only.
type Grant struct {
	Approval string `json:"approval_id"`
	Emitter  string `json:"emitter,omitempty"` // the proven sender; empty if unproven
	HookID   string `json:"hook_id,omitempty"`
	Hook     string `json:"hook"`   // name of the hook
	Prompt   string `json:"prompt"` // truncated, for people
	Digest   string `json:"prompt_sha256"`
	Tool     string `json:"tool_name,omitempty"`      // tool of the asking event, for people
	Content  string `json:"content_sha256,omitempty"` // digest of the further content that must match: see held.Event
	By       string `json:"by"`
	// Labels are those of the session when the hook asked. If the session has more, a person is
	// asked again.
	Labels  []string      `json:"labels,omitempty"`
	Granted approval.Time `json:"granted"`
	Expires approval.Time `json:"expires,omitzero"`     // zero for never
	Session string        `json:"session_id,omitempty"` // for a grant beyond a session, the session that asked
}

// Limits of the state of one session.
const (
	maxInjections = 100
	maxGrants     = 500
	maxRevoked    = 500
	shownPrompt   = 200 // characters of the prompt that a grant shows
)

// key returns a session's key in the store. With a sender it is below the key of the id alone.
func key(name string) string {
	sender, id := sessionkey.Split(name)
	if sender == "" {
		return sessionkey.Digest(id)
	}
	return sessionkey.Digest(id) + "." + sessionkey.Digest(sender)
}

// begin begins a turn if the event starts one. An empty event always does.
func (s *State) begin(event string) {
	if event == events.ExecutionStart && s.Prompted {
		s.Prompted = false
		return
	}
	s.Prompted = event == events.PromptSubmit
	s.Turn++
	s.Used, s.Injections = 0, nil
}

// Spend records delivered injections and the tokens used.
func (s *State) Spend(used int, injections ...Injection) {
	s.Used = used
	s.Injections = append(s.Injections, injections...)
	if over := len(s.Injections) - maxInjections; over > 0 {
		s.Injections = slices.Delete(s.Injections, 0, over)
	}
}

// end drops everything except the time of the end and the epoch, which it increments.
func (s *State) end(now time.Time) {
	now = now.UTC()
	*s = State{Session: s.Session, Sender: s.Sender, Ended: &now, Epoch: s.Epoch + 1}
}

// Remembered returns the grant that answers an approval request, if there is one. Anybody may
// choose a hook's name or a session id, so with a proven sender, the sender, the hook's id and the
// content must match. A grant does not apply if the session got labels since.
func (s *State) Remembered(r *held.Event) (Grant, bool) {
	prompt, now := approval.Digest([]byte(r.Prompt)), time.Now()
	for _, g := range s.Grants {
		if g.expired(now) {
			continue
		}
		proven := r.Emitter == "" || g.HookID == r.HookID && g.Content == r.Content
		if g.Emitter == r.Emitter && g.Hook == r.Hook && g.Digest == prompt && proven && len(events.NewLabels(g.Labels, r.Labels)) == 0 {
			return g, true
		}
	}
	return Grant{}, false
}

// remember stores the grant of an approval request once, unless it was revoked or the session has
// ended since the event arrived.
func (s *State) remember(q *held.Event, d approval.Decision) (changed bool) {
	known := func(g Grant) bool { return g.Approval == q.ID }
	g := Grant{
		Approval: q.ID, Emitter: q.Emitter, HookID: q.HookID, Hook: q.Hook, Prompt: shorten.Runes(q.Prompt, shownPrompt, "..."), Digest: approval.Digest([]byte(q.Prompt)), Tool: shorten.Runes(q.ToolName, shownPrompt, "..."), Content: q.Content, By: d.DecidedBy, Labels: q.Labels, Granted: d.Decided, Expires: d.GrantExpires,
	}
	if s.Scope != "" {
		g.Session = q.Session
	}
	now := time.Now()
	s.expire(now)
	switch {
	case s.over(q), g.expired(now), slices.Contains(s.Revoked, q.ID), slices.ContainsFunc(s.Grants, known):
		return false
	case len(s.Grants) >= maxGrants:
		s.Grants = slices.Delete(s.Grants, 0, 1)
	}
	s.Grants = append(s.Grants, g)
	return true
}

// over reports whether the session ended since a request's event arrived.
func (s *State) over(q *held.Event) bool { return s.Ended != nil && !q.Arrived.After(*s.Ended) }

func (g Grant) expired(now time.Time) bool { return !g.Expires.IsZero() && !g.Expires.After(now) }

// expire drops expired grants.
func (s *State) expire(now time.Time) {
	s.Grants = slices.DeleteFunc(s.Grants, func(g Grant) bool { return g.expired(now) })
}

// revoke drops grants: all, those of a hook, or those of a hook and prompt. It always increments
// the epoch, so that earlier approvals no longer permit anything.
func (s *State) revoke(hook, prompt string) (revoked int) {
	s.Epoch++
	return s.drop(func(g Grant) bool { return g.of(hook, prompt) })
}

// of reports whether a grant is for a hook and a prompt; empty matches all.
func (g Grant) of(hook, prompt string) bool {
	return (hook == "" || g.Hook == hook) && (prompt == "" || g.Digest == approval.Digest([]byte(prompt)) || g.Prompt == prompt)
}

// drop removes grants for good and returns their number.
func (s *State) drop(match func(Grant) bool) (dropped int) {
	s.Grants = slices.DeleteFunc(s.Grants, func(g Grant) bool {
		if !match(g) {
			return false
		}
		dropped++
		s.Revoked = append(s.Revoked, g.Approval)
		return true
	})
	if over := len(s.Revoked) - maxRevoked; over > 0 {
		s.Revoked = slices.Delete(s.Revoked, 0, over)
	}
	return dropped
}
