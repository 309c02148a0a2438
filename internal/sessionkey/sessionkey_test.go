package sessionkey_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/sessionkey"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"", "", ""}, {"", "s1", "s1"}, {"nats agent/coder", "", ""}, {"nats agent/coder", "s1", "s1\x00nats agent/coder"}} {
		name := sessionkey.Of(c[0], c[1])
		if name != c[2] {
			t.Errorf("%q is named %q", c, name)
		}
		if sender, id := sessionkey.Split(name); id != c[1] || name != "" && sender != c[0] {
			t.Errorf("%q is split into %q and %q", name, sender, id)
		}
	}
	if sessionkey.Of("a", "s") == sessionkey.Of("b", "s") {
		t.Error("two senders share a session")
	}
}
