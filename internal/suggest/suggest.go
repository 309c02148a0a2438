package suggest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Options configure suggestions.
type Options struct {
	Min      int // the minimum number of answers, and of files where they vary
	Sessions int // the minimum number of sessions
	// Unproven also counts answers without a proven identity, if the log has no proven identity at
	// all.
	Unproven bool
	// Known are the existing rules, in shadow or not.
	Known approval.Rules
}

// Report is the result for a log.
type Report struct {
	Questions int `json:"questions"` // approval requests
	Answered  int `json:"answered"`  // by people
	Unproven  int `json:"unproven"`  // of these by nobody who is proven, or by an agent; not counted
	Unknown   int `json:"unknown"`   // of which the log does not have the data
	Labeled   int `json:"labeled"`   // in sessions with labels, from which nothing is learned
	Several   int `json:"several"`   // that took several people, whom no rule replaces
	Merged    int `json:"merged"`    // that several hooks asked at once: a rule answers one of them

	Saved       int          `json:"saved"`       // that the rules together would have answered
	Contradicts int          `json:"contradicts"` // denials by people that they would have allowed; none
	Rules       []Suggestion `json:"suggestions"`
	Refused     []Refusal    `json:"refused"`
	Shadow      []Trial      `json:"shadow"`
}

// Suggestion is a suggested rule.
type Suggestion struct {
	Rule     approval.Rule `json:"rule"`
	Text     string        `json:"text"` // of the rule, with comments and tests, as it stands in a file
	Answers  int           `json:"answers"`
	Sessions int           `json:"sessions"`
	People   []string      `json:"people"`
	Saved    int           `json:"saved"` // approval requests of the log that it would have answered

	lines []*line
}

// Refusal is a command that was allowed often enough, and why no rule is suggested for it.
type Refusal struct {
	Command string `json:"command"`
	Answers int    `json:"answers"`
	Why     string `json:"why"`
}

// line is a command that was asked about in the same way.
type line struct {
	command  string
	facts    approval.Facts
	allowed  int
	sessions map[string]bool
	people   map[string]bool
	used     bool
}

// key groups similar questions.
type key struct{ hook, tool, cwd, emitter, prompt string }

// Suggest derives rules from people's answers. Its error is that of ctx.
func Suggest(ctx context.Context, l *Log, j *Judge, o Options) (Report, error) {
	r := Report{Rules: []Suggestion{}, Refused: []Refusal{}, Shadow: trials(l, o)}
	s := &suggester{log: l, judge: j, o: o, report: &r, denied: slices.Sorted(maps.Keys(l.refused())), odd: map[string]int{}}
	groups := map[key]map[string]*line{}
	var keys []key
	for _, q := range l.Questions() {
		if s.count(q) {
			k := key{q.Facts.Hook, q.Facts.Tool, q.Facts.Cwd, q.Facts.Emitter, strings.ReplaceAll(q.Facts.Prompt, q.Facts.Command, "*")}
			if groups[k] == nil {
				keys, groups[k] = append(keys, k), map[string]*line{}
			}
			add(groups[k], q)
		}
	}
	for _, k := range keys {
		lines := slices.SortedFunc(maps.Values(groups[k]), func(a, b *line) int { return strings.Compare(a.command, b.command) })
		if err := s.group(ctx, lines); err != nil {
			return r, err
		}
	}
	for command, n := range s.odd {
		if n >= o.Min {
			r.Refused = append(r.Refused, Refusal{command, n, "it has quotes, variables, globs, other commands, or more than a command"})
		}
	}
	slices.SortStableFunc(r.Rules, func(a, b Suggestion) int { return cmp.Compare(b.Answers, a.Answers) })
	slices.SortFunc(r.Refused, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(b.Answers, a.Answers), cmp.Compare(a.Command, b.Command))
	})
	s.replay()
	return r, s.render()
}

