package docs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
)

// TestMain lets this binary stand in for the nats command line, which tests must
// not need: see fakeNATS. It also is hookctl, which it links anyway: so nobody waits
// until that is built.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "nats":
		if err := fakeNATS(os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "nats:", err)
			os.Exit(1)
		}
		os.Exit(0)
	case "hookctl":
		os.Exit(hookctl.Run(context.Background(), os.Args[1:], cli.Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}))
	}
	testkit.Parallel(12) // they wait for routers and checkpoints
	os.Exit(m.Run())
}

// snippet is a fenced block of a document.
type snippet struct {
	file, lang, info, text string
	line                   int
}

func (s snippet) at() string { return fmt.Sprintf("%s:%d", s.file, s.line) }

var block = regexp.MustCompile("(?ms)^```(\\w+) ?([^\n]*)\n(.*?\n)```$")

func snippets(t *testing.T, lang string) []snippet {
	t.Helper()
	var all []snippet
	for _, file := range documents(t) {
		text := read(t, file)
		for _, m := range block.FindAllStringSubmatchIndex(text, -1) {
			s := snippet{file, text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]], strings.Count(text[:m[0]], "\n") + 1}
			if s.lang == lang {
				all = append(all, s)
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("there are no snippets in %s", lang)
	}
	return all
}

// TestGoSnippetsAreRealCode looks up each Go snippet, line by line and whatever its
// indentation, in the examples and in the tests of this directory, which are compiled
// and run.
func TestGoSnippetsAreRealCode(t *testing.T) {
	var source strings.Builder
	for _, pattern := range []string{"*_test.go", "../examples/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source.WriteString("\n" + outdented(read(t, file)) + "\n")
		}
	}
	for _, s := range snippets(t, "go") {
		if !strings.Contains(source.String(), "\n"+outdented(s.text)+"\n") {
			t.Errorf("%s: this snippet is in no example and no test of docs", s.at())
		}
	}
}

