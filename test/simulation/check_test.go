package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// What the checker allows.
const (
	// lateness is how long after its deadline an approval request may be decided at most, by
	// a router that served without harm meanwhile.
	lateness = 2 * time.Second
	// recovery is how long after a decision pkg/agent may take to know it at most,
	// once it knows of the approval request and while no router is harmed.
	recovery = 5 * time.Second
)

// check compares what everyone was told with the decisions in the stream. Each
// finding is a sentence; there are none where approvals hold.
func (h *history) check() (findings []string) {
	c := checker{history: h, decided: map[string]record{}}
	c.decisions()
	c.people()
	for _, t := range h.tellings {
		c.agent(t)
	}
	c.punctual()
	c.remembered()
	for _, heard := range h.impostors {
		c.find("answered an event sent again with other data: %s", heard)
	}
	return c.findings
}

type checker struct {
	*history
	decided  map[string]record // by approval request
	findings []string
}

func (c *checker) find(format string, args ...any) {
	c.findings = append(c.findings, fmt.Sprintf(format, args...))
}

// decisions: each approval request has exactly one, which it allows.
func (c *checker) decisions() {
	for _, r := range c.records {
		if first, double := c.decided[r.Subject]; double {
			c.find("double decision: approval request %s by %s %q, and again by %s %q", r.Subject, first.DecidedBy, first.Option, r.DecidedBy, r.Option)
			continue
		}
		c.decided[r.Subject] = r
		q, asked := c.questions[r.Subject]
		switch {
		case !asked:
			c.find("decision without an approval request: %s", r.Subject)
		case r.Approval != q.ID || r.DataSHA256 != q.DataSHA256 || r.Hook != q.Hook || r.Prompt != q.Prompt || r.Session != q.Session:
			c.find("decision about something else: %+v is recorded for %+v", r, q)
		case (r.TimedOut || r.Error != "") && (r.Option != "" || r.Granted != (q.Default == approval.DefaultAllow)):
			c.find("default not kept: approval request %s, default %s: %+v", q.ID, q.Default, r.Decision)
		case !r.TimedOut && r.Error == "" && r.Granted != approval.Grants(r.Option):
			c.find("granted by no granting answer: approval request %s: %+v", q.ID, r.Decision)
		case r.TimedOut == r.Decided.Before(q.Expires.Time):
			c.find("decided at the wrong time: approval request %s expires %s: %+v", q.ID, q.Expires, r.Decision)
		}
	}
	for id := range c.questions {
		if _, done := c.decided[id]; !done {
			c.find("never decided: approval request %s", id)
		}
	}
}

// people: only the one in the record was accepted, and nobody was refused who is
// there.
func (c *checker) people() {
	winners := map[string]bool{} // names in records of those who may be there
	for _, a := range c.answers {
		r := c.decided[a.id]
		won := r.ClaimedBy == a.said.By
		switch {
		case a.code == 0 && !won:
			c.find("accepted and not recorded: %s %q to approval request %s, which %s decided", a.said.By, a.said.Option, a.id, r.ClaimedBy)
		case a.code == 0 && a.text != r.Option:
			c.find("accepted and recorded otherwise: %s was told %q, the record has %q", a.said.By, a.text, r.Option)
		case a.code > 0 && a.code != 503 && won:
			c.find("refused and recorded: %s was told %d %s, the record has it", a.said.By, a.code, a.text)
		case won && (a.kind == notOffered || a.kind == otherData):
			c.find("decided by an answer that may not: %s, %s", a.said.By, a.kind)
		case won && (a.kind == plain && !strings.EqualFold(a.said.Option, r.Option) || a.kind == freeText && a.said.Option != r.Option):
			c.find("recorded otherwise than said: %s said %q, the record has %q", a.said.By, a.said.Option, r.Option)
		case strings.Contains(a.text, "already decided: ") && !strings.Contains(a.text, fmt.Sprintf("already decided: %q by %s at", r.Option, r.DecidedBy)):
			c.find("told of another winner: %s was told %s, the record has %q by %s", a.said.By, a.text, r.Option, r.DecidedBy)
		}
		if won {
			winners[a.said.By] = true
		}
	}
	for id, r := range c.decided {
		if !r.TimedOut && !winners[r.ClaimedBy] {
			c.find("decided by nobody who answered: approval request %s by %q", id, r.ClaimedBy)
		}
	}
}

