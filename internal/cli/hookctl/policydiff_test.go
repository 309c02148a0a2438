package hookctl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	signednote "golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
)

// rule returns a worker file that denies if a condition holds.
func rule(id, when string) string {
	return "hooks:\n  - id: " + id + "\n    events: [tool:pre]\n    cel: {rules: [{when: \"" + when + "\", deny: \"no <" + id + ">\"}]}\n"
}

func TestDiffListsWhatChanges(t *testing.T) {
	t.Parallel()
	f, called := recorded(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	older, newer := write("old.yaml", rule("shell", "false")), write("new.yaml", rule("shell", "data.tool_name == 'Bash'"))
	other := write("other.yaml", rule("reads", "data.tool_name == 'Read'"))
	tried := write("tried.yaml", strings.Replace(rule("shell", "data.tool_name == 'Bash'"), "    events", "    mode: shadow\n    events", 1))
	o := f.Run("policy", "diff", "--text", "--wide", older, newer)
	o.Stdout = regexp.MustCompile(`(?m)^20\S+Z `).ReplaceAllString(o.Stdout, "TIME ")
	o.Want(t, policy.ExitDiffers, `
3 chains replayed of 3: 2 the same, 1 would differ
  3  with a hook that was not called and answered as recorded: it is not replay_safe
  1  with masked values: hooks saw the mask where the agent had sent a secret, so the result may differ

what would differ
  1  was continue, would be deny by shell

TIME  tool:pre  s1
  continue, would be deny by shell
  no <shell>
  hookctl why ID`, "")
	if n := called.Load(); n != 0 {
		t.Errorf("the registered hook was called %d times", n)
	}
	for args, code := range map[string]int{
		older + " " + older:                         cli.ExitOK,
		newer + " " + older:                         policy.ExitDiffers,
		newer + " " + tried:                         policy.ExitDiffers, // it no longer denies
		older + " " + tried:                         cli.ExitOK,
		"--alone " + older + " " + other:            policy.ExitDiffers,
		"--limit 1 " + older + " " + newer:          cli.ExitOK, // denied by another hook anyway
		"--limit 1 --alone " + older + " " + newer:  policy.ExitDiffers,
		"--session other " + older + " " + newer:    cli.ExitLocal,
		older:                                       cli.ExitLocal,
		"--base main " + older + " " + newer:        cli.ExitLocal,
		older + " " + filepath.Join(dir, "no.yaml"): cli.ExitLocal,
		"git:--output=x:old.yaml " + newer:          cli.ExitLocal,
		"git::old.yaml " + newer:                    cli.ExitLocal,
		"git:main:" + older + " " + newer:           cli.ExitLocal, // no repository
	} {
		if o := f.Run(append([]string{"policy", "diff"}, strings.Fields(args)...)...); o.Code != code {
			t.Errorf("%s: exit code %d; want %d: %s%s", args, o.Code, code, o.Stdout, o.Stderr)
		}
	}
}

// A change that lets something pass is reported, whatever its kind: a removed denial, Rego rules,
// another person to ask or another default answer, and a guard that may no longer be called.
func TestDiffMissesNoWeakerPolicy(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	dir := t.TempDir()
	const rego = "hooks: [{id: judge, events: [\"tool:pre\"], rego: {policy: \"package hooks\\ndeny contains \\\"no\\\" if input.data.tool_name == \\\"Read\\\"\"}}]\n"
	const ask = "hooks: [{id: judge, events: [\"tool:pre\"], cel: {rules: [{when: \"data.tool_name == 'Read'\", ask: {prompt: Read?, default: deny}}]}}]\n"
	const guard = "hooks: [{id: judge, events: [\"tool:pre\"], builtin: {command-guard: {deny: [ls]}}}]\n"
	for name, c := range map[string]struct {
		older, oldText, newText string
		code                    int
		want                    string
	}{
		"a recorded denial":       {rule("acts", "data.tool_name == 'Bash'"), "== 'Bash'", "== 'Other'", policy.ExitDiffers, "was deny by acts, would be continue unless a later hook denies"},
		"a Rego rule":             {rego, "Read", "Other", policy.ExitDiffers, "was deny by judge, would be continue"},
		"the default of an ask":   {ask, "default: deny", "default: allow", policy.ExitDiffers, "was ask_user by judge, would be ask_user by judge, with another question"},
		"whose approval it takes": {strings.Replace(ask, "id: judge", "id: judge, approval: {approvers: [{group: leads}]}", 1), "leads", "all", policy.ExitDiffers, "with another question"},
		"a guard":                 {guard, "deny: [ls]", "deny: [rm]", policy.ExitDiffers, "was deny by judge"},
		"a guard that may not be called": {
			guard, "builtin: {command-guard: {deny: [ls]}}", "replay_safe: false, builtin: {command-guard: {deny: [rm]}}", cli.ExitOK, "hook judge differs, and may not be called here",
		},
	} {
		newer := strings.Replace(c.older, c.oldText, c.newText, 1)
		paths := []string{filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml")}
		for i, text := range []string{c.older, newer} {
			if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if o := f.Run("policy", "diff", "--text", "--wide", paths[0], paths[1]); o.Code != c.code || !strings.Contains(o.Stdout+o.Stderr, c.want) {
			t.Errorf("%s: exit code %d\n%s%s", name, o.Code, o.Stdout, o.Stderr)
		}
		if o := f.Run("policy", "diff", "--text", paths[0], paths[0]); o.Code != cli.ExitOK || strings.Contains(o.Stderr, "differs") {
			t.Errorf("%s, no change: %+v", name, o)
		}
	}
}

// An export is untrusted: nothing in it acts on the terminal.
func TestDiffShowsAnExportAsPrintableText(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	dir := t.TempDir()
	line := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace
	const about = `"time":"2026-11-28T23:59:40.781Z","chain_id":"c\u001b[2K","session_id":"s  x\u001b","event":"tool:pre"`
	export := `{"hookrouter_audit_export":1,"origin":"hooks/HOOKS_AUDIT","first":1,"prefix":"hooks"}` + "\n" +
		`{"seq":1,"time":"2026-11-28T23:59:40.781Z","subject":"hooks.audit.w.1","lines":["` +
		line(`{`+about+`,"kind":"hook.result","hook":"h\u001b","action":"ask_user"}`) + `","` +
		line(`{`+about+`,"kind":"chain.result","hook":"","action":"ask_user","called":1,"in":{"value":{}}}`) + `"]}` + "\n"
	paths := []string{filepath.Join(dir, "export"), filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml")}
	for i, text := range []string{export, rule("shell", "false"), rule("shell", "true")} {
		if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := f.Run("policy", "diff", "--text", "--export", paths[0], paths[1], paths[2])
	if o.Code != policy.ExitDiffers || strings.Contains(o.Stdout, "\x1b") || !strings.Contains(o.Stdout, "hookctl why c␛[2K") || !strings.Contains(o.Stdout, `"s  x␛"`) {
		t.Errorf("%+v", o)
	}
}

// The files that a worker file refers to are read from the revision.
func TestDiffOfARevision(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	dir := t.TempDir()
	git := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, "policies", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "policies"), 0o700); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	write("policy.yaml", "hooks: [{id: judge, events: [\"tool:pre\"], replay_safe: true, rego: {files: [judge.rego], query: data.judge.result}}]\n")
	const rego = "package judge\nresult := {\"action\": \"deny\", \"reason\": \"no\"} if input.data.tool_name == \"TOOL\"\n"
	write("judge.rego", strings.ReplaceAll(rego, "TOOL", "Nothing"))
	git("add", ".")
	git("commit", "-q", "-m", "one")
	path := filepath.Join(dir, "policies", "policy.yaml")
	missing := filepath.Join(dir, "policies", "nosuch.yaml")
	if o := f.Run("policy", "diff", "git:main:"+missing, path); o.Code != cli.ExitLocal || o.Stderr != "hookctl: there is no "+missing+" in main\n" {
		t.Errorf("a file that the revision lacks: %+v", o)
	}
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("hooks: [{}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := f.Run("policy", "diff", broken, path); o.Code != cli.ExitLocal || strings.Contains(o.Stderr, broken+": "+broken) {
		t.Errorf("a file with errors: %+v", o)
	}
	if o := f.Run("policy", "diff", "--base", "main", path); o.Code != cli.ExitOK {
		t.Errorf("nothing changed: %+v", o)
	}
	private, _, err := signednote.GenerateKey(nil, "policy")
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(private+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	push := []string{"policy", "push", "production", "git:main:" + path, "--key", key, "--json"}
	if o := f.Run(push...); !regexp.MustCompile(`"commit":"[0-9a-f]{40}"`).MatchString(o.Stdout) {
		t.Errorf("a push from Git records no commit: %+v", o)
	}
	if o := f.Run(append(push, "--commit", "abcdef0")...); !strings.Contains(o.Stdout, `"commit":"abcdef0"`) {
		t.Errorf("a push with --commit: %+v", o)
	}
	write("judge.rego", strings.ReplaceAll(rego, "TOOL", "Read"))
	for _, args := range [][]string{{"--base", "main", path}, {"git:main:" + path, path}} {
		if o := f.Run(append([]string{"policy", "diff", "--text"}, args...)...); o.Code != policy.ExitDiffers || !strings.Contains(o.Stdout, "was continue, would be deny by judge") {
			t.Errorf("%s: %+v", args, o)
		}
	}
}

// TestDiffReadsARevisionAsItWasCommitted sets attributes that change the output of git archive.
func TestDiffReadsARevisionAsItWasCommitted(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "policy.yaml")
	const hidden = "hooks:\n  - id: judge\n    events: [\"tool:pre\"]\n    cel: {rules: [{when: '\"$Format:%s$\" == \"one\"', deny: no}]}\n"
	for name, text := range map[string]string{"policy.yaml": hidden, ".gitattributes": "policy.yaml export-subst\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "one"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	if o := f.Run("policy", "diff", "--base", "main", path); o.Code != cli.ExitOK {
		t.Errorf("the file differs from itself: %+v", o)
	}
}

// A pull request can put any command into a worker file, and mark it replay_safe.
func TestDiffRunsNoCommandsOfAFileUnlessItIsTrusted(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	older, newer := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml")
	acting := "  - {id: lint, events: [\"tool:pre\"], replay_safe: true, exec: {command: [touch, " + ran + "]}}\n"
	for path, text := range map[string]string{older: rule("shell", "false"), newer: rule("shell", "false") + acting} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := f.Run("policy", "diff", older, newer)
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command of the new file ran")
	}
	if o.Code != cli.ExitOK || !strings.Contains(o.Stdout, "lint acts in the world and was not in the recorded chain") || !strings.Contains(o.Stdout, "--policy-exec calls it") {
		t.Errorf("without --policy-exec: %+v", o)
	}
	if o := f.Run("policy", "diff", "--policy-exec", older, newer); o.Code != cli.ExitOK {
		t.Errorf("with --policy-exec: %+v", o)
	}
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("with --policy-exec the command did not run: %v", err)
	}
}
