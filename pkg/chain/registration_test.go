package chain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func flag(b bool) *bool { return &b }

func TestParseRegistration(t *testing.T) {
	for sentence, c := range map[string]struct {
		body    string
		want    Registration
		ignored []string
	}{
		"the least a hook says":        {`{"events":["tool:pre"]}`, Registration{ID: "guard", Events: []string{"tool:pre"}}, nil},
		"the least a contributor says": {`{"channels":["status.all"]}`, Registration{ID: "guard", Channels: []string{"status.all"}}, nil},
		"everything a hook may say": {
			`{"id":"guard","name":"The Guard","events":["tool:pre","session:*","*"],"priority":-5,"timeout_ms":30000,` +
				`"on_failure":"deny","match":"data.x == 1","mode":"shadow","session_id":"s1","durable":false,"replay_safe":true,` +
				`"channels":[],"instance":"i1","version":"1.2","protocol":1}`,
			Registration{
				ID: "guard", Name: "The Guard", Events: []string{"tool:pre", "session:*", "*"}, Channels: []string{}, Priority: -5,
				TimeoutMS: 30000, OnFailure: FailClosed, Match: "data.x == 1", Mode: Shadow, SessionID: "s1", Durable: flag(false),
				ReplaySafe: true, Instance: "i1", Version: "1.2", Protocol: 1,
			},
			nil,
		},
		"a newer protocol's fields are ignored and named": {
			`{"events":["tool:pre"],"protocol":2,"zone":"eu","colour":{"r":1}}`,
			Registration{ID: "guard", Events: []string{"tool:pre"}, Protocol: 2},
			[]string{"colour", "zone"},
		},
		"a name of 128 characters that are no bytes": {
			`{"events":["*"],"name":"` + strings.Repeat("é", 128) + `"}`,
			Registration{ID: "guard", Events: []string{"*"}, Name: strings.Repeat("é", 128)},
			nil,
		},
		"null means the default": {
			`{"events":["*"],"durable":null,"channels":null}`, Registration{ID: "guard", Events: []string{"*"}}, nil,
		},
		"64 patterns": {
			`{"events":` + patterns(64) + `}`, Registration{ID: "guard", Events: strings.Split(strings.Trim(patterns(64), `["]`), `","`)}, nil,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, ignored, err := ParseRegistration("guard", []byte(c.body), 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.ignored, ignored); diff != "" {
				t.Errorf("ignored (-want +got):\n%s", diff)
			}
		})
	}
}

// patterns is a JSON list of n event names.
func patterns(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("e:%d", i)
	}
	return `["` + strings.Join(list, `","`) + `"]`
}