// agent: what an agent was told is what the record says.
func (c *checker) agent(t telling) {
	v, a := t.verdict, t.verdict.Approval
	r, decided := c.decided[t.id]
	q := c.questions[t.id]
	switch {
	case t.err != nil || v.Action == "" || v.Action == verdict.Pending:
		c.find("never answered: approval request %s: %s %v", t.id, v.Action, t.err)
	case a == nil && v.Action == verdict.Deny:
		// the hook could not be asked: nobody was asked, and nothing is permitted
	case a == nil:
		c.find("permitted without an approval request: %s", t.id)
	case v.Action == verdict.Continue && approval.Digest(v.Data) != a.DataSHA256:
		c.find("permitted with other data: approval request %s", t.id)
	case a.Cached && decided:
		c.find("told otherwise than the record: the event of approval request %s was answered by an earlier approval", t.id)
	case a.Cached:
		if !c.always(t) {
			c.find("permitted by an approval that nobody gave: session %s, prompt %q", t.session, t.prompt)
		}
	case !decided || a.ID != t.id:
		c.find("told and not recorded: approval request %s (%s): %s", t.id, a.ID, v.Action)
	case (v.Action == verdict.Continue) != r.Granted || a.Option != r.Option || a.DecidedBy != r.DecidedBy || a.TimedOut != r.TimedOut:
		c.find("told otherwise than the record: approval request %s: %s %+v, the record has %+v", t.id, v.Action, *a, r.Decision)
	case a.DataSHA256 != q.DataSHA256 || a.Expires != q.Expires.String() || !slices.Equal(a.Options, q.Options):
		c.find("told of another approval request: %s is %+v, the agent was told %+v", t.id, q, *a)
	case t.told.Before(r.Decided.Time):
		c.find("told before it was decided: approval request %s", t.id)
	}
}

// always reports whether somebody had allowed it for the session, where the
// verdict says.
func (c *checker) always(t telling) bool {
	r := c.decided[t.verdict.Approval.ID]
	return approval.Remembered(r.Option) && r.Session == t.session && r.Prompt == t.prompt && !r.Decided.After(t.told)
}

// punctual: no decision, and no news of one, is late where somebody could have
// made it.
func (c *checker) punctual() {
	for id, r := range c.decided {
		if by := due(c.questions[id].Expires.Time, c.lives, lateness); r.Decided.After(by) {
			c.find("decided late: approval request %s, due %s at the latest, was decided at %s", id, approval.At(by), r.Decided)
		}
	}
	for _, t := range c.tellings {
		r, decided := c.decided[t.id]
		if !decided || !t.sdk || t.pending.IsZero() { // before the first answer it waits for as long as hooks may take
			continue
		}
		known := r.Decided.Time
		if t.pending.After(known) {
			known = t.pending
		}
		if t.told.After(due(known, c.calm(), recovery)) {
			c.find("told late: approval request %s was decided at %s, and pkg/agent, which waited since %s, told so at %s",
				t.id, r.Decided, approval.At(t.pending), approval.At(t.told))
		}
	}
}

// due is when something is done at the latest that takes so long from a time on,
// in one of the spans.
func due(from time.Time, spans []span, takes time.Duration) (by time.Time) {
	by = from.Add(1000 * time.Hour)
	for _, s := range spans {
		if s.from.Before(from) {
			s.from = from
		}
		if end := s.from.Add(takes); !end.After(s.to) && end.Before(by) {
			by = end
		}
	}
	return by
}

// calm are the times when a router served and none was harmed.
func (c *checker) calm() (spans []span) {
	for _, life := range c.lives {
		for _, harm := range c.harms {
			if harm.After(life.from) && harm.Before(life.to) {
				spans = append(spans, span{life.from, harm})
				life.from = harm
			}
		}
		spans = append(spans, life)
	}
	return spans
}

// remembered: who was told that something is always allowed is not asked again.
func (c *checker) remembered() {
	for _, first := range c.tellings {
		if a := first.verdict.Approval; first.verdict.Action != verdict.Continue || a == nil || !approval.Remembered(a.Option) {
			continue
		}
		for _, later := range c.tellings {
			if later.session != first.session || later.prompt != first.prompt || later.began.Before(first.told) {
				continue
			}
			if _, asked := c.questions[later.id]; asked {
				c.find("asked again: session %s was told that %q is always allowed, and then approval request %s", later.session, later.prompt, later.id)
			}
		}
	}
}
