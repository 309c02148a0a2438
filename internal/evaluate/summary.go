package evaluate

import (
	"cmp"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Summary adds up the results of a replay. The zero Summary is empty. It is used by one goroutine.
type Summary struct {
	Chains   int `json:"chains"` // that were read
	Replayed int `json:"replayed"`
	Same     int `json:"same"`
	Differ   int `json:"differ"`

	// Counts of replayed chains. A chain may count in several of them.

	AsRecorded int `json:"as_recorded"` // some hook was not called, and answered as the log has it
	Assumed    int `json:"assumed"`     // and that to other data than came to it now
	Masked     int `json:"masked"`      // some value had a secret that was masked
	Failed     int `json:"failed"`      // some hook that was called failed
	Asked      int `json:"asked"`       // some hook asked a person, then or now

	Refused  int     `json:"refused"`
	Refusals []Group `json:"refusals"` // the most frequent first
	Changes  []Group `json:"changes"`  // of decisions that differ, the most frequent first
}

// Group counts equal findings.
type Group struct {
	Count   int       `json:"count"`
	Reason  string    `json:"reason,omitempty"`  // of a refusal
	Differs string    `json:"differs,omitempty"` // of a change, like Was and Would, which lack reason and failure
	Was     *Decision `json:"was,omitempty"`
	Would   *Decision `json:"would,omitempty"`
	Example string    `json:"example"` // the first chain of which it is true
}

// Add adds a result.
func (r *Summary) Add(res Replayed) {
	r.Chains++
	if res.Refusal != nil {
		r.Refused++
		r.Refusals = grouped(r.Refusals, Group{Reason: res.Refusal.Reason, Example: res.Chain.ID})
		return
	}
	r.Replayed++
	if res.Differs == "" {
		r.Same++
	} else {
		r.Differ++
		was, would := Decision{Action: res.Was.Action, By: res.Was.By, Open: res.Was.Open}, Decision{Action: res.Would.Action, By: res.Would.By, Open: res.Would.Open}
		r.Changes = grouped(r.Changes, Group{Differs: res.Differs, Was: &was, Would: &would, Example: res.Chain.ID})
	}
	for _, c := range [...]struct {
		of bool
		to *int
	}{
		{res.has(func(h Call) bool { return h.Recorded }), &r.AsRecorded},
		{len(res.Assumed()) > 0, &r.Assumed},
		{res.Chain.Masked, &r.Masked},
		{res.has(func(h Call) bool { return h.Failure != "" && !h.Recorded }), &r.Failed},
		{res.Was.Action == chain.AskUser || res.Would.Action == chain.AskUser, &r.Asked},
	} {
		if c.of {
			*c.to++
		}
	}
}

func (r Replayed) has(is func(Call) bool) bool { return slices.ContainsFunc(r.Calls, is) }

// Assumed returns the hooks whose recorded answers were to other data.
func (r Replayed) Assumed() (ids []string) {
	for _, h := range r.Calls {
		if h.Assumed {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// grouped adds a finding to its group, and keeps the most frequent group first.
func grouped(list []Group, one Group) []Group {
	at := slices.IndexFunc(list, func(g Group) bool {
		return g.Reason == one.Reason && g.Differs == one.Differs && equal(g.Was, one.Was) && equal(g.Would, one.Would)
	})
	if at < 0 {
		at, list = len(list), append(list, one)
	}
	list[at].Count++
	slices.SortStableFunc(list, func(a, b Group) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

func equal(a, b *Decision) bool { return a == b || a != nil && b != nil && *a == *b }
