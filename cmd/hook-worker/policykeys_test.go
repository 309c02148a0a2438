package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// The key that signed earlier versions is not trusted any more: nothing that it signed is obeyed,
// neither from the store nor from the disk, whatever its serial.
func TestAKeyThatIsNotTrustedAnyMore(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	next, cache := r.key("next"), t.TempDir()
	kept := filepath.Join(cache, "production.enforce.bundle")
	one := r.push(deployPolicy("one"))
	old := r.stored()
	stderr, stop := r.worker(cache, "--policy-key", next+".pub") // both, while workers are restarted
	says(t, stderr, `"policy taken over","policy":"`+one)
	late := r.push(deployPolicy("late"), "--serial", "9")
	says(t, stderr, `"policy taken over","policy":"`+late)
	stolen := r.stored()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next+".pub", filepath.Join(r.dir, "key.pub")); err != nil { // the only one that is trusted now
		t.Fatal(err)
	}
	const refused = "none of the configured keys signed it"
	stderr, stop = r.worker(cache)
	says(t, stderr, refused)
	if got := r.status(t); got.Policy != "" {
		t.Errorf("it runs %s", got.Policy)
	}
	a := connect(t, r.url)
	if answer, err := a.Emit(t.Context(), "deploy:start", nil); err != nil || !answer.Denied() {
		t.Errorf("without a version: %+v, %v", answer, err)
	}
	if err := os.Rename(next, filepath.Join(r.dir, "key")); err != nil {
		t.Fatal(err)
	}
	two := r.push(deployPolicy("two"), "--serial", "10")
	says(t, stderr, `"policy taken over","policy":"`+two)
	for _, raw := range [][]byte{old, stolen} {
		r.store(raw)
		testkit.Eventually(t, "it is refused", func() bool { return strings.Contains(r.status(t).Why, refused) })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(kept, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		stderr, stop = r.worker(cache)
		says(t, stderr, refused)
		if got := r.status(t); got.Policy != "" {
			t.Errorf("it runs %s", got.Policy)
		}
	}
}

// The file with the keys is read for each version: a key is replaced while workers run.
func TestKeysAreReplacedWhileAWorkerRuns(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	next := r.key("next")
	one := r.push(deployPolicy("one"))
	stderr, _ := r.worker(t.TempDir())
	says(t, stderr, `"policy taken over","policy":"`+one)
	if err := os.Rename(next+".pub", filepath.Join(r.dir, "key.pub")); err != nil {
		t.Fatal(err)
	}
	r.push(deployPolicy("stolen"))
	says(t, stderr, "none of the configured keys signed it")
	if got := r.status(t); got.Policy != one {
		t.Errorf("it runs %s; want %s", got.Policy, one)
	}
	if err := os.Rename(next, filepath.Join(r.dir, "key")); err != nil {
		t.Fatal(err)
	}
	two := r.push(deployPolicy("two"), "--serial", "9")
	says(t, stderr, `"policy taken over","policy":"`+two)
}
