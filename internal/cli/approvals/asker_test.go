package approvals

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// seat is an asker with its own terminal, and the service that it calls.
type seat struct {
	t       *testing.T
	m       *asker
	clock   time.Time
	records map[string]approval.Record
	answers []string
	scopes  []string // of the answers
	refusal error    // of the next answers
	// progress is what the next answers leave open.
	progress string
	left     bool
}

func newSeat(t *testing.T) *seat {
	s := &seat{t: t, clock: time.Date(2126, 1, 2, 3, 4, 5, 0, time.UTC), records: map[string]approval.Record{}}
	s.m = newAsker(&term.Printer{}, service{
		get: func(id string) (approval.Record, error) {
			r, ok := s.records[id]
			if !ok {
				return r, wire.Errorf(wire.NotFound, "there is no approval %s", id)
			}
			return r, nil
		},
		answer: func(id string, a approval.Answer) (string, error) {
			s.answers = append(s.answers, fmt.Sprintf("%s %s by %s, note %q, %s", id, a.Option, a.By, a.Note, a.DataSHA256))
			s.scopes = append(s.scopes, a.Scope)
			return s.progress, s.refusal
		},
	}, "me")
	s.m.now = func() time.Time { return s.clock }
	return s
}

// tell sends a message to the asker, and then the resulting messages.
func (s *seat) tell(msg tea.Msg) {
	_, cmd := s.m.Update(msg)
	for cmd != nil {
		next := cmd()
		if _, quit := next.(tea.QuitMsg); quit {
			s.left = true
			return
		}
		_, cmd = s.m.Update(next)
	}
}

// ask opens an approval request with options.
func (s *seat) ask(id, prompt string, options ...string) approval.Request {
	q := approval.Request{
		ID: id, Session: "s1", Event: "tool:pre", Hook: "deploy-guard", Prompt: prompt, Options: options, Default: "deny",
		Created: approval.At(s.clock), Expires: approval.At(s.clock.Add(5 * time.Minute)), DataSHA256: "digest-of-" + id,
	}
	s.records[id] = approval.Record{
		Request: q, Agent: "/agent", ToolName: "Deploy", Reason: "it is production", Data: json.RawMessage(`{"env":"prod","n":9007199254740993}`),
		Changes: json.RawMessage(`[{"op":"replace","path":"/env","old":"dev","value":"prod"},{"op":"remove","path":"/x","old":1},{"op":"add","path":"/n","value":9007199254740993}]`),
	}
	s.tell(approval.Notice{Request: q})
	return q
}

// press waits until keys are accepted, and presses some.
func (s *seat) press(keys ...string) {
	s.clock = s.clock.Add(settle)
	for _, key := range keys {
		s.tell(keyPress(key))
	}
}

func keyPress(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "pgdown": tea.KeyPgDown,
		"pgup": tea.KeyPgUp, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace,
	}
	if code, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func (s *seat) screen() string { return s.m.View().Content }

func (s *seat) sees(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.screen(), text) {
			s.t.Errorf("the screen has no %q:\n%s", text, s.screen())
		}
	}
}

func (s *seat) gave(answers ...string) {
	s.t.Helper()
	if got, want := strings.Join(s.answers, "\n"), strings.Join(answers, "\n"); got != want {
		s.t.Errorf("answers\n%s\nwant\n%s", got, want)
	}
}

func TestAskerShowsAllOfAQuestion(t *testing.T) {
	s := newSeat(t)
	s.sees("no approval request is open")
	s.tell(tea.WindowSizeMsg{Width: 60, Height: 40})
	s.ask("q1", "Deploy\x1b[2J to \u202eprod?", "Allow once", "Deny")
	s.sees("deploy-guard asks", "5m0s left", "tool     Deploy", "agent    agent", "session  s1", "reason   it is production", "Deploy␛[2J to ⟨U+202E⟩prod?",
		`- env: "dev"`, `+ env: "prod"`, "- x: 1", "+ n: 9007199254740993", `n: 9007199254740993`, "  Allow once\n> Deny\n")
	s.clock = s.clock.Add(290 * time.Second)
	s.sees("10s left", "\ndefault  deny")
	if n := strings.Count(s.screen(), " left"); n != 1 {
		t.Errorf("the time that is left stands there %d times:\n%s", n, s.screen())
	}
	for _, width := range []int{20, 33, 200} {
		s.tell(tea.WindowSizeMsg{Width: width, Height: 12})
		lines := strings.Split(s.screen(), "\n")
		if len(lines) > 12 {
			t.Errorf("%d lines on a screen of 12", len(lines))
		}
		for _, line := range lines {
			if n := len([]rune(line)); n > width {
				t.Errorf("%d columns on a screen of %d: %q", n, width, line)
			}
		}
	}
}

