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
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// A guard that a version no longer has stays registered, and denies. push, enforce and rollback
// report it.
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

// versions pushes versions of a policy, which have different reasons.
type versions struct {
	*clitest.Fixture
	key, file string
}

func newVersions(t *testing.T) versions {
	t.Helper()
	dir := t.TempDir()
	private, _, err := signednote.GenerateKey(nil, "policy")
	if err != nil {
		t.Fatal(err)
	}
	v := versions{clibus.New(t, hookctl.Run), filepath.Join(dir, "key"), filepath.Join(dir, "policy.yaml")}
	write(t, v.key, private+"\n")
	return v
}

// policy runs a command that signs.
func (v versions) policy(args ...string) clitest.Outcome {
	return v.Run(append(append([]string{"policy"}, args...), "--text", "--key", v.key)...)
}

func (v versions) push(t *testing.T, reason string, flags ...string) clitest.Outcome {
	t.Helper()
	write(t, v.file, "hooks:\n  - {id: guard, events: [e], cel: {rules: [{deny: "+reason+"}]}}\n")
	return v.policy(append([]string{"push", "production", v.file}, flags...)...)
}

// A rollback reports what it restored. Another rollback goes further back, not to the version that
// was left.
func TestRollbacksGoBack(t *testing.T) {
	t.Parallel()
	v := newVersions(t)
	for _, reason := range []string{"one", "two", "three", "four"} {
		if got := v.push(t, reason); got.Code != cli.ExitOK {
			t.Fatalf("push %s: %+v", reason, got)
		}
	}
	back := func(want string, flags ...string) {
		t.Helper()
		got := v.policy(append([]string{"rollback", "production"}, flags...)...)
		if first, _, _ := strings.Cut(got.Stdout, "\n"); got.Code != cli.ExitOK || first != want {
			t.Errorf("rollback: %+v; want %s", got, want)
		}
	}
	back("rolled back production to @3, as production@5")
	back("rolled back production to @2, as production@6")
	back("rolled back production to @5, as production@7", "--to", "5") // itself a rollback to @3
	back("rolled back production to @2, as production@8")
	back("rolled back production to @1, as production@9")
	if got := v.policy("rollback", "production"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "no version before production@1 is stored") {
		t.Errorf("a rollback before the first: %+v", got)
	}
	if got := v.push(t, "ten"); got.Code != cli.ExitOK {
		t.Fatalf("push: %+v", got)
	}
	back("rolled back production to @9, as production@11")
}

// Workers never accept a serial that is not higher than the stored one.
func TestASerialMustBeHigher(t *testing.T) {
	t.Parallel()
	v := newVersions(t)
	for _, step := range []struct{ reason, serial, refused string }{
		{"one", "7", ""},
		{"two", "7", "production@7 is stored"},
		{"two", "3", "production@7 is stored, and workers take only a higher serial than 7: leave out --serial 3, or give at least 8"},
		{"two", "8", ""},
	} {
		got := v.push(t, step.reason, "--serial", step.serial)
		if (got.Code == cli.ExitLocal) != (step.refused != "") || !strings.Contains(got.Stderr, step.refused) {
			t.Errorf("%s: %+v; want %q", step.serial, got, step.refused)
		}
	}
	if got := v.policy("rollback", "production", "--serial", "8"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "production@8 is stored") {
		t.Errorf("rollback: %+v", got)
	}
}

// A comparison without a version in shadow is not a success: the name is probably misspelt.
func TestCompareNeedsAVersionInShadow(t *testing.T) {
	t.Parallel()
	v := newVersions(t)
	compare := func(name, want string) {
		t.Helper()
		if got := v.Run("policy", "compare", name); (got.Code == cli.ExitLocal) != (want != "") || !strings.Contains(got.Stderr, want) {
			t.Errorf("compare %s: %+v; want %q", name, got, want)
		}
	}
	const nothing = "nothing of policy production is in shadow"
	compare("production", "no policy production is stored")
	v.push(t, "one")
	compare("production", nothing)
	v.push(t, "two", "--shadow")
	compare("production", "")
	compare("nosuch", "no policy nosuch is stored")
	v.policy("enforce", "production")
	compare("production", nothing)
}

// A policy that no worker follows is probably misspelt: status lists those that are followed.
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
	if err := f.NC.Flush(); err != nil { // the server has processed them
		t.Fatal(err)
	}
	testkit.Eventually(t, "the status names both", func() bool { // a busy worker answers late
		got := f.Run("policy", "status", "--text", "prodction")
		return got.Code == cli.ExitOK && got.Stdout == "no worker that answers follows prodction; they follow production, staging\n"
	})
	f.Run("policy", "status", "prodction").Want(t, cli.ExitOK, "[]", "")
}

// The author of a policy can neither run commands where it is signed, nor publish files of the
// signer.
func TestAPushIsSafeFromItsPolicy(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	dir := t.TempDir()
	private, _, err := signednote.GenerateKey(nil, "policy")
	if err != nil {
		t.Fatal(err)
	}
	key, ran, elsewhere := filepath.Join(dir, "key"), filepath.Join(dir, "ran"), filepath.Join(dir, "elsewhere.rego")
	policies := filepath.Join(dir, "policies")
	acts, links := filepath.Join(policies, "acts.yaml"), filepath.Join(policies, "links.yaml")
	if err := os.Mkdir(policies, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		key: private + "\n", elsewhere: "package hooks\ndeny contains \"secret\" if input.data.x\n",
		acts: "hooks: [{id: lint, events: [e], replay_safe: true, exec: {command: [touch, " + ran + "]}}]\n" +
			"tests: [{name: it runs, event: e, expect: {action: continue}}]\n",
		links: "hooks: [{id: judge, events: [e], rego: {files: [judge.rego]}}]\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(policies, "judge.rego")); err != nil {
		t.Skip(err)
	}
	push := func(file string, more ...string) clitest.Outcome {
		return f.Run(append([]string{"policy", "push", "production", file, "--key", key}, more...)...)
	}
	if o := push(acts); o.Code != cli.ExitLocal || !strings.Contains(o.Stderr, "hook lint acts in the world (exec): that needs --policy-exec") {
		t.Errorf("a command: %+v", o)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command of the policy ran")
	}
	if o := push(acts, "--policy-exec"); o.Code != cli.ExitOK {
		t.Errorf("a command, with --policy-exec: %+v", o)
	}
	if o := push(links); o.Code != cli.ExitLocal || !strings.Contains(o.Stderr, "judge.rego") {
		t.Errorf("a link to a file elsewhere: %+v", o)
	}
}
