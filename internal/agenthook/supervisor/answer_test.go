package supervisor

import (
	"bytes"
	"testing"
	"testing/iotest"
	"time"
)

// An answer arrives as it was given, whatever pieces it comes in.
func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, out := range []string{"", "{}\n", `{"a":"\n0 0\n"}`} {
		var wire bytes.Buffer
		if err := Announce(&wire, 1500*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if err := Answer(&wire, []byte(out), 2); err != nil {
			t.Fatal(err)
		}
		var announced time.Duration
		got, code, err := receive(iotest.OneByteReader(&wire), func(d time.Duration) { announced = d })
		if err != nil || string(got) != out || code != 2 || announced != 1500*time.Millisecond {
			t.Errorf("%q, %d, %v, %v; want %q", got, code, announced, err, out)
		}
	}
}

// Half an answer is none, wherever it ends.
func TestHalfAnAnswer(t *testing.T) {
	t.Parallel()
	whole := "1000\n0 3\n{}\n"
	for n := range len(whole) {
		if got, _, err := receive(bytes.NewBufferString(whole[:n]), func(time.Duration) {}); err == nil {
			t.Errorf("%q is taken for %q", whole[:n], got)
		}
	}
	for _, text := range []string{"usage: x\n", "1\nx 3\n{}\n", "1\n0 -1\n", "1\n0 99999999999\n{}", "1\n0\n{}"} {
		if got, _, err := receive(bytes.NewBufferString(text), func(time.Duration) {}); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}