func TestAskerAnswers(t *testing.T) {
	for sentence, c := range map[string]struct {
		options []string
		keys    []string
		want    string
	}{
		"Enter alone never grants":                {[]string{"Allow", "Allow always", "Deny"}, []string{"enter"}, `q1 Deny by me, note "", digest-of-q1`},
		"an option is chosen":                     {[]string{"Allow once", "Deny"}, []string{"up", "enter"}, `q1 Allow once by me, note "", digest-of-q1`},
		"the choice ends at the last option":      {[]string{"Allow once", "Deny"}, []string{"down", "down", "enter"}, `q1 Deny by me, note "", digest-of-q1`},
		"nothing is chosen where all grant":       {[]string{"Allow", "Allow once"}, []string{"enter"}, ""},
		"then the first must be chosen":           {[]string{"Allow", "Allow once"}, []string{"down", "enter"}, `q1 Allow by me, note "", digest-of-q1`},
		"a note goes with the answer":             {[]string{"Deny"}, []string{"n", "n", "o", " ", "x", "backspace", "é", "enter", "enter"}, `q1 Deny by me, note "no é", digest-of-q1`},
		"a note is dropped":                       {[]string{"Deny"}, []string{"n", "a", "esc", "enter"}, `q1 Deny by me, note "", digest-of-q1`},
		"keys of the note choose nothing":         {[]string{"Allow", "Deny"}, []string{"n", "k", "up", "enter", "enter"}, `q1 Deny by me, note "k", digest-of-q1`},
		"Ctrl-C leaves without an answer":         {[]string{"Allow", "Deny"}, []string{"up", "ctrl+c"}, ""},
		"what is no key of this does nothing":     {[]string{"Allow", "Deny"}, []string{"x", "esc", "y"}, ""},
		"a line break in a note does not send it": {[]string{"Deny"}, []string{"n", "a\nb\u202e", "enter", "enter"}, `q1 Deny by me, note "a b", digest-of-q1`},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSeat(t)
			s.ask("q1", "Deploy?", c.options...)
			s.press(c.keys...)
			if c.want == "" {
				s.gave()
			} else {
				s.gave(c.want)
				s.sees("answered: ")
			}
			if s.left != (c.keys[len(c.keys)-1] == "ctrl+c") {
				t.Errorf("left: %v", s.left)
			}
		})
	}
}

func TestAKeyMeantForSomethingElseDecidesNothing(t *testing.T) {
	s := newSeat(t)
	s.ask("q1", "One?", "Deny")
	s.ask("q2", "Two?", "Deny")
	s.clock = s.clock.Add(settle - time.Millisecond)
	s.tell(keyPress("enter"))
	s.gave()
	s.press("enter", "enter") // the second arrives right after the next approval request
	s.gave(`q1 Deny by me, note "", digest-of-q1`)
	s.sees("Two?")
}

func TestAQuestionAnsweredElsewhereGoes(t *testing.T) {
	s := newSeat(t)
	q1, q2 := s.ask("q1", "One?", "Allow", "Deny"), s.ask("q2", "Two?", "Allow", "Deny")
	s.sees("1 more wait")
	s.press("n", "a")
	s.tell(approval.Notice{Request: q1, Decision: &approval.Decision{Option: "Allow", Granted: true, DecidedBy: "bob\x1b"}})
	s.sees("Two?", `One?  granted, "Allow" by bob␛`, "  note: \n")
	s.tell(approval.Notice{Request: q2, Decision: &approval.Decision{DecidedBy: "timeout", TimedOut: true}})
	s.sees("no approval request is open", "Two?  denied: nobody answered in time")
	s.press("enter")
	s.gave()
}

