package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

var (
	asked    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	answered = asked.Add(time.Minute)
	deadline = asked.Add(5 * time.Minute)
)

// question is an approval request that is open at answered.
func question(options ...string) approval.Request {
	return approval.Request{
		ID: "q1", Session: "s1", Event: "tool:pre", Hook: "prod-guard", Prompt: "Deploy to production?",
		Options: options, Default: approval.DefaultDeny,
		Created: approval.At(asked), Expires: approval.At(deadline),
		DataSHA256: approval.Digest([]byte(`{"a":1}`)),
	}
}

func TestGrants(t *testing.T) {
	for option, want := range map[string][2]bool{ // granted, remembered
		"Allow":             {true, false},
		"ALLOW":             {true, false},
		"allow once":        {true, false},
		"Allow Once":        {true, false},
		" Allow once\r\n":   {},
		"Allow always":      {true, true},
		"aLLOW aLWAYS":      {true, true},
		"Allow always ":     {},
		"":                  {},
		"Deny":              {},
		"Allowed":           {},
		"Allow  once":       {},
		"Allow\u00a0once":   {},
		"Allow all":         {},
		"Always allow":      {},
		"Allow twice":       {},
		"yes":               {},
		"Do not allow":      {},
		"\u0410llow":        {}, // a Cyrillic letter
		"Allow alway\u017f": {}, // a long s, which folds to s
		"Allow\u200b":       {},
	} {
		if got := [2]bool{approval.Grants(option), approval.Remembered(option)}; got != want {
			t.Errorf("%q: granted, remembered = %v, want %v", option, got, want)
		}
	}
}

