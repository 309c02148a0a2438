package linterfeedback_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/builtin/linterfeedback"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleNew() {
	dir, err := os.MkdirTemp("", "linterfeedback")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	hook, err := linterfeedback.New(kind.Section{Worker: kind.Worker{Dir: dir}}, linterfeedback.Options{
		Linters: []linterfeedback.Linter{{Files: []string{"*.txt"}, Command: []string{"grep", "-n", "TODO", "{file}"}, AnyOutput: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\nTODO two\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	result, err := hook.Handler(context.Background(), events.Event{
		Name: events.ToolPost, Session: "s1", Data: json.RawMessage(`{"tool_name":"Write","tool_input":{"file_path":"a.txt"}}`),
	})
	fmt.Println(result.ContextInjection, err)
	// Output:
	// New linter findings in a.txt:
	// grep -n TODO ./a.txt
	//   2:TODO two <nil>
}

// todo finds each line with TODO, and its number.
var todo = linterfeedback.Linter{Files: []string{"*.txt"}, Command: []string{"grep", "-n", "TODO", "{file}"}, AnyOutput: true}

// bench is a hook, its root, and its store.
type bench struct {
	*testing.T
	kind.Hook
	root   string
	states *hookstate.Memory
}

func newBench(t *testing.T, o linterfeedback.Options) bench {
	t.Helper()
	b := bench{T: t, root: t.TempDir(), states: &hookstate.Memory{}}
	if o.Linters == nil {
		todo := todo
		todo.Command = []string{"sh", "-c", `grep -n TODO "$1" || true`, "sh", "{file}"}
		o.Linters = []linterfeedback.Linter{todo}
	}
	hook, err := linterfeedback.New(kind.Section{Worker: kind.Worker{Dir: b.root, States: b.states, Log: slog.New(slog.DiscardHandler)}}, o)
	if err != nil {
		t.Fatal(err)
	}
	b.Hook = hook
	return b
}

func (b bench) put(name, text string) {
	b.Helper()
	path := filepath.Join(b.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b bench) try(name, data string) (chain.Result, error) {
	return b.Handler(b.Context(), events.Event{Name: name, Session: "s1", Data: json.RawMessage(data)})
}

func (b bench) told(name, data string) string {
	b.Helper()
	result, err := b.try(name, data)
	if err != nil {
		b.Fatalf("%s %s: %v", name, data, err)
	}
	if result.ContextInjection != "" && (result.Action != chain.InjectContext || !result.Ephemeral || !result.AppendToLastToolResult) {
		b.Errorf("the result is not appended to the tool's: %+v", result)
	}
	return result.ContextInjection
}

// change has the agent change a file with the tools of a vendor, and returns what it is
// told.
func (b bench) change(name, text string) string {
	b.Helper()
	data := `{"tool_name":"Edit","tool_input":{"file_path":` + quoted(name) + `}}`
	if told := b.told(events.ToolPre, data); told != "" {
		b.Errorf("before the change it is told %q", told)
	}
	b.put(name, text)
	return b.told(events.ToolPost, data)
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func findings(told string) (lines []string) {
	for line := range strings.Lines(told) {
		if text, ok := strings.CutPrefix(line, "  "); ok {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	return lines
}

func TestOnlyNewFindingsAreReported(t *testing.T) {
	b := newBench(t, linterfeedback.Options{})
	b.put("a.txt", "x\nTODO old\nTODO twice\n")
	for _, step := range []struct {
		name, text string
		want       []string
	}{
		{"what was there stays untold, though it moved", "x\ny\nTODO old\nTODO twice\n", nil},
		{"one is new", "x\nTODO new 1\nTODO old\nTODO twice\n", []string{"2:TODO new 1"}},
		{"it is told once", "x\n\nTODO new 1\nTODO old\nTODO twice\n", nil},
		{"a second one that is equal is new", "TODO twice\nTODO old\nTODO twice\n", []string{"3:TODO twice"}},
		{"clean", "x\n", nil},
		{"what was mended and comes back is new", "TODO old\n", []string{"1:TODO old"}},
	} {
		if got := findings(b.change("a.txt", step.text)); strings.Join(got, "|") != strings.Join(step.want, "|") {
			t.Errorf("%s: told %q; want %q", step.name, got, step.want)
		}
	}
	if got := findings(b.change("new.txt", "TODO all\nof 1\nTODO it\n")); len(got) != 2 {
		t.Errorf("of a new file %q is told; want 2 findings", got)
	}
	if got := b.change("notes.md", "TODO\n"); got != "" {
		t.Errorf("of a file without a linter %q is told", got)
	}
}

func TestAllFindingsAreToldWhereThatIsWanted(t *testing.T) {
	b := newBench(t, linterfeedback.Options{Only: linterfeedback.OnlyAll})
	b.put("a.txt", "TODO old\n")
	for range 2 {
		if got := findings(b.change("a.txt", "TODO old\nTODO new\n")); len(got) != 2 {
			t.Errorf("told %q; want both findings each time", got)
		}
	}
	if b.states.Len() != 0 {
		t.Errorf("%d values are remembered; want none", b.states.Len())
	}
}

func TestASessionIsForgottenAtItsEnd(t *testing.T) {
	b := newBench(t, linterfeedback.Options{})
	b.change("a.txt", "TODO\n")
	if b.states.Len() != 1 {
		t.Fatalf("%d values are remembered; want 1", b.states.Len())
	}
	b.told(events.SessionEnd, `{}`)
	if b.states.Len() != 0 {
		t.Errorf("%d values are left", b.states.Len())
	}
}

func TestOtherToolsAreLeftAlone(t *testing.T) {
	b := newBench(t, linterfeedback.Options{})
	b.put("a.txt", "TODO\n")
	for _, data := range []string{
		`{"tool_name":"Read","tool_input":{"file_path":"a.txt"}}`,
		`{"tool_name":"Bash","tool_input":{"command":"cat a.txt"}}`,
		`{"tool_name":"Edit","tool_input":{"file_path":"a.txt"},"success":false}`,
		`{"tool_name":"Edit","tool_input":{}}`,
		`{}`,
	} {
		if told := b.told(events.ToolPost, data); told != "" {
			t.Errorf("after %s it is told %q", data, told)
		}
	}
	patch := `{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a.txt\n@@\n+x\n*** Delete File: b.txt\n*** End Patch"}}`
	if told := b.told(events.ToolPost, patch); len(findings(told)) != 1 {
		t.Errorf("after a patch it is told %q", told)
	}
}

// TestFilesElsewhereAreNotTouched has a linter that would show what is in them.
func TestFilesElsewhereAreNotTouched(t *testing.T) {
	b := newBench(t, linterfeedback.Options{Only: linterfeedback.OnlyAll})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "s.txt"), []byte("TODO secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"file.txt": filepath.Join(outside, "s.txt"), "dir": outside, "gone.txt": filepath.Join(outside, "gone.txt")} {
		if err := os.Symlink(target, filepath.Join(b.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	b.put("sub/in.txt", "TODO in\n")
	rel, err := filepath.Rel(b.root, filepath.Join(outside, "s.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{
		filepath.Join(outside, "s.txt"): 0, rel: 0, "file.txt": 0, "dir/s.txt": 0, "gone.txt": 0, "sub/../../x/s.txt": 0, "": 0, ".": 0, "sub": 0, "a\x00.txt": 0,
		"sub/in.txt": 1, "./sub/../sub/in.txt": 1, filepath.Join(b.root, "sub", "in.txt"): 1,
	} {
		data := `{"tool_name":"Write","tool_input":{"file_path":` + quoted(name) + `}}`
		if got := findings(b.told(events.ToolPost, data)); len(got) != want {
			t.Errorf("%q: told %q; want %d findings", name, got, want)
		}
	}
	data := `{"tool_name":"Write","tool_input":{"file_path":"in.txt"},"cwd":` + quoted(filepath.Join(b.root, "sub")) + `}`
	if got := findings(b.told(events.ToolPost, data)); len(got) != 1 {
		t.Errorf("from the agent's directory: told %q", got)
	}
}

// What a path costs must not grow with the square of its length: one event would keep the worker
// busy for an hour.
func TestLongPathsCostLittle(t *testing.T) {
	b := newBench(t, linterfeedback.Options{Only: linterfeedback.OnlyAll})
	deep := strings.Repeat("d/", 800)
	b.put(deep+"in.txt", "TODO in\n")
	began := time.Now()
	for name, want := range map[string]int{deep + "in.txt": 1, deep + strings.Repeat("e/", 800) + "x.txt": 0, strings.Repeat("a/", 400_000) + "x.txt": 0} {
		data := `{"tool_name":"Write","tool_input":{"file_path":` + quoted(name) + `}}`
		if got := findings(b.told(events.ToolPost, data)); len(got) != want {
			t.Errorf("%d bytes: told %q; want %d findings", len(name), got, want)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestAFileIsNeverAFlag(t *testing.T) {
	show := linterfeedback.Linter{Files: []string{"*.txt"}, Command: []string{"echo", "{file}", "{dir}"}, AnyOutput: true}
	b := newBench(t, linterfeedback.Options{Linters: []linterfeedback.Linter{show}})
	b.put("-n {dir}.txt", "")
	told := b.told(events.ToolPost, `{"tool_name":"Write","tool_input":{"file_path":"-n {dir}.txt"}}`)
	if got := findings(told); len(got) != 1 || got[0] != "./-n {dir}.txt ./." {
		t.Errorf("the linter got %q", got)
	}
}

func TestHowALinterEnds(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		codes  []int
		want   string // a finding, or after ! an error
	}{
		"well, with output":       {"echo fine", nil, ""},
		"with findings":           {"echo bad >&2; exit 1", nil, "bad"},
		"without a word":          {"exit 1", nil, "it has findings, and does not say which"},
		"with a code not listed":  {"echo broken; exit 2", []int{1}, "!it could not lint: exit code 2"},
		"with a code listed":      {"echo bad; exit 3", []int{1, 3}, "bad"},
		"as a program that isn't": {"no-such-program-anywhere", nil, "!exit code 127"},
		"by a signal":             {"kill -SEGV $$", nil, "!segmentation fault"},
		"with control characters": {`printf 'a\033[31m\tb\n'; exit 1`, nil, "a[31m b"},
	} {
		l := linterfeedback.Linter{Files: []string{"*"}, Command: []string{"sh", "-c", c.script, "{file}"}, Codes: c.codes}
		b := newBench(t, linterfeedback.Options{Linters: []linterfeedback.Linter{l}})
		b.put("a", "x")
		result, err := b.try(events.ToolPost, `{"tool_name":"Write","tool_input":{"file_path":"a"}}`)
		got := strings.Join(findings(result.ContextInjection), "|")
		if want, isError := strings.CutPrefix(c.want, "!"); isError != (err != nil) || isError && !strings.Contains(err.Error(), want) || !isError && got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestFeedbackIsBounded(t *testing.T) {
	long := linterfeedback.Linter{Files: []string{"*"}, Command: []string{"sh", "-c", `yes "$(head -c 300 /dev/zero | tr '\0' x)"`, "{file}"}}
	for maxLines, want := range map[int]string{3: "… and ", 500: "… and "} {
		b := newBench(t, linterfeedback.Options{Linters: []linterfeedback.Linter{long}, MaxLines: maxLines})
		b.put("a", "x")
		told := b.told(events.ToolPost, `{"tool_name":"Write","tool_input":{"file_path":"a"}}`)
		if n := len(findings(told)); len(told) > 10<<10 || n > maxLines || n == 0 || !strings.Contains(told, want) {
			t.Errorf("%d lines of %d, %d bytes", n, maxLines, len(told))
		}
	}
}

func TestTheTimeIsOver(t *testing.T) {
	slow := linterfeedback.Linter{Files: []string{"*"}, Command: []string{"sh", "-c", "sleep 1000", "{file}"}}
	b := newBench(t, linterfeedback.Options{Linters: []linterfeedback.Linter{slow}})
	b.put("a", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.Handler(ctx, events.Event{Name: events.ToolPost, Data: json.RawMessage(`{"tool_name":"Write","tool_input":{"file_path":"a"}}`)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want %v", err, context.Canceled)
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	with := func(l linterfeedback.Linter) linterfeedback.Options {
		return linterfeedback.Options{Linters: []linterfeedback.Linter{todo, l}}
	}
	for pointer, o := range map[string]linterfeedback.Options{
		"/only":                {Only: "new"},
		"/max_lines":           {MaxLines: -1},
		"/root":                {Root: "nowhere"},
		"/linters/1/files":     with(linterfeedback.Linter{Command: todo.Command}),
		"/linters/1/files/0":   with(linterfeedback.Linter{Files: []string{"[a"}, Command: todo.Command}),
		"/linters/1/command":   with(linterfeedback.Linter{Files: todo.Files, Command: []string{"grep", "x"}}),
		"/linters/1/command/0": with(linterfeedback.Linter{Files: todo.Files, Command: []string{"no-such-program-anywhere", "{file}"}}),
		"/linters/1/codes/0":   with(linterfeedback.Linter{Files: todo.Files, Command: todo.Command, Codes: []int{0}}),
	} {
		_, err := linterfeedback.New(kind.Section{Worker: kind.Worker{Dir: t.TempDir()}}, o)
		if field, ok := errors.AsType[*kind.FieldError](err); !ok || string(field.Pointer) != pointer {
			t.Errorf("%v; want an error at %s", err, pointer)
		}
	}
}

func TestTheRegistrationFits(t *testing.T) {
	// That the match is one, a test of package all says.
	if r := linterfeedback.Builtin.Registration; r.Match == "" || r.TimeoutMS == 0 {
		t.Errorf("match %q, time %d ms", r.Match, r.TimeoutMS)
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	many := linterfeedback.Linter{Files: []string{"*"}, Command: []string{"sh", "-c", "yes bad | head -n 5000; exit 1", "{file}"}}
	b := newBench(t, linterfeedback.Options{Linters: []linterfeedback.Linter{many}})
	for i := range 5 {
		if b.change(fmt.Sprint(i), "x") == "" {
			t.Fatal("nothing is told of a new file")
		}
	}
	if told := b.change("4", "y"); told != "" {
		t.Errorf("of the last file %.80q is told again", told)
	}
	if err := b.states.Under(t.Context(), "linter-feedback", func(_ string, value []byte) bool {
		if len(value) > 64<<10 {
			t.Errorf("%d bytes are remembered", len(value))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

func TestTheUserIsToldHowMuchIsFound(t *testing.T) {
	b := newBench(t, linterfeedback.Options{Only: linterfeedback.OnlyAll})
	b.put("a.txt", "TODO one\nTODO two\n")
	b.put("b.txt", "TODO\n")
	b.put("clean.txt", "done\n")
	for data, want := range map[string]string{
		`{"tool_name":"Edit","tool_input":{"file_path":"a.txt"}}`:     "Found 2 linting issues in a.txt",
		`{"tool_name":"Edit","tool_input":{"file_path":"b.txt"}}`:     "Found 1 linting issue in b.txt",
		`{"tool_name":"Edit","tool_input":{"file_path":"clean.txt"}}`: "",
	} {
		if result, err := b.try(events.ToolPost, data); err != nil || result.UserMessage != want {
			t.Errorf("%s: the user is told %q, %v; want %q", data, result.UserMessage, err, want)
		}
	}
}
