package events

import (
	"strings"
	"testing"
)

func TestSubjects(t *testing.T) {
	team, err := NewSubjects("team-7_x")
	if err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct{ got, want string }{
		"the zero value has the default prefix": {Subjects{}.Event("emit", "tool:pre"), "hooks.emit.tool.pre"},
		"a prefix of one's own":                 {team.Event("emit", "tool:pre"), "team-7_x.emit.tool.pre"},
		"the call of a hook":                    {team.Call("path-guard"), "team-7_x.call.path-guard"},
		"tokens are joined":                     {team.Of("session", "turn"), "team-7_x.session.turn"},
		"the queue group":                       {Subjects{}.QueueGroup(), "hooks-router"},
		"the bucket":                            {Subjects{}.Bucket(), "hooks_registry"},
		"the tail of a verb":                    {team.Tail("emit", "team-7_x.emit.tool.pre"), "tool.pre"},
		"no tail of another fleet's subject":    {team.Tail("emit", "hooks.emit.tool.pre"), ""},
		"no tail of another verb":               {team.Tail("emit", "team-7_x.emitted.tool"), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
}

func TestNewSubjectsRefuses(t *testing.T) {
	for _, prefix := range []string{"two.tokens", "Hooks", "*", ">", "with space", strings.Repeat("a", 33), "é"} {
		if _, err := NewSubjects(prefix); err == nil {
			t.Errorf("prefix %q is accepted", prefix)
		}
	}
}

func TestEventNameRefusesSubjectsThatNameNoEvent(t *testing.T) {
	for _, subject := range []string{"hooks.emit.", "hooks.emit", "hooks.emit.tool..pre", "hooks.emit.tool.*", "hooks.emit.a b"} {
		if name, err := (Subjects{}).EventName("emit", subject); err == nil {
			t.Errorf("%q names the event %q", subject, name)
		}
	}
}
