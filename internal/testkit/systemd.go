package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ExecStart returns the arguments in ExecStart of a systemd unit, without expanding specifiers. It
// verifies the unit if systemd-analyze is installed.
func ExecStart(t *testing.T, unit string) []string {
	t.Helper()
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	var lines []string
	for line := range strings.Lines(string(text)) {
		if command, is := strings.CutPrefix(line, "ExecStart="); is {
			words = strings.Fields(command)
			line = strings.Replace(line, words[0], "/bin/true", 1) // systemd requires an existing program
		}
		lines = append(lines, line)
	}
	if len(words) == 0 {
		t.Fatalf("%s starts nothing", unit)
	}
	if analyze, err := exec.LookPath("systemd-analyze"); err == nil {
		verified := filepath.Join(t.TempDir(), filepath.Base(unit))
		if err := os.WriteFile(verified, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", verified).CombinedOutput()
		if err != nil || strings.Contains(string(out), verified) {
			t.Errorf("systemd-analyze verify: %v\n%s", err, out)
		}
	}
	return words[1:]
}