func TestAnAnswerIsSentOnce(t *testing.T) {
	s := newSeat(t)
	q := s.ask("q1", "One?", "Deny", "No")
	s.clock = s.clock.Add(settle)
	_, send := s.m.Update(keyPress("enter"))
	s.press("down", "enter")
	s.sees("sending the answer")
	// The router may announce the decision before it replies.
	s.tell(approval.Notice{Request: q, Decision: &approval.Decision{Option: "Deny", DecidedBy: "unauthenticated"}})
	s.sees("One?", "sending the answer")
	s.tell(send())
	s.gave(`q1 Deny by me, note "", digest-of-q1`)
	s.sees("no approval request is open", "answered: Deny")
}

func TestARecordThatComesLateIsNotShown(t *testing.T) {
	s := newSeat(t)
	get := s.m.service.get
	s.m.service.get = func(string) (approval.Record, error) { return approval.Record{}, natsx.ErrDisconnected }
	q := s.ask("q1", "One?", "Deny")
	s.ask("q2", "Two?", "Deny")
	s.m.service.get = get
	late := s.m.load()
	s.tell(approval.Notice{Request: q, Decision: &approval.Decision{DecidedBy: "bob"}})
	s.m.record = nil // as if q2 were still being looked up
	s.tell(late())
	if s.m.record != nil {
		t.Errorf("shows %+v", s.m.record)
	}
}

func TestARefusedAnswer(t *testing.T) {
	for sentence, c := range map[string]struct {
		refusal error
		goes    bool
	}{
		"decided already":      {wire.Errorf(wire.Conflict, `decided already: "Deny" by bob`), true},
		"expired":              {wire.Errorf(wire.Gone, "expired"), true},
		"unknown":              {wire.Errorf(wire.NotFound, "unknown"), true},
		"overloaded":           {wire.Errorf(wire.Overloaded, "try again"), false},
		"malformed":            {wire.Errorf(wire.Malformed, "too long"), false},
		"no router there":      {natsx.ErrNoResponders, false},
		"no storage right now": {wire.Errorf(wire.Unavailable, "no storage"), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSeat(t)
			s.ask("q1", "One?", "Deny")
			s.refusal = c.refusal
			s.press("enter")
			s.sees(c.refusal.Error())
			if gone := strings.Contains(s.screen(), "no approval request is open"); gone != c.goes {
				t.Errorf("gone: %v; want %v\n%s", gone, c.goes, s.screen())
			}
		})
	}
}

func TestQuestionsTakeTurns(t *testing.T) {
	s := newSeat(t)
	s.ask("q1", "One?", "Deny")
	s.press("tab")
	s.sees("One?")
	s.ask("q2", "Two?", "Deny")
	s.press("tab")
	s.sees("Two?", "1 more wait")
	s.press("tab")
	s.sees("One?")
}

func TestANoticeThatIsForgedShowsNothing(t *testing.T) {
	s := newSeat(t)
	s.tell(approval.Notice{Request: approval.Request{ID: "forged", Prompt: "Never shown"}})
	s.sees("no approval request is open")
	q := s.ask("q1", "One?", "Deny")
	r := s.records["q1"]
	r.Decision = &approval.Decision{Option: "Deny", DecidedBy: "bob"}
	r.ID, q.ID = "q2", "q2"
	s.records["q2"] = r
	s.tell(approval.Notice{Request: q})
	s.press("enter")
	s.sees("no approval request is open", "by bob") // q2 was decided before it was shown
}

func TestALookUpThatFailsIsTriedAgain(t *testing.T) {
	s := newSeat(t)
	get := s.m.service.get
	s.m.service.get = func(string) (approval.Record, error) { return approval.Record{}, natsx.ErrDisconnected }
	s.ask("q1", "One?", "Deny")
	s.sees("looking up the approval request", natsx.ErrDisconnected.Error())
	s.m.service.get = get
	s.tell(tickMsg{})
	s.sees("One?", "> Deny")
}