type suggester struct {
	log    *Log
	judge  *Judge
	o      Options
	report *Report
	denied []string
	odd    map[string]int // answers to commands that are not plain
}

// count adds an approval request to the report, and reports whether a rule can be derived from it.
func (s *suggester) count(q *Question) bool {
	r := s.report
	r.Questions++
	if !q.Person() {
		return false
	}
	r.Answered++
	switch {
	case !s.proven(q):
		r.Unproven++
	case q.Unknown != "":
		r.Unknown++
	case q.Several:
		r.Several++
	case q.Merged && q.Granted:
		r.Merged++
	case len(q.Facts.Labels) > 0:
		r.Labeled++
	case !q.Granted || q.ShadowRule != "": // denials are in denied; a rule in shadow already covers the request
	case q.Facts.Command == "":
		if q.Shown != "" && len(s.odd) < maxOdd {
			text, _ := redact.Text(q.Shown)
			s.odd[text]++
		}
	default:
		return true
	}
	return false
}

// maxOdd bounds the number of commands that are refused because they are not plain.
const maxOdd = 10_000

// proven reports whether a person with a proven identity answered, who is not the agent that asked.
func (s *suggester) proven(q *Question) bool {
	if q.By == approval.Unauthenticated || q.By == "" {
		return s.o.Unproven && !s.log.proven
	}
	return q.By != q.Facts.Emitter && !strings.HasPrefix(q.By, "nats agent/")
}

func add(lines map[string]*line, q *Question) {
	l := lines[q.Facts.Command]
	if l == nil {
		l = &line{command: q.Facts.Command, facts: q.Facts, sessions: map[string]bool{}, people: map[string]bool{}}
		lines[l.command] = l
	}
	l.allowed++
	l.sessions[q.Session], l.people[q.By] = true, true
}

// group creates rules for commands that were asked about in the same way: one for the files of a
// directory if they varied, and otherwise one for each command.
func (s *suggester) group(ctx context.Context, lines []*line) error {
	patterns := map[string][]*line{}
	for _, l := range lines {
		for pattern := range directories(l.command, l.facts.Cwd) {
			patterns[pattern] = append(patterns[pattern], l)
		}
	}
	for _, pattern := range slices.SortedFunc(maps.Keys(patterns), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(patterns[b]), len(patterns[a])), cmp.Compare(a, b))
	}) {
		free := slices.DeleteFunc(patterns[pattern], func(l *line) bool { return l.used })
		if len(free) < max(s.o.Min, 2) {
			continue
		}
		if why, err := s.try(ctx, pattern, free); err != nil {
			return err
		} else if why == "" {
			for _, l := range free {
				l.used = true
			}
		} else if !slices.ContainsFunc(free, func(l *line) bool { return l.allowed >= s.o.Min }) {
			s.refuse(pattern, len(free), why)
		}
	}
	for _, l := range lines {
		if l.used || l.allowed < s.o.Min {
			continue
		}
		why, err := s.try(ctx, l.command, []*line{l})
		if err != nil {
			return err
		}
		if why != "" {
			s.refuse(l.command, l.allowed, why)
		}
	}
	return nil
}

func (s *suggester) refuse(command string, answers int, why string) {
	shown, _ := redact.Text(command)
	s.report.Refused = append(s.report.Refused, Refusal{shown, answers, why})
}

// replay counts what the rules would have decided in the log.
func (s *suggester) replay() {
	var all approval.Rules
	for i := range s.report.Rules {
		all = append(all, s.report.Rules[i].Rule)
	}
	all = all.Enforced()
	for _, q := range s.log.Questions() {
		if q.Unknown != "" || q.Merged || !matches(all, q.Facts) {
			continue
		}
		s.report.Saved++
		if q.Decided && !q.Granted && !q.Silent {
			s.report.Contradicts++
		}
		for i, r := range all {
			if matches(approval.Rules{r}, q.Facts) {
				s.report.Rules[i].Saved++
			}
		}
	}
}
