package hookctl_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	signednote "golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
)

// A guard that a version does not have any more stays registered, and denies: whoever
// pushes, enforces or rolls back is told.
func TestWhoeverDropsAGuardIsTold(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	private, _, err := signednote.GenerateKey(nil, "policy")
	if err != nil {
		t.Fatal(err)
	}
	key := write("key", private+"\n")
	guards := func(ids ...string) string {
		t.Helper()
		text := "hooks:\n"
		for _, id := range ids {
			text += "  - {id: " + id + ", events: [e], on_failure: deny, cel: {rules: [{deny: no}]}}\n"
		}
		return write(strings.Join(ids, "")+".yaml", text+"tests:\n  - {name: it denies, event: e, expect: {action: deny}}\n")
	}
	for _, step := range []struct {
		args  []string
		gone  []string
		stays []string
	}{
		{[]string{"push", "production", guards("first", "second")}, nil, []string{"first", "second"}},
		{[]string{"push", "production", guards("second")}, []string{"first"}, []string{"second"}},
		{[]string{"push", "--shadow", "production", guards("third")}, nil, []string{"second"}},
		{[]string{"enforce", "production"}, []string{"second"}, []string{"third"}},
		{[]string{"rollback", "production", "--to", "1"}, []string{"third"}, []string{"first", "second"}},
	} {
		got := f.Run(append(append([]string{"policy"}, step.args...), "--key", key)...)
		if got.Code != cli.ExitOK {
			t.Fatalf("%v: %+v", step.args, got)
		}
		for _, id := range step.gone {
			if !strings.Contains(got.Stderr, id+" leaves the policy, and denies until `hookctl hook rm "+id+"`") {
				t.Errorf("%v: %q; want that %s leaves", step.args, got.Stderr, id)
			}
		}
		for _, id := range step.stays {
			if strings.Contains(got.Stderr, id+" leaves") {
				t.Errorf("%v: %q; want nothing of %s", step.args, got.Stderr, id)
			}
		}
	}
}

// A policy that no worker follows is probably misspelt: the status names those that are followed.
func TestTheStatusNamesWhatWorkersFollow(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	const none = "no worker that follows a policy answers"
	f.Run("policy", "status", "--text", "--wait", "20ms", "production").Want(t, cli.ExitOK, none, "")
	b, err := natsx.New(f.NC, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"production", "staging", "production"} {
		s, err := service.Start(b, "hook-worker", "0.1.0", map[string]string{"policy_name": name, "prefix": b.Prefix()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop(context.Background()) })
	}
	if err := f.NC.Flush(); err != nil { // the server knows of them
		t.Fatal(err)
	}
	testkit.Eventually(t, "the status names both", func() bool { // a busy worker is late
		got := f.Run("policy", "status", "--text", "prodction")
		return got.Code == cli.ExitOK && got.Stdout == "no worker that answers follows prodction; they follow production, staging\n"
	})
	f.Run("policy", "status", "prodction").Want(t, cli.ExitOK, "[]", "")
}
