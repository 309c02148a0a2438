package events

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// longPart is the longest part a name may have.
var longPart = strings.Repeat("a", MaxPartLen)

func TestCheckName(t *testing.T) {
	for sentence, c := range map[string]struct {
		name string
		ok   bool
	}{
		"two parts": {"tool:pre", true},
		"one part":  {"ping", true},
		"capitals, digits, underscore and hyphen": {"My_Domain:v2-beta", true},
		"eight parts":                                 {"a:b:c:d:e:f:g:h", true},
		"nine parts are one too many":                 {"a:b:c:d:e:f:g:h:i", false},
		"a part of 64 characters":                     {longPart + ":" + longPart, true},
		"a part of 65 characters":                     {longPart + "a:pre", false},
		"nothing":                                     {"", false},
		"an empty part in the middle":                 {"tool::pre", false},
		"an empty part at the end":                    {"tool:", false},
		"an empty part at the beginning":              {":pre", false},
		"a dot would be two tokens of a subject":      {"tool.pre", false},
		"a star is for patterns only":                 {"tool:*", false},
		"the wildcard of NATS":                        {"tool:>", false},
		"a space":                                     {"tool: pre", false},
		"a line break, which would end a header":      {"tool:pre\r\nce-id: 1", false},
		"a letter that is not ASCII":                  {"tool:pré", false},
		"a byte that is no character":                 {"tool:\xff", false},
		"a zero byte":                                 {"tool:\x00", false},
		"a slash":                                     {"tool/pre", false},
		"a name that only looks like one: fullwidth ": {"ｔool:pre", false},
	} {
		t.Run(sentence, func(t *testing.T) { checkOK(t, CheckName(c.name), c.ok, c.name) })
	}
}

func TestCheckPattern(t *testing.T) {
	for sentence, c := range map[string]struct {
		pattern string
		ok      bool
	}{
		"an exact name":                     {"tool:pre", true},
		"every event":                       {"*", true},
		"every event of a domain":           {"tool:*", true},
		"every event below two parts":       {"tool:sub:*", true},
		"a star as part of a word":          {"tool:p*", false},
		"a star glued to a domain":          {"tool*", false},
		"a star in the middle":              {"tool:*:pre", false},
		"a star for the domain":             {"*:pre", false},
		"two stars":                         {"*:*", false},
		"a star with no domain":             {":*", false},
		"nothing":                           {"", false},
		"the wildcard of NATS":              {"tool:>", false},
		"a domain that is no well-formed":   {"to ol:*", false},
		"nine parts before the star":        {"a:b:c:d:e:f:g:h:i:*", false},
		"a star before a star of a domain ": {"*:*:*", false},
	} {
		t.Run(sentence, func(t *testing.T) { checkOK(t, CheckPattern(c.pattern), c.ok, c.pattern) })
	}
}

func TestCheckChannel(t *testing.T) {
	for sentence, c := range map[string]struct {
		channel string
		ok      bool
	}{
		"two parts joined by a dot":           {"observability.events", true},
		"one part":                            {"agent_capabilities", true},
		"eight parts":                         {"a.b.c.d.e.f.g.h", true},
		"nine parts":                          {"a.b.c.d.e.f.g.h.i", false},
		"a colon belongs to events":           {"observability:events", false},
		"an empty part":                       {"observability..events", false},
		"nothing":                             {"", false},
		"a wildcard, which channels have not": {"observability.*", false},
	} {
		t.Run(sentence, func(t *testing.T) { checkOK(t, CheckChannel(c.channel), c.ok, c.channel) })
	}
}

func TestCheckHookID(t *testing.T) {
	for sentence, c := range map[string]struct {
		id string
		ok bool
	}{
		"letters, digits, hyphen and underscore": {"path-guard_2", true},
		"one digit":                              {"7", true},
		"64 characters":                          {longPart, true},
		"65 characters":                          {longPart + "a", false},
		"nothing":                                {"", false},
		"a capital":                              {"Path-guard", false},
		"a hyphen first":                         {"-guard", false},
		"an underscore first":                    {"_guard", false},
		"a dot would be two tokens of a subject": {"path.guard", false},
		"a space":                                {"path guard", false},
		"a wildcard of NATS":                     {"*", false},
		"a line break":                           {"guard\n", false},
	} {
		t.Run(sentence, func(t *testing.T) { checkOK(t, CheckHookID(c.id), c.ok, c.id) })
	}
}

