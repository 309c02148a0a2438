package scan

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// report is the result of a scan, and its JSON form.
type report struct {
	Policy     string         `json:"policy"`
	Files      int            `json:"files"`
	Unreadable int            `json:"unreadable"` // files and directories
	Lines      int            `json:"lines"`
	Skipped    int            `json:"skipped"`  // lines that could not be read
	Sessions   map[string]int `json:"sessions"` // by agent
	From       *time.Time     `json:"from,omitempty"`
	To         *time.Time     `json:"to,omitempty"`

	Calls     int `json:"calls"` // of tools
	Denied    int `json:"denied"`
	Asked     int `json:"asked"`
	Changed   int `json:"changed"` // prompts, calls and results
	Passed    int `json:"passed"`
	Undecided int `json:"undecided"` // by a hook that may not be called here, or that failed

	Days            int     `json:"days"` // on which tools were called
	QuestionsPerDay float64 `json:"questions_per_day"`
	MostInADay      int     `json:"most_in_a_day"`

	Findings []*finding `json:"findings"` // the gravest and then the most frequent first

	sessions map[[2]string]bool
	days     map[string]int // approval requests by day
	findings map[finding]*finding
}

// finding counts the events for which a hook would have given the same reason.
type finding struct {
	Action  chain.Action `json:"action"`
	Hook    string       `json:"hook"`
	Reason  string       `json:"reason"`
	Event   string       `json:"event"`
	Count   int          `json:"count"`
	Agent   string       `json:"agent"` // of the first, like what follows
	Tool    string       `json:"tool,omitempty"`
	Example string       `json:"example,omitempty"`
	Time    string       `json:"time,omitempty"`
}

func newReport(policy string, files, unreadable int) *report {
	return &report{
		Policy: cmp.Or(policy, "starter policy for coding agents"), Files: files, Unreadable: unreadable, Sessions: map[string]int{}, Findings: []*finding{},
		sessions: map[[2]string]bool{}, days: map[string]int{}, findings: map[finding]*finding{},
	}
}

// add counts the outcome of an event.
func (r *report) add(ev events.Event, at time.Time, out evaluate.Outcome, err error) {
	call := ev.Name == events.ToolPre
	day := ""
	if !at.IsZero() {
		day = at.Local().Format(time.DateOnly)
		if r.From == nil || at.Before(*r.From) {
			r.From = &at
		}
		if r.To == nil || at.After(*r.To) {
			r.To = &at
		}
	}
	r.sessions[[2]string{ev.Source, ev.Session}] = true
	if call {
		r.Calls++
		if day != "" {
			r.days[day] += 0
		}
	}
	decided := out.Decision(ev.Data)
	if err != nil || decided.Failure != "" {
		r.Undecided++
		return
	}
	switch decided.Action {
	case chain.Deny:
		r.Denied++
	case chain.AskUser:
		r.Asked++
		if day != "" {
			r.days[day]++
		}
	default:
		if call {
			r.Passed++
		}
		if decided.Action != chain.Modify {
			return
		}
		r.Changed++
	}
	r.note(ev, decided)
}

// quoted matches a command in a reason; its first two words identify it well enough.
var quoted = regexp.MustCompile(`"([^" ]+(?: [^" -][^" ]*)?)[^"]*"`)

// maxFindings bounds the number of findings.
const maxFindings = 1000

func (r *report) note(ev events.Event, decided evaluate.Decision) {
	key := finding{Action: decided.Action, Hook: decided.By, Reason: quoted.ReplaceAllString(masked(decided.Reason), `"$1"`), Event: ev.Name}
	if f := r.findings[key]; f != nil {
		f.Count++
		return
	}
	if len(r.findings) == maxFindings {
		return
	}
	f := key
	f.Count, f.Agent, f.Time = 1, ev.Source, ev.Time
	f.Tool, f.Example = example(ev)
	r.findings[key] = &f
	r.Findings = append(r.Findings, &f)
}

// example returns the tool of an event and its input, with secrets masked.
func example(ev events.Event) (tool, told string) {
	t, ok := events.ToolOf(ev.Name, ev.Data)
	if !ok || ev.Name != events.ToolPre {
		return t.Name, ""
	}
	told = cmp.Or(t.Command, strings.Join(t.Paths, " "), strings.Join(t.URLs, " "))
	return t.Name, masked(told)
}

// maxExample bounds the size of an example, in bytes.
const maxExample = 2000

// masked returns the beginning of a text, with secrets masked. It masks before it cuts, so that no
// part of a secret is left.
func masked(text string) string {
	text, _ = redact.Default().Text(text)
	return shorten.Bytes(text, maxExample, "")
}

// finish computes the totals.
func (r *report) finish() {
	for s := range r.sessions {
		r.Sessions[s[0]]++
	}
	r.Days = len(r.days)
	asked := 0
	for _, n := range r.days {
		asked, r.MostInADay = asked+n, max(r.MostInADay, n)
	}
	if r.Days > 0 {
		r.QuestionsPerDay = float64(asked) / float64(r.Days)
	}
	rank := []chain.Action{chain.Deny, chain.AskUser, chain.Modify}
	slices.SortFunc(r.Findings, func(a, b *finding) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Action), slices.Index(rank, b.Action)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
}