func TestLongTextIsScrolledAndCut(t *testing.T) {
	s := newSeat(t)
	s.tell(tea.WindowSizeMsg{Width: 40, Height: 20})
	r := s.ask("q1", "One?", "Deny")
	record := s.records["q1"]
	record.Data = json.RawMessage(`{"text":"` + strings.Repeat("x", 300000) + `","list":[` + strings.Repeat("1,", 999) + `2]}`)
	s.records["q1"] = record
	s.tell(approval.Notice{Request: r, Decision: &approval.Decision{}})
	s.tell(approval.Notice{Request: r})
	s.sees("lines 1 to 13 of 5000; PgUp", "tool     Deploy")
	s.press("pgdown")
	s.sees("lines 14 to 26 of")
	s.press("end")
	s.sees("cut here")
	s.press("pgup", "home")
	s.sees("lines 1 to 13 of")
}

// Text from an agent can't pass for the surrounding parts of the request, whether it breaks the
// line or fills it.
func TestTextOfSeveralRowsHasBars(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.tell(tea.WindowSizeMsg{Width: 60, Height: 60})
	s.ask("q1", "Run ls?\n\noptions  Allow | Deny"+strings.Repeat(" ", 60-len("options  Allow | Deny"))+"data", "Allow", "Deny")
	for _, head := range []string{"options", "data"} {
		if n := strings.Count("\n"+s.screen(), "\n"+head); n != 1 {
			t.Errorf("%d rows begin with %q:\n%s", n, head, s.screen())
		}
	}
	s.sees("│ Run ls?", "│ options  Allow | Deny")
}

func TestManyOptionsAreSeenAroundTheChoice(t *testing.T) {
	s := newSeat(t)
	options := []string{"Allow"}
	for i := range 49 {
		options = append(options, fmt.Sprintf("No %d", i))
	}
	s.ask("q1", "One?", options...)
	s.sees("> No 0")
	for range 30 {
		s.press("down")
	}
	s.sees("> No 30")
	if n := strings.Count(s.screen(), "\n") + 1; n != 24 {
		t.Errorf("%d lines; want 24", n)
	}
}

// The asker offers the router's scopes, for "Allow always" only.
func TestAskerChoosesTheScope(t *testing.T) {
	all := []string{approval.ScopeSession, approval.ScopeLineage, approval.ScopeAgent}
	for sentence, c := range map[string]struct {
		scopes []string
		keys   []string
		want   string
	}{
		"the session is the default":       {all, []string{"up", "enter"}, ""},
		"f takes the next":                 {all, []string{"up", "f", "enter"}, approval.ScopeLineage},
		"and the one after it":             {all, []string{"up", "f", "f", "enter"}, approval.ScopeAgent},
		"and begins again":                 {all, []string{"up", "f", "f", "f", "enter"}, ""},
		"another choice has no scope":      {all, []string{"up", "f", "down", "enter"}, ""},
		"nor when it comes back":           {all, []string{"up", "f", "down", "up", "enter"}, ""},
		"f does nothing elsewhere":         {all, []string{"f", "up", "enter"}, ""},
		"who is not proven is not offered": {nil, []string{"up", "f", "enter"}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSeat(t)
			s.ask("q0", "First?", "Deny")
			s.ask("q1", "Deploy?", "Allow always", "Deny")
			r := s.records["q1"]
			r.Scopes = c.scopes
			s.records["q1"] = r
			s.press("enter")
			s.press("up")
			if seen := strings.Contains(s.screen(), "Allow always, for the session; f changes it"); seen != (c.scopes != nil) {
				t.Errorf("it is offered: %v\n%s", seen, s.screen())
			}
			s.press("down")
			s.press(c.keys...)
			if got := s.scopes[len(s.scopes)-1]; len(s.scopes) != 2 || got != c.want {
				t.Errorf("scopes %q; want %q", s.scopes, c.want)
			}
		})
	}
}