func checkOK(t *testing.T, err error, ok bool, input string) {
	t.Helper()
	if (err == nil) != ok {
		t.Errorf("%q: error %v, want accepted %v", input, err, ok)
	}
	if err != nil && strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("%q: the error has more than one line: %q", input, err)
	}
}

func TestMatch(t *testing.T) {
	for sentence, c := range map[string]struct {
		pattern, event string
		want           bool
	}{
		"the same name":                                         {"tool:pre", "tool:pre", true},
		"another name":                                          {"tool:pre", "tool:post", false},
		"a name is no prefix":                                   {"tool:pre", "tool:pre:late", false},
		"names are matched in their case":                       {"tool:pre", "Tool:Pre", false},
		"the star matches everything":                           {"*", "anything:at:all", true},
		"a domain matches its events":                           {"tool:*", "tool:post", true},
		"a domain matches deeper names":                         {"tool:*", "tool:pre:late", true},
		"a domain is a whole word":                              {"tool:*", "tools:pre", false},
		"a domain is not an event of that name":                 {"tool:*", "tool", false},
		"two parts and a star":                                  {"a:b:*", "a:b:c", true},
		"two parts and a star, another second part":             {"a:b:*", "a:x:c", false},
		"an alias registered, the canonical name emitted":       {"error:tool", "tool:error", true},
		"the canonical name registered, an alias emitted":       {"context:pre_compact", "context:pre-compact", true},
		"execution:complete is execution:end":                   {"execution:complete", "execution:end", true},
		"error:provider is provider:error":                      {"provider:error", "error:provider", true},
		"error:* gets tool:error, whose alias is error:tool":    {"error:*", "tool:error", true},
		"tool:* gets error:tool":                                {"tool:*", "error:tool", true},
		"provider:* gets error:provider":                        {"provider:*", "error:provider", true},
		"error:* does not get another event of the domain tool": {"error:*", "tool:post", false},
		"context:* gets context:pre-compact":                    {"context:*", "context:pre-compact", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := Match(c.pattern, c.event); got != c.want {
				t.Errorf("Match(%q, %q) = %v", c.pattern, c.event, got)
			}
		})
	}
}

func TestSpellings(t *testing.T) {
	want := []string{"tool:error", "error:tool"}
	for _, name := range want {
		if diff := cmp.Diff(want, Spellings(name)); diff != "" {
			t.Errorf("Spellings(%q) (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"my:event"}, Spellings("my:event")); diff != "" {
		t.Errorf("an event without alias (-want +got):\n%s", diff)
	}
}

func TestClipKeepsErrorsShortAndReadable(t *testing.T) {
	long := strings.Repeat("é", 5000)
	err := CheckName(long)
	if err == nil || len(err.Error()) > 300 || !utf8.ValidString(err.Error()) {
		t.Errorf("error for a name of 10000 bytes: %v", err)
	}
	if got := clip("x" + long); !utf8.ValidString(got) {
		t.Errorf("clip cut a character in two: %q", got)
	}
}

// FuzzCheckName: a name that is accepted is one subject, and comes back from it.
func FuzzCheckName(f *testing.F) {
	for _, s := range []string{"tool:pre", "a", "", "tool:*", "*", "a:b:c:d:e:f:g:h", "tool.pre", "tool:\n", ":", longPart} {
		f.Add(s)
	}
	subjects, err := NewSubjects("")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if CheckName(name) != nil {
			if CheckPattern(name) == nil && name != "*" && !strings.HasSuffix(name, ":*") {
				t.Errorf("%q is a pattern though it is no name", name)
			}
			return
		}
		back, err := subjects.EventName("emit", subjects.Event("emit", name))
		if err != nil || back != name {
			t.Errorf("%q comes back from its subject as %q, %v", name, back, err)
		}
		if !Match(name, name) || !Match("*", name) || !Match(Canonical(name), name) {
			t.Errorf("%q does not match itself", name)
		}
		if !slices.Contains(Spellings(name), name) {
			t.Errorf("%q is none of its spellings", name)
		}
		if domain, _, ok := strings.Cut(name, ":"); ok && !Match(domain+":*", name) {
			t.Errorf("%q does not match its domain", name)
		}
	})
}
