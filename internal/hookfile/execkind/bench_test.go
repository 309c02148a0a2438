package execkind_test

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/hookrouter/hookrouter/internal/hookfile/execkind"
)

// BenchmarkCommand is what the handler adds to running the command by hand.
func BenchmarkCommand(b *testing.B) {
	b.Run("by hand", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("true")
			cmd.Stdin = bytes.NewReader(bash.Data)
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hook", func(b *testing.B) {
		h, err := execkind.New(execkind.Config{Command: []string{"true"}})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := h(b.Context(), bash); err != nil {
				b.Fatal(err)
			}
		}
	})
}