func TestParseRegistrationRefuses(t *testing.T) {
	hook := func(more string) string { return `{"events":["tool:pre"],` + more + `}` }
	for sentence, c := range map[string]struct{ body, want string }{
		"no body":                             {``, "the registration is not JSON"},
		"no JSON":                             {`hello`, "the registration is not JSON"},
		"a list":                              {`["tool:pre"]`, "the registration must be a JSON object, not an array"},
		"an unknown field":                    {hook(`"prioritty":1`), `unknown field "prioritty"`},
		"of two unknown fields the first":     {hook(`"zone":1,"colour":2`), `unknown field "colour"`},
		"a known field in another case":       {hook(`"Priority":1`), `unknown field "Priority"`},
		"an unknown field, protocol 1":        {hook(`"x":1,"protocol":1`), `unknown field "x"`},
		"a field twice":                       {hook(`"priority":1,"priority":2`), "twice"},
		"a field twice, once escaped":         {hook(`"priority":1,"pri\u006frity":2`), "twice"},
		"events that are text":                {`{"events":"tool:pre"}`, "events must be a list of strings"},
		"events that are numbers":             {`{"events":[1]}`, "events/0 must be a string"},
		"a priority that is text":             {hook(`"priority":"1"`), "priority must be an integer"},
		"a priority with a fraction":          {hook(`"priority":1.5`), "priority must be an integer"},
		"a priority beyond 64 bits":           {hook(`"priority":1e30`), "priority must be an integer"},
		"durable that is a number":            {hook(`"durable":1`), "durable must be true or false"},
		"replay_safe that is text":            {hook(`"replay_safe":"yes"`), "replay_safe must be true or false"},
		"a match that is a flag":              {hook(`"match":true`), "match must be a string"},
		"another hook's id":                   {hook(`"id":"other"`), `is of "other" but was sent for "guard"`},
		"an event name with a space":          {`{"events":["tool pre"]}`, `event name "tool pre"`},
		"a star within a word":                {`{"events":["tool:p*"]}`, `event name "tool:p*"`},
		"a star in the middle":                {`{"events":["*:pre"]}`, `event name "*:pre"`},
		"an empty pattern":                    {`{"events":[""]}`, `event name ""`},
		"the second pattern of two":           {`{"events":["tool:pre","tool..pre"]}`, "tool..pre"},
		"a channel with a colon":              {`{"channels":["a:b"]}`, `channel "a:b"`},
		"neither events nor channels":         {`{}`, "exactly one of events and channels"},
		"both events and channels":            {hook(`"channels":["a"]`), "exactly one of events and channels"},
		"both, and both empty":                {`{"events":[],"channels":[]}`, "exactly one of events and channels"},
		"65 patterns":                         {`{"events":` + patterns(65) + `}`, "at most 64"},
		"a time-out below zero":               {hook(`"timeout_ms":-1`), "1 to 30000"},
		"a time-out beyond 30 seconds":        {hook(`"timeout_ms":30001`), "1 to 30000"},
		"a time-out that overflows as a time": {hook(`"timeout_ms":288230376151711744`), "1 to 30000"},
		"an unknown policy":                   {hook(`"on_failure":"open"`), `"continue" or "deny"`},
		"a policy in capitals":                {hook(`"on_failure":"Deny"`), `"continue" or "deny"`},
		"an unknown mode":                     {hook(`"mode":"audit"`), `"enforce", "shadow", "observe" or "async"`},
		"a name of 129 characters":            {hook(`"name":"` + strings.Repeat("é", 129) + `"`), "name is longer than 128"},
		"a name with a line break":            {hook(`"name":"a\nb"`), "name has control characters"},
		"an instance of 129 characters":       {hook(`"instance":"` + strings.Repeat("i", 129) + `"`), "instance is longer"},
		"a version of 65 characters":          {hook(`"version":"` + strings.Repeat("1", 65) + `"`), "version is longer"},
		"a session id with an escape":         {hook(`"session_id":"\u001b[2J"`), "session_id has control characters"},
		"a match of 4097 characters":          {hook(`"match":"` + strings.Repeat("x", 4097) + `"`), "match is longer"},
		"a contributor with a priority":       {`{"channels":["a"],"priority":1}`, "no priority"},
		"a contributor with a match":          {`{"channels":["a"],"match":"true"}`, "no match"},
		"a contributor of one session":        {`{"channels":["a"],"session_id":"s"}`, "no session"},
		"a protocol below zero":               {hook(`"protocol":-1`), "protocol is -1"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, ignored, err := ParseRegistration("guard", []byte(c.body), 0)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if len(ignored) > 0 || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("ignored %q, error %q", ignored, err)
			}
		})
	}
}

func TestParseRegistrationChecksTheID(t *testing.T) {
	for _, id := range []string{"", "Guard", "-guard", "gu.ard", strings.Repeat("g", 65)} {
		if _, _, err := ParseRegistration(id, []byte(`{"events":["*"]}`), 0); err == nil {
			t.Errorf("the id %q is accepted", id)
		}
	}
}

func TestWithDefaults(t *testing.T) {
	for sentence, c := range map[string]struct{ given, want Registration }{
		"the least a hook says": {
			Registration{ID: "g", Events: []string{"*"}},
			Registration{
				ID: "g", Name: "g", Events: []string{"*"}, TimeoutMS: 5000, OnFailure: FailOpen, Mode: Enforce,
				Durable: flag(false), Protocol: 1,
			},
		},
		"a guard stays registered": {
			Registration{ID: "g", Events: []string{"*"}, OnFailure: FailClosed},
			Registration{
				ID: "g", Name: "g", Events: []string{"*"}, TimeoutMS: 5000, OnFailure: FailClosed, Mode: Enforce,
				Durable: flag(true), Protocol: 1,
			},
		},
		"what was given is kept": {
			Registration{ID: "g", Name: "N", TimeoutMS: 1, OnFailure: FailClosed, Mode: Observe, Durable: flag(false), Protocol: 7},
			Registration{ID: "g", Name: "N", TimeoutMS: 1, OnFailure: FailClosed, Mode: Observe, Durable: flag(false), Protocol: 7},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := c.given.WithDefaults()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, got.WithDefaults()); diff != "" {
				t.Errorf("a second time changes something:\n%s", diff)
			}
		})
	}
}

