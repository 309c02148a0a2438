package auditops_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/auditops"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// hookctl runs the command under test.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Audit struct {
			Key auditops.KeyCmd `cmd:""`
		} `cmd:""`
	}{})
}

// ops is an operator with a directory and without NATS.
type ops struct {
	*clitest.Fixture
	dir string
}

func (o *ops) file(name string) string { return filepath.Join(o.dir, name) }

// shown runs hookctl, which prints a key.
func (o *ops) shown(args ...string) (k auditops.ShownKey) {
	o.T.Helper()
	got := o.Run(args...)
	if err := json.Unmarshal([]byte(got.Stdout), &k); err != nil || got.Code != cli.ExitOK {
		o.T.Fatalf("%v: %v: %+v", args, err, got)
	}
	return k
}

// refused runs hookctl, which must fail for the given reason.
func (o *ops) refused(why string, args ...string) {
	o.T.Helper()
	if got := o.Run(args...); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, why) {
		o.T.Errorf("%v: %+v; want %q", args, got, why)
	}
}

func TestAuditKey(t *testing.T) {
	t.Parallel()
	o := &ops{&clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOOKCTL_FORMAT": "json"}}, t.TempDir()}
	file := o.file("w.key")
	made := o.shown("audit", "key", "new", file, "--name", "witness.example")
	if !strings.HasPrefix(made.Verifier, "witness.example+") {
		t.Errorf("the key is %q; want one with the name", made.Verifier)
	}
	for name, mode := range map[string]os.FileMode{file: 0o600, file + ".pub": 0o644} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has %v, %v; want %v", name, info.Mode(), err, mode)
		}
	}
	for _, one := range []string{file, file + ".pub"} {
		if shown := o.shown("audit", "key", "show", one); shown.Verifier != made.Verifier {
			t.Errorf("%s shows %q; want %q", one, shown.Verifier, made.Verifier)
		}
	}
	private, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o.refused("never overwritten", "audit", "key", "new", file)
	if again, _ := os.ReadFile(file); string(again) != string(private) {
		t.Error("the key was overwritten")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	o.refused("never overwritten", "audit", "key", "new", file) // the verifier key file exists
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("half a key was left")
	}
	o.refused("--name", "audit", "key", "new", o.file("x"), "--name", "a+b")
	o.refused("no such file", "audit", "key", "show", o.file("none"))
	o.refused("holds no key", "audit", "key", "show", os.DevNull)
}
