package process

import (
	"strings"
	"testing"
)

// A program has printed and ended, another one holds the pipe, and this process comes to read only
// after the delay.
func TestOutputThatIsReadLateIsKept(t *testing.T) {
	want := strings.Repeat("deny ", 10_000)
	out, err := newOutput(len(want), func() { t.Error("it does not exceed the limit") })
	if err != nil {
		t.Fatal(err)
	}
	defer out.close()
	if _, err := out.end.WriteString(want); err != nil {
		t.Fatal(err)
	}
	out.done = make(chan struct{})
	close(out.done) // the reader's time was over before it read anything
	out.finish(0)
	if got := string(out.bytes); got != want {
		t.Errorf("%d of %d bytes are kept", len(got), len(want))
	}
}
