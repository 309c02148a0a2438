package natstest

import (
	"os"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit/memdir"
)

// StoreDir is an empty directory for the store of a server, in memory where the machine
// can; it is removed when the test ends. It is for tests that say nothing about disks.
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
