package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// absent are hooks that need what this machine lacks, with what is said of it, and what
// is wrong with the file beside it.
var absent = map[string]struct{ section, lacks, fault, wrong string }{
	"a command":       {"exec: {command: [no-such-program, x]FAULT}", "exec.command[0]: no-such-program: no such program in PATH", ", max_output: -1", "exec.max_output: must be"},
	"a script":        {"exec: {dialect: claude-code, command: ./nothing.shFAULT}", "nothing.sh: there is no such file", ", matcher: '('", "exec.matcher"},
	"an argument":     {"exec: {command: [sh, ./gone.shFAULT]}", "exec.command[1]: ", "], env: [a=b", "exec.env[0]: must be the name"},
	"a directory":     {"exec: {command: [sh], dir: /no/such/dirFAULT}", "exec.dir: /no/such/dir is not a directory", ", concurrency: -1", "exec.concurrency"},
	"a secret":        {"http: {url: 'https://a.example/', secret_env: HOOK_WORKER_NOBODYFAULT}", "http.secret_env: must be the name of a variable", ", secret_file: x", "http.secret_file: there is secret_env too"},
	"a secret's file": {"http: {url: 'https://a.example/', secret_file: /no/such/fileFAULT}", "http.secret_file: read it: ", ", max_response: -1", "http.max_response"},
	"a header":        {"http: {url: 'https://a.example/', headers: {Authorization: HOOK_WORKER_NOBODY}FAULT}", "http.headers.Authorization: must be the name of a variable", ", tls: {cert: x}", "http.tls: needs both"},
	"a certificate":   {"http: {url: 'https://a.example/', tls: {ca: /no/such/caFAULT}}", "http.tls.ca: read it: ", ", cert: x", "http.tls: needs both"},
	"a linter":        {"builtin: {linter-feedback: {linters: [{files: ['*.x'], command: [no-such-linter, '{file}']}FAULT]}}", "linters[0].command[0]: no-such-linter: no such program", ", {files: ['*.x'], command: [a]}", "linters[1].command: must be a list"},
	"a root":          {"builtin: {linter-feedback: {root: /no/such/dirFAULT}}", "linter-feedback.root: ", ", linters: [{command: [a]}]", "linters[0].files: is missing"},
	"a namer":         {"builtin: {session-naming: {command: {command: [no-such-namer]}FAULT}}", "session-naming.command.command[0]: no-such-namer: no such program", ", update_interval: -1", "update_interval"},
	"a context":       {"builtin: {session-context: {command: [no-such-teller]FAULT}}", "session-context.command[0]: no-such-teller: no such program", ", files: ['../x']", "files[0]"},
	"a webhook":       {"builtin: {notify: {url_env: HOOK_WORKER_NOBODYFAULT}}", "notify.url_env: must be the name of a variable", ", desktop: maybe", "notify.desktop"},
}

func absentFile(t *testing.T, section string) string {
	t.Helper()
	return write(t, fmt.Sprintf("hooks:\n  - {id: freeze, events: [\"deploy:start\"], on_failure: deny, cel: {rules: [{deny: frozen}]}}\n"+
		"  - {id: needy, events: [\"tool:pre\"], %s}\ntests:\n  - {name: nobody deploys, event: \"deploy:start\", expect: {action: deny}}\n", section))
}

// TestATestNeedsNoProgramsAndSecrets: a CI machine has neither, and the tests reach no
// hook that needs them.
func TestATestNeedsNoProgramsAndSecrets(t *testing.T) {
	t.Parallel()
	for name, c := range absent {
		t.Run(name, func(t *testing.T) {
			file := absentFile(t, strings.Replace(c.section, "FAULT", "", 1))
			stdout, stderr, err := tries(t, "--text", file)
			if err != nil || !strings.HasSuffix(stdout, "1 test, 0 failed\n") || strings.Count(stderr, "\n") != 1 ||
				!strings.HasPrefix(stderr, "warning: hook needy can't run here: "+file+":3:") || !strings.Contains(stderr, c.lacks) {
				t.Errorf("stdout %s, stderr %s, %v; want a warning of %s", stdout, stderr, err, c.lacks)
			}
			if _, stderr, err := tries(t, "--run-all", file); err == nil || exitCode(err) != 1 || !strings.Contains(stderr, c.lacks) {
				t.Errorf("with --run-all: stderr %s, %v; want %s", stderr, err, c.lacks)
			}
		})
	}
}

func TestMissingProgramsDoNotHideErrorsOfTheFile(t *testing.T) {
	t.Parallel()
	for name, c := range absent {
		t.Run(name, func(t *testing.T) {
			_, stderr, err := tries(t, absentFile(t, strings.Replace(c.section, "FAULT", c.fault, 1)))
			if err == nil || exitCode(err) != 1 || !strings.Contains(stderr, c.wrong) {
				t.Errorf("stderr %s, %v; want %s", stderr, err, c.wrong)
			}
		})
	}
}

func TestValidateLooksAtTheMachineUnlessTold(t *testing.T) {
	t.Parallel()
	file := absentFile(t, "exec: {command: [no-such-program, x]}")
	validates := func(args ...string) (stdout, stderr string, err error) {
		var out, complaints bytes.Buffer
		err = run(t.Context(), append([]string{"validate"}, args...), process{stdout: &out, stderr: &complaints})
		return out.String(), complaints.String(), err
	}
	if _, stderr, err := validates(file); err == nil || exitCode(err) != 1 || !strings.Contains(stderr, ":3:56: hooks[1].exec.command[0]: no-such-program: no such program in PATH") {
		t.Errorf("validate: stderr %s, %v", stderr, err)
	}
	if stdout, stderr, err := validates("--file-only", file); err != nil || stderr != "" || !strings.HasPrefix(stdout, file+": 2 hooks, all well\n") {
		t.Errorf("validate --file-only: stdout %s, stderr %s, %v", stdout, stderr, err)
	}
	if _, _, err := validates("--file-only", write(t, "hooks: []\n"), file); err == nil || exitCode(err) != 1 {
		t.Errorf("validate --file-only of a wrong file: %v", err)
	}
}

// TestHookThatCannotRunIsNotTakenForADenial: a guard that denies when it fails
// would else pass a test that expects a denial.
func TestHookThatCannotRunIsNotTakenForADenial(t *testing.T) {
	t.Parallel()
	file := write(t, `hooks:
  - {id: needy, events: ["tool:pre"], on_failure: deny, replay_safe: true, exec: {command: [no-such-program]}}
tests:
  - {name: denied, event: "tool:pre", expect: {action: deny}}
`)
	stdout, _, err := tries(t, "--text", file)
	if err == nil || exitCode(err) != 1 || !strings.Contains(stdout, "hook needy was not called: it can't run here: "+file+":2:") {
		t.Errorf("stdout %s, %v", stdout, err)
	}
	var out, complaints bytes.Buffer
	events := write(t, `{"event":"tool:pre"}`)
	err = run(t.Context(), []string{"replay", file, events}, process{stdout: &out, stderr: &complaints})
	if err != nil || !strings.Contains(out.String(), "needy can't run on this machine") || !strings.HasPrefix(complaints.String(), "warning: hook needy") {
		t.Errorf("replay: stdout %s, stderr %s, %v", &out, &complaints, err)
	}
}
