package gitstatus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/builtin/gitstatus"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleNew() {
	hook, err := gitstatus.New(kind.Section{}, gitstatus.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := hook.Handler(context.Background(), events.Event{Name: events.PromptSubmit, Data: json.RawMessage(`{"cwd":"/"}`)})
	fmt.Printf("%q %v\n", result.ContextInjection, err)
	// Output: "" <nil>
}

// repository is one with a hook that looks at it.
type repository struct {
	*testing.T
	kind.Hook
	dir    string
	states *hookstate.Memory
}

func newRepository(t *testing.T, o gitstatus.Options) repository {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	r := repository{T: t, dir: t.TempDir(), states: &hookstate.Memory{}}
	hook, err := gitstatus.New(kind.Section{Worker: kind.Worker{States: r.states}}, o)
	if err != nil {
		t.Fatal(err)
	}
	r.Hook = hook
	r.git("init", "-q", "-b", "main")
	r.put("a", "a\n")
	r.git("add", ".")
	r.git("commit", "-qm", "first")
	return r
}

func (r repository) git(args ...string) {
	r.Helper()
	args = append([]string{"-C", r.dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)
	if out, err := exec.CommandContext(r.Context(), "git", args...).CombinedOutput(); err != nil {
		r.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (r repository) put(name, text string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o700); err != nil {
		r.Fatal(err)
	}
}

func (r repository) told(name string) string {
	r.Helper()
	data, err := json.Marshal(map[string]string{"cwd": r.dir})
	if err != nil {
		r.Fatal(err)
	}
	result, err := r.Handler(r.Context(), events.Event{Name: name, Session: "s1", Data: data})
	if err != nil {
		r.Fatal(err)
	}
	return result.ContextInjection
}

func TestStatusIsInjectedWhenItChanges(t *testing.T) {
	r := newRepository(t, gitstatus.Options{})
	const clean = "Git status: branch main, nothing changed"
	for i, step := range []struct {
		do   func()
		name string
		want string
	}{
		{nil, events.PromptSubmit, clean},
		{nil, events.PromptSubmit, ""},
		{func() { r.put("b\n", "") }, events.PromptSubmit, "Git status: branch main\n?? \"b\\n\""},
		{nil, events.PromptSubmit, ""},
		{nil, events.SessionStart, "Git status: branch main\n?? \"b\\n\""},
		{nil, events.ContextPostCompact, "Git status: branch main\n?? \"b\\n\""},
		{func() { r.git("clean", "-qf") }, events.PromptSubmit, clean},
		{func() {
			r.git("clone", "-q", r.dir, "../"+filepath.Base(r.dir)+"-up")
			r.git("remote", "add", "up", "../"+filepath.Base(r.dir)+"-up")
		}, events.PromptSubmit, ""},
		{func() {
			r.git("fetch", "-q", "up")
			r.git("branch", "-q", "-u", "up/main")
			r.git("commit", "-q", "--allow-empty", "-m", "x")
		}, events.PromptSubmit, "Git status: branch main...up/main [ahead 1], nothing changed"},
	} {
		if step.do != nil {
			step.do()
		}
		if got := r.told(step.name); got != step.want {
			t.Errorf("step %d: %q; want %q", i, got, step.want)
		}
	}
	if r.told(events.SessionEnd); r.states.Len() != 0 {
		t.Errorf("%d values are left of a session", r.states.Len())
	}
}

func TestManyFilesAreCut(t *testing.T) {
	r := newRepository(t, gitstatus.Options{MaxFiles: 3})
	for i := range 10 {
		r.put(fmt.Sprint("file", i), "")
	}
	if got := r.told(events.PromptSubmit); strings.Count(got, "??") != 3 || !strings.HasSuffix(got, "… and 7 more") {
		t.Errorf("told %q", got)
	}
}

func TestWithoutARepositoryItKeepsSilent(t *testing.T) {
	hook, err := gitstatus.New(kind.Section{}, gitstatus.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{`{}`, `{"cwd":"/nowhere"}`, `{"cwd":7}`, `{"cwd":""}`, `[`} {
		if result, err := hook.Handler(t.Context(), events.Event{Name: events.PromptSubmit, Data: json.RawMessage(data)}); err != nil || result.ContextInjection != "" {
			t.Errorf("%s: %+v, %v", data, result, err)
		}
	}
}

// TestARepositoryRunsNothing has settings that name a program. Each is shown to run it
// in a plain git status, so that the test can fail.
func TestARepositoryRunsNothing(t *testing.T) {
	for name, set := range map[string]func(r repository, program string){
		"the monitor of files": func(r repository, program string) { r.git("config", "core.fsmonitor", program) },
		"a filter": func(r repository, program string) {
			r.put(".gitattributes", "* filter=x=y.z\n")
			r.git("config", "filter.x=y.z.clean", program)
			r.git("config", "filter.x=y.z.required", "true")
		},
		"a filter that runs on": func(r repository, program string) {
			r.put(".gitattributes", "* filter=x\n")
			r.git("config", "filter.x.process", program)
		},
		"a filter that is included": func(r repository, program string) {
			r.put(".gitattributes", "* filter=x\n")
			r.put(".git/more", "[filter \"x\"]\n\tclean = "+program+"\n")
			r.git("config", "include.path", "more")
		},
		"a hook": func(r repository, program string) {
			r.put(".git/hooks/post-index-change", "#!/bin/sh\n"+program+"\n")
		},
		"a submodule": func(r repository, program string) {
			r.git("clone", "-q", r.dir, filepath.Join(r.dir, "sub"))
			r.git("submodule", "-q", "add", "./sub", "sub")
			r.put("sub/.git/info/attributes", "* filter=x\n")
			r.git("-C", "sub", "config", "filter.x.clean", program)
			r.put("sub/a", "b\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t, gitstatus.Options{})
			ran := filepath.Join(t.TempDir(), "ran")
			r.put(".git/program", "#!/bin/sh\ntouch '"+ran+"'\ncat\n")
			set(r, filepath.Join(r.dir, ".git", "program"))
			stir := func() { // the same size, another time: git has to read the file
				r.put("a", "b\n")
				past := time.Now().Add(-time.Hour)
				if err := os.Chtimes(filepath.Join(r.dir, "a"), past, past); err != nil {
					t.Fatal(err)
				}
			}
			stir()
			if err := os.RemoveAll(ran); err != nil {
				t.Fatal(err)
			}
			if got := r.told(events.PromptSubmit); !strings.Contains(got, " M a") {
				t.Errorf("told %q; want the file that changed", got)
			}
			if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
				t.Error("the program ran")
			}
			stir()
			_ = exec.CommandContext(t.Context(), "git", "-C", r.dir, "status").Run()
			if _, err := os.Stat(ran); err != nil {
				t.Errorf("a plain git status does not run it either: %v", err)
			}
		})
	}
}

func TestTheTimeIsOver(t *testing.T) {
	r := newRepository(t, gitstatus.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Handler(ctx, events.Event{Name: events.PromptSubmit, Data: json.RawMessage(`{"cwd":"` + r.dir + `"}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want %v", err, context.Canceled)
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	if _, err := gitstatus.New(kind.Section{}, gitstatus.Options{MaxFiles: -1}); err == nil || !strings.Contains(err.Error(), "/max_files") {
		t.Errorf("New = %v; want an error at /max_files", err)
	}
}