func TestStaysRegistered(t *testing.T) {
	for sentence, c := range map[string]struct {
		reg  Registration
		want bool
	}{
		"a hook that may fail does not":            {Registration{}, false},
		"a guard does":                             {Registration{OnFailure: FailClosed}, true},
		"a guard that says no does not":            {Registration{OnFailure: FailClosed, Durable: flag(false)}, false},
		"a hook that may fail but says yes does":   {Registration{OnFailure: FailOpen, Durable: flag(true)}, true},
		"a hook that says continue does not":       {Registration{OnFailure: FailOpen}, false},
		"a shadow hook with deny, like any other,": {Registration{OnFailure: FailClosed, Mode: Shadow}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := c.reg.StaysRegistered(); got != c.want {
				t.Errorf("StaysRegistered() = %v", got)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	if got := (Registration{}).Timeout(); got != DefaultTimeout {
		t.Errorf("default %v", got)
	}
	if got := (Registration{TimeoutMS: 250}).Timeout(); got != 250*time.Millisecond {
		t.Errorf("250 ms are %v", got)
	}
}

func TestEnforced(t *testing.T) {
	for mode, want := range map[Mode]bool{"": true, Enforce: true, Shadow: false, Observe: false} {
		if got := (Registration{Mode: mode}).Enforced(); got != want {
			t.Errorf("mode %q: Enforced() = %v", mode, got)
		}
	}
}

func TestContentTellsHooksApartButNotInstances(t *testing.T) {
	base := Registration{ID: "g", Events: []string{"tool:pre"}, Priority: 1}
	same := map[string]func(*Registration){
		"another instance":           func(r *Registration) { r.Instance = "i2" },
		"another version":            func(r *Registration) { r.Version = "2" },
		"a newer protocol":           func(r *Registration) { r.Protocol = 2 },
		"a default that is spelled ": func(r *Registration) { *r = r.WithDefaults() },
	}
	for sentence, change := range same {
		r := base
		if change(&r); r.Content() != base.Content() {
			t.Errorf("%s is other content", sentence)
		}
	}
	other := map[string]func(*Registration){
		"another id":           func(r *Registration) { r.ID = "h" },
		"another name":         func(r *Registration) { r.Name = "N" },
		"other events":         func(r *Registration) { r.Events = []string{"tool:post"} },
		"another priority":     func(r *Registration) { r.Priority = 2 },
		"another time-out":     func(r *Registration) { r.TimeoutMS = 1 },
		"another policy":       func(r *Registration) { r.OnFailure = FailClosed },
		"another match":        func(r *Registration) { r.Match = "true" },
		"another mode":         func(r *Registration) { r.Mode = Shadow },
		"another session":      func(r *Registration) { r.SessionID = "s" },
		"that it is durable":   func(r *Registration) { r.Durable = flag(true) },
		"that it may be twice": func(r *Registration) { r.ReplaySafe = true },
	}
	for sentence, change := range other {
		r := base
		if change(&r); r.Content() == base.Content() {
			t.Errorf("%s is the same content", sentence)
		}
	}
	if base.Durable != nil || base.Name != "" {
		t.Error("Content changed the registration")
	}
}

// FuzzParseRegistration: what is accepted is valid, and is accepted again as it
// is listed.
func FuzzParseRegistration(f *testing.F) {
	for _, s := range []string{
		`{"events":["tool:pre"]}`, `{"channels":["a.b"],"name":"N"}`, `{"events":["*"],"protocol":2,"x":[1]}`, `{}`,
		`{"events":["tool:*"],"on_failure":"deny","durable":null,"timeout_ms":30000,"match":"true"}`, `{"events":["a"],"events":[]}`,
		`{"id":"guard","events":["a"],"mode":"observe","priority":-9223372036854775808}`, `[]`, `{"events":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		first, _, err := ParseRegistration("guard", body, 0)
		if err != nil {
			return
		}
		if err := first.Check(); err != nil || first.ID != "guard" {
			t.Fatalf("%s is accepted for %q: %v", body, first.ID, err)
		}
		listed, err := json.Marshal(first.WithDefaults())
		if err != nil {
			t.Fatal(err)
		}
		second, ignored, err := ParseRegistration("guard", listed, 0)
		if err != nil || len(ignored) > 0 {
			t.Fatalf("%s is refused: %v, ignored %q", listed, err, ignored)
		}
		if first.Content() != second.Content() {
			t.Fatalf("%s is another hook after it was listed as %s", body, listed)
		}
	})
}
