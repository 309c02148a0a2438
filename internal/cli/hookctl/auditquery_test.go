package hookctl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestAuditQueryFindsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2) // messages 1 and 2
	f.Turn()
	f.Write(clibus.ChainOf("late", "s9", clibus.Began.Add(48*time.Hour))...)
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"one session over all kinds": {"--session s1 --kind hook.timeout,chain.result", []string{"2:5 chain.result", "2:1 hook.timeout slow"}},
		"what failed open":           {"--failed-open", []string{"2/1:1 hook.timeout slow", "2:1 hook.timeout slow", "1:1 hook.timeout slow"}},
		"a hook, the newest first":   {"--hook no-rm", []string{"2/1:3 hook.result no-rm", "2:3 hook.result no-rm", "1:3 hook.result no-rm"}},
		"a limit":                    {"--hook no-rm --limit 2", []string{"2/1:3 hook.result no-rm", "2:3 hook.result no-rm"}},
		"the oldest first":           {"--hook no-rm --limit 2 --oldest-first", []string{"1:3 hook.result no-rm", "2:3 hook.result no-rm"}},
		"the limit of one":           {"--hook no-rm --limit 1", []string{"2/1:3 hook.result no-rm"}},
		"a chain and an action":      {"--chain chain-0 --action deny", []string{"1:5 chain.result", "1:3 hook.result no-rm"}},
		"an event id":                {"--event-id event-late --kind chain.*", []string{"2/1:5 chain.result"}},
		"since":                      {"--since 2026-03-02T00:00:00Z --kind injection", []string{"2/1:4 injection memory"}},
		"a pattern of events":        {"--event tool:* --kind injection --session s0", []string{"1:4 injection memory"}},
		"nothing":                    {"--event chat:* --session s0", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.Run(append([]string{"audit", "query", "--json"}, strings.Fields(c.args)...)...)
			if diff := cmp.Diff(c.want, clibus.Places(t, got.Stdout)); diff != "" || got.Code != cli.ExitOK {
				t.Errorf("code %d, -want +got:\n%s%s", got.Code, diff, got.Stderr)
			}
			if nothing := strings.Contains(got.Stderr, "nothing found"); nothing != (c.want == nil) {
				t.Errorf("stderr: %s", got.Stderr)
			}
		})
	}
}

func TestAuditQueryGoesByTheTimesOfRecords(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	now := time.Now()
	for i, ago := range []time.Duration{30 * time.Minute, 20 * time.Minute, 10 * time.Minute} {
		f.Write(audit.Record{Time: now.Add(-ago), Kind: audit.LogKind, Hook: []string{"a", "b", "c"}[i]})
	}
	for args, want := range map[string][]string{
		"--since 25m":                            {"3:0 log c", "2:0 log b"},
		"--last 25m":                             {"3:0 log c", "2:0 log b"},
		"--last 25m --oldest-first":              {"2:0 log b", "3:0 log c"},
		"--since 25m --until 15m":                {"2:0 log b"},
		"--since 25m --until 15m --oldest-first": {"2:0 log b"},
		"--until " + now.Add(-25*time.Minute).Format(time.RFC3339): {"1:0 log a"},
	} {
		got := f.Run(append([]string{"audit", "query", "--json"}, strings.Fields(args)...)...)
		if diff := cmp.Diff(want, clibus.Places(t, got.Stdout)); diff != "" {
			t.Errorf("%s: -want +got:\n%s%s", args, diff, got.Stderr)
		}
	}
}

func TestAuditQueryRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	for args, want := range map[string]string{
		"--since yesterday":                        `read --since "yesterday": a time is needed`,
		"--until=-3h":                              "read --until",
		"--since 1h --until 2h":                    "--since 1h is not before --until 2h",
		"--event a..b":                             "a..b",
		"--last 2026-03-01":                        "a duration is needed",
		"--last 1h --since 1h":                     "--since and --last can't be used together",
		"--action denied":                          `did you mean "deny"?`,
		"--action nonsense":                        `--action "nonsense": no record has that action; there are continue, deny`,
		"--kind hook.result,chain.results":         `did you mean "chain.result"?`,
		"--kind foo":                               `--kind "foo": no record has that kind; there are hook.result`,
		"--kind foo.*":                             "there are hook.result",
		"--limit=-1":                               "negative",
		"--since 99999999999999999999d":            "a time is needed",
		"--since 2026-03-01T12:00:00+25:00 --json": "a time is needed",
	} {
		got := f.Run(append([]string{"audit", "query"}, strings.Fields(args)...)...)
		if got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: code %d, %s", args, got.Code, got.Stderr)
		}
	}
}