func outdented(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// TestYAMLSnippetsLoad runs the tests of those that have some, too.
func TestYAMLSnippetsLoad(t *testing.T) {
	for _, s := range snippets(t, "yaml") {
		if expr, ok := strings.CutPrefix(s.text, "match: "); ok {
			if _, err := match.Compile(strings.TrimSpace(expr)); err != nil {
				t.Errorf("%s: %v", s.at(), err)
			}
			continue
		}
		if s.info == "redaction" {
			if _, err := redact.ParseRules(s.at(), []byte(s.text)); err != nil {
				t.Error(err)
			}
			continue
		}
		if s.info == "prometheus" {
			var config struct {
				RuleFiles []string `yaml:"rule_files"`
				Scrapes   []any    `yaml:"scrape_configs"`
			}
			if err := yaml.UnmarshalWithOptions([]byte(s.text), &config, yaml.Strict()); err != nil {
				t.Errorf("%s: %v", s.at(), err)
			}
			for _, name := range config.RuleFiles {
				if _, err := os.Stat(filepath.Join("..", "deploy", "grafana", name)); err != nil {
					t.Errorf("%s: %v", s.at(), err)
				}
			}
			continue
		}
		if s.info == "guards" {
			if _, err := pinned.Parse(s.at(), []byte(s.text)); err != nil {
				t.Error(err)
			}
			continue
		}
		if s.info == "groups" {
			if _, err := people.Parse(s.at(), []byte(s.text)); err != nil {
				t.Error(err)
			}
			continue
		}
		load := func(w kind.Worker) (*workerfile.File, error) {
			w.Dir = t.TempDir()
			options := kinds.All(w)
			options.FileOnly = true // what they run is the reader's
			return workerfile.Parse(s.at(), []byte(s.text), options)
		}
		if err := evaluate.RunTests(t.Context(), s.at(), load, evaluate.Options{}, func(r evaluate.Result) error {
			if !r.OK {
				t.Errorf("%s: the test %q fails: %s", s.at(), r.Name, strings.Join(r.Wrong, "; "))
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

func TestJSONSnippetsParse(t *testing.T) {
	for _, s := range snippets(t, "json") {
		if !json.Valid([]byte(s.text)) {
			t.Errorf("%s: this is no JSON", s.at())
		}
	}
}

// TestShellSnippetsParse has bash read every snippet that TestShellSnippetsRun runs.
func TestShellSnippetsParse(t *testing.T) {
	for _, s := range snippets(t, "sh") {
		if s.info != "run" && !strings.HasPrefix(s.info, "background=") {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-n")
		cmd.Stdin = strings.NewReader(s.text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", s.at(), err, out)
		}
	}
}

// TestShellSnippetsRun runs the marked shell snippets, document by document and
// as they stand, with the environment leading them to ports and files of the
// test: "run" ones to their end, "background=TEXT" ones until they print TEXT.
// What a "run" one printed is compared with the text marked "output" that follows,
// or its numbered lines with one marked "output events", without regard to
// figures. A document that starts no router gets one.
func TestShellSnippetsRun(t *testing.T) {
	testkit.From(t, testkit.CI) // it builds programs and installs them
	byFile := map[string][]snippet{}
	for _, s := range append(snippets(t, "sh"), snippets(t, "text")...) {
		byFile[s.file] = append(byFile[s.file], s)
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			env, addr := shellEnvironment(t)
			if !slices.ContainsFunc(byFile[file], startsRouter) {
				startRouter(t, addr)
			}
			slices.SortFunc(byFile[file], func(a, b snippet) int { return a.line - b.line })
			said := ""
			for _, s := range byFile[file] {
				before, waitFor, background := strings.Cut(s.info, "background=")
				switch {
				case background && before == "":
					runInBackground(t, env, s, waitFor)
				case s.lang == "sh" && s.info == "run":
					said = runToEnd(t, env, s)
				case s.lang == "text" && s.info == "output":
					compare(t, s, steady(s.text), steady(said))
				case s.lang == "text" && s.info == "output events":
					compare(t, s, numbered(s.text), numbered(said))
				}
			}
		})
	}
}

func startsRouter(s snippet) bool {
	return strings.HasPrefix(s.info, "background=") && strings.HasPrefix(s.text, "go run ./cmd/hook-router")
}

func startRouter(t *testing.T, addr string) {
	t.Helper()
	n, err := server.Start(t.Context(), server.Options{Listen: addr, StoreDir: natstest.StoreDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- n.Run(ctx, func() { close(up) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-up:
	case <-time.After(20 * time.Second):
		t.Fatal("the router is not ready after 20 s")
	}
}

// shellEnvironment leads every program to the address of this test's NATS.
func shellEnvironment(t *testing.T) (env []string, addr string) {
	t.Helper()
	dir, files := t.TempDir(), t.TempDir()
	beThis(t, filepath.Join(dir, "nats"))
	addr, health, agents := freeAddr(t), freeAddr(t), freeAddr(t)
	env = append(os.Environ(),
		"PATH="+dir+":"+os.Getenv("PATH"), "NATS_URL=nats://"+addr, "HOOK_WORKER_NATS_URL=nats://"+addr,
		"HOOK_ROUTER_NATS_LISTEN="+addr, "HOOK_ROUTER_HTTP_LISTEN="+health, "HOOK_ROUTER_AGENT_HTTP_LISTEN="+agents, "HOOK_ROUTER_STORE_DIR="+filepath.Join(dir, "store"),
		"GOBIN="+dir, "TMPDIR="+files, "XDG_STATE_HOME="+files, "XDG_CONFIG_HOME="+files)
	return env, addr
}

// beThis makes a program that is this binary: see TestMain.
func beThis(t *testing.T, program string) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, program)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// shell is bash in the root of the module, as the leader of a process group.
func shell(ctx context.Context, env []string, s snippet) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", s.text)
	cmd.Dir, cmd.Env = root, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

func runToEnd(t *testing.T, env []string, s snippet) (said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var complaint bytes.Buffer
	cmd := shell(ctx, env, s)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", s.at(), err, out, complaint.String())
	}
	t.Logf("%s:\n%s", s.at(), out)
	return string(out)
}

func compare[T any](t *testing.T, s snippet, document, program T) {
	t.Helper()
	if diff := cmp.Diff(document, program); diff != "" {
		t.Errorf("%s: the document (-) and the program (+):\n%s", s.at(), diff)
	}
}

// numbered are the lines that begin with a number; what else a program prints
// depends on the machine.
func numbered(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] >= '0' && line[0] <= '9' {
			lines = append(lines, steady(line))
		}
	}
	return lines
}

var (
	figures = regexp.MustCompile(`[0-9]+`)
	spaces  = regexp.MustCompile(` +`)
)

// steady is what stays the same from run to run.
func steady(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(figures.ReplaceAllString(text, "0"), " "))
}

func runInBackground(t *testing.T, env []string, s snippet, waitFor string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := shell(ctx, env, s)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); _ = w.Close(); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	ready, said := make(chan struct{}), &bytes.Buffer{}
	go func() {
		found := false
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if !found {
				fmt.Fprintln(said, lines.Text())
				if found = strings.Contains(lines.Text(), waitFor); found {
					close(ready)
				}
			}
		}
	}()
	select {
	case <-ready:
	case <-done:
		t.Fatalf("%s: it ended", s.at())
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s: it did not say %q", s.at(), waitFor)
	}
}

// fakeNATS does what the documents use of the nats command line: req and reply.
func fakeNATS(args []string, out io.Writer) error {
	var options []nats.Option
	if len(args) > 2 && args[0] == "--context" { // of a router on 4222, which a test's is not
		role := args[1][strings.LastIndex(args[1], "-")+1:]
		c, found, err := natscontext.Find(os.Getenv, os.Getenv("NATS_URL"), role)
		if err != nil {
			return err
		}
		if found {
			options = append(options, nats.UserCredentials(c.Creds), nats.CustomInboxPrefix(c.InboxPrefix))
		}
		args = args[2:]
	}
	nc, err := nats.Connect(os.Getenv("NATS_URL"), options...)
	if err != nil {
		return err
	}
	defer nc.Close()
	switch {
	case len(args) == 3 && args[0] == "req":
		m, err := nc.Request(args[1], []byte(args[2]), 10*time.Second)
		if err != nil {
			return err
		}
		if text := m.Header.Get("Nats-Service-Error"); text != "" {
			return fmt.Errorf("%s %s", m.Header.Get("Nats-Service-Error-Code"), text)
		}
		fmt.Fprintf(out, "%s\n", m.Data)
		return nil
	case len(args) == 5 && args[0] == "reply" && args[2] == "--queue":
		_, err := nc.QueueSubscribe(args[1], args[3], func(m *nats.Msg) { _ = m.Respond([]byte(args[4])) })
		if err != nil {
			return err
		}
		if err := nc.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(out, "Listening on %q in group %q\n", args[1], args[3])
		select {}
	}
	return fmt.Errorf("%q is not known here", args)
}
