//go:build unix

package agents_test

import (
	"os"
	"syscall"
	"testing"
)

// Root may connect another user's agent; that user remains the owner of the file.
func TestKeepsTheOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to others")
	}
	m := newMachine(t)
	path := m.write(".claude/settings.json", "{}")
	if err := os.Chown(path, 1234, 1235); err != nil {
		t.Fatal(err)
	}
	m.connect("claude-code")
	for _, file := range []string{path, path + ".before-hookrouter"} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 1234 || owner.Gid != 1235 {
			t.Errorf("%s is of %d:%d", file, owner.Uid, owner.Gid)
		}
	}
}
