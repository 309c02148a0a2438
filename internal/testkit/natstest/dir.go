package natstest

import (
	"os"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit/memdir"
)

// StoreDir returns an empty directory for the store of a server, in memory if possible. It is
// removed when the test ends. Tests about disks must not use it.
func StoreDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(memdir.Parent(), "natstest-") //nolint:usetesting // t.TempDir is on the disk
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
