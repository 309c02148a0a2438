package supervisor

import (
	"io"
	"testing"
)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A message without an end does not take all memory: the system would kill this process, and many
// agents go on then.
func TestAMessageWithoutAnEnd(t *testing.T) {
	t.Parallel()
	i := readAll(io.LimitReader(zeros{}, 2*MaxDocument))
	<-i.done
	if n := len(i.sent()); n != MaxDocument+1 {
		t.Errorf("%d bytes are kept, want one more than what is allowed", n)
	}
}
