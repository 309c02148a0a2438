package follow

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// sealer makes a function that signs versions of policy p, and the key that verifies them.
func sealer(t *testing.T) (seal func(serial uint64, files ...bundle.File) *bundle.Bundle, trusted note.Verifier) {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, "policy")
	if err != nil {
		t.Fatal(err)
	}
	key, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	if trusted, err = note.NewVerifier(public); err != nil {
		t.Fatal(err)
	}
	return func(serial uint64, files ...bundle.File) *bundle.Bundle {
		b, err := bundle.Seal(key, bundle.Statement{Name: "p", Serial: serial, Use: bundle.Enforce, Created: time.Now()}, files)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}, trusted
}

// TestWorkersShareACache has two workers take over the same versions at once. Neither may
// run with a part of the rules.
func TestWorkersShareACache(t *testing.T) {
	t.Parallel()
	const rules = 60
	files := []bundle.File{
		{Name: "worker.yaml", Text: "hooks: [{id: judge, events: [\"tool:pre\"], rego: {files: [rules], query: data.judge.result}}]\n"},
		{Name: "rules/main.rego", Text: "package judge\ndefault result := {\"action\": \"continue\"}\nresult := {\"action\": \"deny\", \"reason\": \"no\"} if deny\n"},
	}
	for i := range rules {
		files = append(files, bundle.File{Name: fmt.Sprintf("rules/r%02d.rego", i), Text: fmt.Sprintf("package judge\ndeny if input.data.n == %d\n", i)})
	}
	seal, _ := sealer(t)
	dir := t.TempDir()
	for serial := range uint64(10) {
		b := seal(serial+1, files...)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				f, err := New(Options{Dir: dir, Name: "p"})
				if err != nil {
					t.Error(err)
					return
				}
				f.running[bundle.Enforce] = b
				file, err := f.compose()
				if err != nil {
					t.Errorf("serial %d: %v", b.Serial, err)
					return
				}
				defer file.Close()
				for n := range rules {
					result, err := file.Hooks[0].Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))})
					if err != nil || !result.Denied() {
						t.Errorf("serial %d, rule %d: %+v, %v", b.Serial, n, result, err)
					}
				}
			})
		}
		both.Wait()
	}
}

// follower makes one of policy p.
func follower(t *testing.T, dir string, trusted note.Verifier) *Follower {
	t.Helper()
	f, err := New(Options{Dir: dir, Name: "p", Keys: func() ([]note.Verifier, error) { return []note.Verifier{trusted}, nil }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const judging = "hooks: [{id: judge, events: [\"tool:pre\"], cel: {rules: [{deny: no}]}}]\n"

// TestAReloadOfBeforeTheOffer has hooks that were read before a version was offered registered after:
// that says nothing of the version.
func TestAReloadOfBeforeTheOffer(t *testing.T) {
	t.Parallel()
	seal, trusted := sealer(t)
	f := follower(t, t.TempDir(), trusted)
	b := seal(1, bundle.File{Name: "worker.yaml", Text: judging})
	read := func() func(error) {
		file, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(file.Close)
		return f.Applying(file)
	}
	before := read() // as at SIGHUP
	outcome := make(chan error, 1)
	go func() { outcome <- f.offer(t.Context(), b) }()
	<-f.Changed()
	before(nil)
	select {
	case err := <-outcome:
		t.Fatalf("the outcome of the version is that of the hooks before it: %v", err)
	default:
	}
	if s := f.Status(); s.Policy != "" {
		t.Errorf("%s runs, and was not registered", s.Policy)
	}
	read()(nil)
	if err := <-outcome; err != nil || f.Status().Policy != b.Version() {
		t.Errorf("%+v, %v", f.Status(), err)
	}
}

// TestASlowWorkerKeepsTheNewestOnDisk has a worker take over a version when another one, in the same
// directory, took a newer one.
func TestASlowWorkerKeepsTheNewestOnDisk(t *testing.T) {
	t.Parallel()
	seal, trusted := sealer(t)
	dir := t.TempDir()
	for _, serial := range []uint64{2, 1, 3} {
		f := follower(t, dir, trusted)
		b := seal(serial, bundle.File{Name: "worker.yaml", Text: judging})
		f.next = b
		f.take(b)
		raw, err := os.ReadFile(f.kept(bundle.Enforce))
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := f.verify(raw); err != nil || kept.Serial != max(serial, 2) {
			t.Errorf("after %d the disk has %+v, %v", serial, kept, err)
		}
	}
}