func TestDecide(t *testing.T) {
	usual := question("Allow once", "Allow always", "Deny")
	allowing := usual
	allowing.Default = approval.DefaultAllow
	odd := usual
	odd.Default = "Allow" // not a word of the protocol
	for sentence, test := range map[string]struct {
		question approval.Request
		answer   approval.Answer
		who      string
		want     approval.Decision // without Decided
	}{
		"an offered option that grants": {
			usual,
			approval.Answer{Option: "Allow once"},
			"alice",
			approval.Decision{Option: "Allow once", Granted: true, DecidedBy: "alice"},
		},
		"in another case it is as offered": {
			usual,
			approval.Answer{Option: "aLLOW ALWAYS"},
			"alice",
			approval.Decision{Option: "Allow always", Granted: true, DecidedBy: "alice"},
		},
		"an offered option that denies": {
			usual,
			approval.Answer{Option: "deny"},
			"alice",
			approval.Decision{Option: "Deny", DecidedBy: "alice"},
		},
		"an offered option of no family denies, whatever the default": {
			func() approval.Request { q := question("Yes", "No"); q.Default = approval.DefaultAllow; return q }(),
			approval.Answer{Option: "Yes"},
			"alice",
			approval.Decision{Option: "Yes", DecidedBy: "alice"},
		},
		"letters that are no ASCII have two cases too": {
			question("Überspringen"),
			approval.Answer{Option: "überspringen"},
			"alice",
			approval.Decision{Option: "Überspringen", DecidedBy: "alice"},
		},
		"who nobody knows is unauthenticated, and what is claimed stands beside": {
			usual,
			approval.Answer{Option: "Deny", By: "root", Note: "too late at night"},
			"",
			approval.Decision{Option: "Deny", DecidedBy: "unauthenticated", ClaimedBy: "root", Note: "too late at night"},
		},
		"free text that was not offered denies": {
			usual,
			approval.Answer{Option: "hm, rather not", FreeText: true},
			"bridge",
			approval.Decision{Option: "hm, rather not", DecidedBy: "bridge"},
		},
		"free text of the allow family grants": {
			question("Yes", "No"),
			approval.Answer{Option: "allow", FreeText: true},
			"bridge",
			approval.Decision{Option: "allow", Granted: true, DecidedBy: "bridge"},
		},
		"free text that was offered is as offered": {
			usual,
			approval.Answer{Option: "allow ONCE", FreeText: true},
			"bridge",
			approval.Decision{Option: "Allow once", Granted: true, DecidedBy: "bridge"},
		},
		"free text that is empty denies": {
			usual,
			approval.Answer{FreeText: true},
			"bridge",
			approval.Decision{DecidedBy: "bridge"},
		},
		"free text with space around is none of the allow family": {
			usual,
			approval.Answer{Option: " Allow once", FreeText: true},
			"bridge",
			approval.Decision{Option: " Allow once", DecidedBy: "bridge"},
		},
		"an error leaves it to the default, which denies": {
			usual,
			approval.Answer{Error: "display is gone", By: "tty", Note: "n"},
			"alice",
			approval.Decision{DecidedBy: "alice", ClaimedBy: "tty", Note: "n", Error: "display is gone"},
		},
		"an error leaves it to the default, which allows": {
			allowing,
			approval.Answer{Error: "display is gone"},
			"",
			approval.Decision{Granted: true, DecidedBy: "unauthenticated", Error: "display is gone"},
		},
		"a default that nobody knows denies": {
			odd,
			approval.Answer{Error: "display is gone"},
			"alice",
			approval.Decision{DecidedBy: "alice", Error: "display is gone"},
		},
		"the digest of the data, in another case": {
			usual,
			approval.Answer{Option: "Allow once", DataSHA256: strings.ToUpper(usual.DataSHA256)},
			"alice",
			approval.Decision{Option: "Allow once", Granted: true, DecidedBy: "alice"},
		},
		"the longest texts": {
			usual,
			approval.Answer{Option: "Deny", By: strings.Repeat("b", 256), Note: strings.Repeat("n", 4096)},
			"alice",
			approval.Decision{Option: "Deny", DecidedBy: "alice", ClaimedBy: strings.Repeat("b", 256), Note: strings.Repeat("n", 4096)},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := approval.Decide(test.question, test.answer, test.who, answered)
			if err != nil {
				t.Fatal(err)
			}
			test.want.Decided = approval.At(answered)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDecideRefuses(t *testing.T) {
	q := question("Allow once", "Deny", "\x1b[2J")
	for sentence, test := range map[string]struct {
		answer approval.Answer
		at     time.Time // answered, where it is zero
		want   error
		says   string
	}{
		"an option that was not offered":             {approval.Answer{Option: "Allow"}, time.Time{}, approval.ErrNotOffered, `"Allow" is not one of "Allow once", "Deny", "\x1b[2J"`},
		"an offered option with space around":        {approval.Answer{Option: " Deny"}, time.Time{}, approval.ErrNotOffered, `" Deny" is not one of`},
		"a long option, which the text cuts":         {approval.Answer{Option: strings.Repeat("x", 4096)}, time.Time{}, approval.ErrNotOffered, strings.Repeat("x", 80) + `...[truncated]" is`},
		"no option":                                  {approval.Answer{By: "alice"}, time.Time{}, approval.ErrMalformed, "no option"},
		"a blank option":                             {approval.Answer{Option: " \t"}, time.Time{}, approval.ErrNotOffered, `" \t" is not one of`},
		"an option and an error":                     {approval.Answer{Option: "Deny", Error: "broken"}, time.Time{}, approval.ErrMalformed, "both"},
		"a long note":                                {approval.Answer{Option: "Deny", Note: strings.Repeat("n", 4097)}, time.Time{}, approval.ErrMalformed, "note has 4097 bytes: at most 4096"},
		"a long name":                                {approval.Answer{Option: "Deny", By: strings.Repeat("ä", 129)}, time.Time{}, approval.ErrMalformed, "by has 258 bytes: at most 256"},
		"a long error":                               {approval.Answer{Error: strings.Repeat("e", 4097)}, time.Time{}, approval.ErrMalformed, "error has 4097 bytes: at most 4096"},
		"long free text":                             {approval.Answer{Option: strings.Repeat("x", 4097), FreeText: true}, time.Time{}, approval.ErrMalformed, "option has 4097 bytes: at most 4096"},
		"the digest of other data":                   {approval.Answer{Option: "Deny", DataSHA256: approval.Digest([]byte(`{"a":2}`))}, time.Time{}, approval.ErrOtherData, q.DataSHA256},
		"an error about other data":                  {approval.Answer{Error: "broken", DataSHA256: "00"}, time.Time{}, approval.ErrOtherData, q.DataSHA256},
		"an answer at the deadline":                  {approval.Answer{Option: "Deny"}, deadline, approval.ErrExpired, "2026-03-01T12:05:00.000Z"},
		"an answer long after it":                    {approval.Answer{Option: "Allow once"}, deadline.Add(time.Hour), approval.ErrExpired, "2026-03-01T12:05:00.000Z"},
		"an error after the deadline":                {approval.Answer{Error: "broken"}, deadline, approval.ErrExpired, "2026-03-01T12:05:00.000Z"},
		"a late answer that was not offered is late": {approval.Answer{Option: "Maybe"}, deadline, approval.ErrExpired, "2026-03-01T12:05:00.000Z"},
	} {
		t.Run(sentence, func(t *testing.T) {
			at := test.at
			if at.IsZero() {
				at = answered
			}
			d, err := approval.Decide(q, test.answer, "alice", at)
			if !errors.Is(err, test.want) {
				t.Fatalf("error is %v, want %v", err, test.want)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("error is %q, want in it %q", err, test.says)
			}
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
				t.Errorf("error has control characters: %q", err)
			}
			if diff := cmp.Diff(approval.Decision{}, d); diff != "" {
				t.Errorf("a refused answer decided\n%s", diff)
			}
		})
	}
}

func TestARefusalIsShortWhateverWasOffered(t *testing.T) {
	var options []string
	for range approval.MaxOptions {
		options = append(options, strings.Repeat("ä", approval.MaxOption))
	}
	_, err := approval.Decide(question(options...), approval.Answer{Option: "Deny"}, "alice", answered)
	if n := len(err.Error()); n > 2048 {
		t.Errorf("the error has %d bytes", n)
	}
}

func TestAnAnswerJustInTimeDecides(t *testing.T) {
	if _, err := approval.Decide(question("Deny"), approval.Answer{Option: "Deny"}, "", deadline.Add(-time.Millisecond)); err != nil {
		t.Error(err)
	}
}

func TestTimedOut(t *testing.T) {
	for standard, granted := range map[string]bool{"allow": true, "deny": false, "": false, "ALLOW": false} {
		q := question("Allow", "Deny")
		q.Default = standard
		want := approval.Decision{Granted: granted, DecidedBy: "timeout", Decided: approval.At(deadline), TimedOut: true}
		if diff := cmp.Diff(want, approval.TimedOut(q, deadline)); diff != "" {
			t.Errorf("default %q (-want +got)\n%s", standard, diff)
		}
	}
}

func TestReason(t *testing.T) {
	long := strings.Repeat("ü", 200)
	for sentence, test := range map[string]struct {
		prompt   string
		decision approval.Decision
		want     string
	}{
		"granted":            {"Go?", approval.Decision{Granted: true}, ""},
		"granted by default": {"Go?", approval.Decision{Granted: true, TimedOut: true}, ""},
		"denied":             {"Go?", approval.Decision{Option: "Deny", DecidedBy: "alice"}, "User denied: Go?"},
		"nobody answered":    {"Go?", approval.Decision{TimedOut: true, DecidedBy: "timeout"}, "Approval timeout - denied by default: Go?"},
		"an error":           {"Go?", approval.Decision{Error: "gone", DecidedBy: "alice"}, "Approval error - denied by default: Go?"},
		"a rule":             {"Go?", approval.Rule{Name: "no prod", Decision: "deny"}.Decided(asked), "Denied by rule no prod: Go?"},
		"200 characters":     {long, approval.Decision{}, "User denied: " + long},
		"201 characters":     {long + "x", approval.Decision{}, "User denied: " + long + "...[truncated]"},
	} {
		if got := approval.Reason(approval.Request{Prompt: test.prompt}, test.decision); got != test.want {
			t.Errorf("%s: %q, want %q", sentence, got, test.want)
		}
	}
}
