package pathguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// fill repeats numbered words up to the maximum length of a line.
func fill(before, word, after string) string {
	var line strings.Builder
	line.WriteString(before)
	for i := 0; line.Len() < 58<<10; i++ {
		fmt.Fprintf(&line, " "+word, i)
	}
	return line.String() + after
}

// TestLinesOfManyFilesAreBounded checks that no line keeps the guard busy, and that the guard asks
// about lines it did not evaluate completely.
func TestLinesOfManyFilesAreBounded(t *testing.T) {
	t.Parallel()
	longest := 2 * time.Second
	if testkit.RaceFlags != nil {
		longest *= 4
	}
	dirs := "cd a||cd b||cd c||cd d||cd e||cd f||cd g||cd h;"
	for name, line := range map[string]string{
		"globs":       fill("cd {a,b,c,d,e,f,g,h};cat", "*a%d*b", ""),
		"rsync":       fill(dirs+"rsync -a", "*x%d", " y"),
		"mv":          fill(dirs+"mv", "x%d", " y"),
		"rm":          fill(dirs+"rm -r", "*a%d*", ""),
		"targets":     fill("cp", "-t a%[1]d x%[1]d", ""),
		"directories": fill("git", "-C a%d", " status"),
		"deep":        "rm -r " + strings.Repeat("*/", 30000) + "a",
		"texts":       fill("duckdb -c 'select", "a/%d", "'"),
		"long":        fill("rm", strings.Repeat("a/", 2000)+"%d", ""),
		"tool":        "",
	} {
		data := call("Bash", "command", line)
		if line == "" {
			paths, _ := json.Marshal(strings.Fields(fill("", strings.Repeat("*/", 200)+"%d", "")))
			data = `{"tool_name":"mcp__fs__move","tool_input":{"paths":` + string(paths) + `},"cwd":"/repo"}`
		}
		took := longest + 1
		for tries := 0; took > longest && tries < 3; tries++ { // the machine may be busy
			begin := time.Now()
			got := judge(t, pathguard.Options{Outside: "ask"}, data)
			if took = time.Since(begin); got.Action != chain.AskUser {
				t.Errorf("%s: %q (%s)", name, got.Action, got.Reason)
			}
		}
		if took > longest {
			t.Errorf("%s: three times more than %v; the last took %v", name, longest, took)
		}
	}
}

// TestTheSameFileIsJudgedOnce checks that a file that is named repeatedly is evaluated once.
func TestTheSameFileIsJudgedOnce(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(" src/*a*.go", 5000)
	if got := judge(t, pathguard.Options{}, call("Bash", "command", "cat"+many)); got.Action != "" {
		t.Errorf("%q (%s)", got.Action, got.Reason)
	}
	if got := judge(t, pathguard.Options{}, call("Bash", "command", "cat"+many+" .env")); got.Action != chain.Deny {
		t.Errorf("%q (%s)", got.Action, got.Reason)
	}
}

// TestNothingIsJudgedForNobody checks that a cancelled request ends with an error.
func TestNothingIsJudgedForNobody(t *testing.T) {
	t.Parallel()
	hook, err := pathguard.New(kind.Section{}, pathguard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hook.Handler(ctx, events.Event{Name: events.ToolPre, Data: []byte(call("Bash", "command", "cat a"))}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
