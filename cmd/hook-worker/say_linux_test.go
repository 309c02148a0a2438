package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// wordy is a file whose hook, test and mistake take more than 80 columns to tell of.
const wordy = `hooks:
  - id: a-guard-of-a-long-name-that-registers-for-more-than-one-event
    events: [tool:pre, tool:post, tool:per]
    match: has(data.tool_input) && has(data.tool_input.file_path) && data.tool_input.file_path != '/etc/hosts'
    cel: {rules: [{inject: "it is protected, and this is the long reason why nobody gets through with it"}]}
tests:
  - {name: what must not pass does not pass for this reason, event: tool:pre, data: {tool_input: {file_path: x}}, expect: {action: continue}}
`

// TestWithoutATerminalAllLinesAreOfTheLog: at the start, of a warning, and of a reload.
func TestWithoutATerminalAllLinesAreOfTheLog(t *testing.T) {
	t.Parallel()
	file := write(t, wordy)
	stderr, _ := start(t, listen(t), file)
	replace(t, file, strings.Replace(wordy, "id: a-guard", "id: b-guard", 1))
	says(t, stderr, `"msg":"reloaded"`)
	seen := map[string]int{}
	for line := range strings.Lines(stderr.String()) {
		var l struct{ Msg, Level, Hook, Warning string }
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Level == "" {
			t.Errorf("%q is no line of the log: %v", line, err)
		}
		seen[l.Msg]++
		if l.Msg == "worker file has a warning" && !strings.Contains(l.Warning, ":3:35: hooks[0].events[2]: there is no standard event tool:per") {
			t.Errorf("it warns of %q", l.Warning)
		}
	}
	if seen["hook registered"] != 2 || seen["worker answers for its hooks"] != 1 || seen["worker file has a warning"] != 1 {
		t.Errorf("it says %v:\n%s", seen, stderr)
	}
}

// TestOnATerminalLinesFit: they are text, and no wider than the terminal.
func TestOnATerminalLinesFit(t *testing.T) {
	t.Parallel()
	file, url := write(t, wordy), listen(t)
	screen := testkit.Terminal(t, 80)
	p := process{stdout: screen.File, stderr: screen.File}
	fits := func(what, want string) {
		t.Helper()
		testkit.Eventually(t, what+" says "+want, func() bool {
			return strings.Contains(strings.Join(strings.Fields(screen.String()), " "), want)
		})
		for _, line := range screen.Wide(80) {
			if !strings.Contains(line, " | ") && !strings.HasPrefix(line, "time=") { // the line of a file, or of the log
				t.Errorf("%s: %q", what, line)
			}
		}
	}
	if err := run(t.Context(), []string{"validate", file}, p); err != nil {
		t.Error(err)
	}
	fits("validate", "match has(data.tool_input) && has(data.tool_input.file_path) && data.tool_input.file_path != '/etc/hosts'")
	if !strings.Contains(screen.String(), "\n  a-guard") && !strings.HasPrefix(screen.String(), "warning: "+file) {
		t.Errorf("a line does not begin with what it is about:\n%s", screen)
	}
	if err := run(t.Context(), []string{"test", file}, p); err == nil {
		t.Error("the test passed")
	}
	fits("test", "1 test, 1 failed")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"--config", file, "--nats-url", url}, p) }()
	fits("hook-worker", "registered a-guard-of-a-long-name-that-registers-for-more-than-one-event: cel on")
	fits("hook-worker", "answers for 1 hook on nats://")
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestOtherProgramsReadALineEach: what is no terminal gets each test and warning on one line.
// What validate prints is for people everywhere; programs have its --json.
func TestOtherProgramsReadALineEach(t *testing.T) {
	t.Parallel()
	file := write(t, wordy)
	for command, want := range map[string]string{
		"validate": file + ": 1 hook, 1 warning\n  a-guard-of-a-long-name-that-registers-for-more-than-one-event: on tool:pre\n      tool:post tool:per, priority 0,",
		"test":     "FAILED  " + file + ":7  what must not pass does not pass for this reason\n",
	} {
		var stdout, stderr bytes.Buffer
		_ = run(t.Context(), []string{command, file}, process{stdout: &stdout, stderr: &stderr}) // a test fails
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%s: %s", command, &stdout)
		}
		if warning := "warning: " + file + ":3:35: hooks[0].events[2]: there is no standard event tool:per: did you mean tool:pre?\n"; strings.Count(stderr.String(), warning) != 1 {
			t.Errorf("%s warns %q; want %q once", command, &stderr, warning)
		}
	}
}
