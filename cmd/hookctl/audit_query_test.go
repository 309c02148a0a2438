package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestAuditQueryFindsWhatIsAskedFor(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(2) // messages 1 and 2
	f.turn()
	f.write(chainOf("late", "s9", began.Add(48*time.Hour))...)
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"one session over all kinds": {"--session s1 --kind hook.timeout,chain.result", []string{"2:1 hook.timeout slow", "2:5 chain.result"}},
		"what failed open":           {"--failed-open", []string{"1:1 hook.timeout slow", "2:1 hook.timeout slow", "2/1:1 hook.timeout slow"}},
		"a hook, the newest first":   {"--hook no-rm --reverse", []string{"2/1:3 hook.result no-rm", "2:3 hook.result no-rm", "1:3 hook.result no-rm"}},
		"a limit":                    {"--hook no-rm --limit 2", []string{"1:3 hook.result no-rm", "2:3 hook.result no-rm"}},
		"a limit from the end":       {"--hook no-rm --limit 1 --reverse", []string{"2/1:3 hook.result no-rm"}},
		"a chain and an action":      {"--chain chain-0 --action deny", []string{"1:3 hook.result no-rm", "1:5 chain.result"}},
		"an event id":                {"--event-id event-late --kind chain.*", []string{"2/1:5 chain.result"}},
		"since":                      {"--since 2026-03-02T00:00:00Z --kind injection", []string{"2/1:4 injection memory"}},
		"a pattern of events":        {"--event tool:* --kind injection --session s0", []string{"1:4 injection memory"}},
		"nothing":                    {"--event chat:* --session s0", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.run(append([]string{"audit", "query", "--json"}, strings.Fields(c.args)...)...)
			if diff := cmp.Diff(c.want, places(t, got.stdout)); diff != "" || got.code != exitOK {
				t.Errorf("code %d, -want +got:\n%s%s", got.code, diff, got.stderr)
			}
			if nothing := strings.Contains(got.stderr, "nothing found"); nothing != (c.want == nil) {
				t.Errorf("stderr: %s", got.stderr)
			}
		})
	}
}

func TestAuditQueryGoesByTheTimesOfRecords(t *testing.T) {
	f := newAuditFixture(t)
	now := time.Now()
	for i, ago := range []time.Duration{30 * time.Minute, 20 * time.Minute, 10 * time.Minute} {
		f.write(audit.Record{Time: now.Add(-ago), Kind: audit.LogKind, Hook: []string{"a", "b", "c"}[i]})
	}
	for args, want := range map[string][]string{
		"--since 25m":                       {"2:0 log b", "3:0 log c"},
		"--since 25m --until 15m":           {"2:0 log b"},
		"--since 25m --until 15m --reverse": {"2:0 log b"},
		"--until " + now.Add(-25*time.Minute).Format(time.RFC3339): {"1:0 log a"},
	} {
		got := f.run(append([]string{"audit", "query", "--json"}, strings.Fields(args)...)...)
		if diff := cmp.Diff(want, places(t, got.stdout)); diff != "" {
			t.Errorf("%s: -want +got:\n%s%s", args, diff, got.stderr)
		}
	}
}

func TestAuditQueryRefusesWhatItCannotRead(t *testing.T) {
	f := newAuditFixture(t)
	for args, want := range map[string]string{
		"--since yesterday":                        `read --since "yesterday": a time is needed`,
		"--until=-3h":                              "read --until",
		"--since 1h --until 2h":                    "nothing is since the one and before the other",
		"--event a..b":                             "a..b",
		"--limit=-1":                               "negative",
		"--since 99999999999999999999d":            "a time is needed",
		"--since 2026-03-01T12:00:00+25:00 --json": "a time is needed",
	} {
		got := f.run(append([]string{"audit", "query"}, strings.Fields(args)...)...)
		if got.code != exitLocal || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: code %d, %s", args, got.code, got.stderr)
		}
	}
}

func TestAuditQueryShowsWhatIsNoRecord(t *testing.T) {
	f := newAuditFixture(t)
	for _, body := range []string{"hello\n", "", `{"kind":"x"}` + "\n", "{\"a\":\"\x1b[2J\"}"} {
		if _, err := f.trail.Live().Append(t.Context(), f.bus.Of("audit", "w", "w1"), "", f.last, []byte(body)); err != nil {
			t.Fatal(err)
		}
		f.last++
	}
	got := f.run("audit", "query", "--session", "s1", "--text")
	if got.code != exitOK || strings.Count(got.stdout, "UNREADABLE") != 4 || strings.Contains(got.stdout, "\x1b") {
		t.Errorf("code %d: %q", got.code, got.stdout)
	}
	if got := f.run("audit", "query", "--json"); strings.Count(got.stdout, `"error":"read`) != 4 || strings.Contains(got.stdout, "\x1b") {
		t.Errorf("%q", got.stdout)
	}
}

func TestAuditTextLinesAreSafeForTheTerminal(t *testing.T) {
	f := newAuditFixture(t)
	f.write(audit.Record{Time: began, Kind: audit.HookResult, Session: "s\x1b[31m", Event: "tool:pre", Hook: "h\u202e", Action: "deny\n", Detail: audit.Call{Reason: "a\x07b"}})
	got := f.run("audit", "tail", "--text")
	want := "2026-03-01 12:00:00.000Z  hook.result        tool:pre         s␛[31m     h⟨U+202E⟩      deny⏎  a␇b; 0.0ms  1:0\n"
	if diff := cmp.Diff(want, got.stdout); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAuditTailGoesOnOverSegments(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(3)
	got := f.run("audit", "tail", "-n", "2", "--kind", "chain.result", "--json")
	if diff := cmp.Diff([]string{"2:5 chain.result", "3:5 chain.result"}, places(t, got.stdout)); diff != "" {
		t.Errorf("-want +got:\n%s%s", diff, got.stderr)
	}

	b := f.start(process{}, "audit", "tail", "-f", "-n", "1", "--hook", "no-rm", "--json")
	next := func(want string) {
		t.Helper()
		if got := places(t, b.line()); got[0] != want+" hook.result no-rm" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	next("3:3")
	if line := b.line(); !strings.HasPrefix(line, "following the audit log of prefix hooks") {
		t.Error(line)
	}
	f.write(chainOf("c4", "s1", began)...)
	next("4:3")
	f.turn()
	f.write(chainOf("c5", "s1", began)...)
	next("2/1:3")
	f.turn()
	f.turn()
	f.write(chainOf("c6", "s1", began)...)
	next("4/1:3")
	if code := b.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestAuditWithoutALogSaysSo(t *testing.T) {
	f := newAuditFixture(t)
	got := f.run("audit", "tail", "--prefix", "other")
	if got.code != exitLocal || !strings.Contains(got.stderr, "there is no audit log") {
		t.Errorf("code %d: %s", got.code, got.stderr)
	}
}
