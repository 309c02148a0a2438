package checkout_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookrouter/hookrouter/tools/internal/checkout"
)

func TestRoot(t *testing.T) {
	root, err := checkout.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "tools", "go.mod")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if root, err := checkout.Root(t.Context()); err == nil {
		t.Errorf("outside of a checkout: %s", root)
	}
}