func TestAuditQueryShowsWhatIsNoRecord(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	for _, body := range []string{"hello\n", "", `{"kind":"x"}` + "\n", "{\"a\":\"\x1b[2J\"}"} {
		if _, err := f.Trail.Live().Append(t.Context(), f.Bus.Of("audit", "w", "w1"), "", f.Last, []byte(body)); err != nil {
			t.Fatal(err)
		}
		f.Last++
	}
	got := f.Run("audit", "query", "--session", "s1", "--text")
	if got.Code != cli.ExitOK || strings.Count(got.Stdout, "UNREADABLE") != 4 || strings.Contains(got.Stdout, "\x1b") {
		t.Errorf("code %d: %q", got.Code, got.Stdout)
	}
	if got := f.Run("audit", "query", "--json"); strings.Count(got.Stdout, `"error":"read`) != 4 || strings.Contains(got.Stdout, "\x1b") {
		t.Errorf("%q", got.Stdout)
	}
}

func TestAuditTextLinesAreSafeForTheTerminal(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Write(audit.Record{Time: clibus.Began, Kind: audit.HookResult, Session: "s\x1b[31m", Event: "tool:pre", Hook: "h\u202e", Action: "deny\n", Detail: audit.Call{Reason: "a\x07b"}})
	got := f.Run("audit", "tail", "--text")
	want := "2026-03-01 12:00:00.000Z  hook.result        tool:pre         s␛[31m\n    h⟨U+202E⟩      deny⏎  a␇b; 0.0ms  1:0\n"
	if diff := cmp.Diff(want, got.Stdout); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Of the answers that a hook gives after the event, only injections count.
func TestAuditQueryTellsWhatCameTooLate(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	for action, want := range map[string]string{"deny": "late: deny, discarded", "inject_context": "late: inject_context  "} {
		f.Write(audit.Record{Time: clibus.Began, Kind: audit.HookResult, Session: "s1", Event: "tool:pre", Hook: "lint", Action: action, Detail: audit.Call{Late: true}})
		if got := f.Run("audit", "query", "--action", action, "--text"); !strings.Contains(got.Stdout, want) {
			t.Errorf("%s: %s%s", action, got.Stdout, got.Stderr)
		}
	}
}

func TestAuditTailGoesOnOverSegments(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(3)
	for _, flag := range []string{"-n", "--limit", "--lines"} {
		got := f.Run("audit", "tail", flag, "2", "--kind", "chain.result", "--json")
		if diff := cmp.Diff([]string{"2:5 chain.result", "3:5 chain.result"}, clibus.Places(t, got.Stdout)); diff != "" {
			t.Errorf("%s: -want +got:\n%s%s", flag, diff, got.Stderr)
		}
	}

	b := f.Start(cli.Process{}, "audit", "tail", "-f", "-n", "1", "--hook", "no-rm", "--json")
	next := func(want string) {
		t.Helper()
		if got := clibus.Places(t, b.Line()); got[0] != want+" hook.result no-rm" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	next("3:3")
	if line := b.Line(); !strings.HasPrefix(line, "following the audit log of prefix hooks") {
		t.Error(line)
	}
	f.Write(clibus.ChainOf("c4", "s1", clibus.Began)...)
	next("4:3")
	f.Turn()
	f.Write(clibus.ChainOf("c5", "s1", clibus.Began)...)
	next("2/1:3")
	f.Turn()
	f.Turn()
	f.Write(clibus.ChainOf("c6", "s1", clibus.Began)...)
	next("4/1:3")
	if code := b.End(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestAuditWithoutALogSaysSo(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	got := f.Run("audit", "tail", "--prefix", "other")
	if got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "there is no audit log") {
		t.Errorf("code %d: %s", got.Code, got.Stderr)
	}
}

func TestAuditQueryHelpsWithTheNameOfAHook(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(1)
	for args, want := range map[string]string{
		"--hook no-rn":             `did you mean "no-rm"?`,
		"--hook nosuch":            `the log has no hook "nosuch" lately; it has cwd, lint, memory, no-rm, slow`,
		"--hook no-rm --session x": "nothing found\n",
		"--event tool:prr":         "there is no standard event tool:prr: did you mean tool:pre?",
	} {
		for _, command := range []string{"query", "tail"} {
			got := f.Run(append([]string{"audit", command}, strings.Fields(args)...)...)
			if got.Code != cli.ExitOK || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
				t.Errorf("%s %s: code %d, %s%s", command, args, got.Code, got.Stdout, got.Stderr)
			}
		}
	}
}
