package exechook_test

import (
	"bytes"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
)

// BenchmarkCommand measures the handler's overhead over running the command directly; p50-ms is the
// median time.
func BenchmarkCommand(b *testing.B) {
	b.Run("by hand", func(b *testing.B) {
		median(b, func() error {
			cmd := exec.Command("true")
			cmd.Stdin = bytes.NewReader(bash.Data)
			return cmd.Run()
		})
	})
	for name, c := range map[string]exechook.Config{
		"hook":        {Command: exechook.Command{"true"}},
		"claude-code": {Command: exechook.Command{"true"}, Dialect: exechook.ClaudeCode, Matcher: "Bash"},
	} {
		b.Run(name, func(b *testing.B) {
			h, err := exechook.New(c)
			if err != nil {
				b.Fatal(err)
			}
			median(b, func() error {
				_, err := h(b.Context(), bash)
				return err
			})
		})
	}
}

func median(b *testing.B, run func() error) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/float64(time.Millisecond), "p50-ms")
}
