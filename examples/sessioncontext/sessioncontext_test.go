package sessioncontext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

var start = events.Event{Name: events.SessionStart}

func TestHookReadsTheFile(t *testing.T) {
	for sentence, c := range map[string]struct {
		file  string
		limit int
		want  string // "" for no injection
	}{
		"some issues":           {"#12 Login fails\n#11 Typo\n", 0, "Recent open issues:\n- #12 Login fails\n- #11 Typo"},
		"space around them":     {"Login fails\n\n  Typo in README  \n", 0, "Recent open issues:\n- Login fails\n- Typo in README"},
		"more than are told":    {"a\nb\nc\n", 2, "Recent open issues:\n- a\n- b"},
		"five are told":         {"1\n2\n3\n4\n5\n6\n", 0, "Recent open issues:\n- 1\n- 2\n- 3\n- 4\n- 5"},
		"an empty file":         {"", 0, ""},
		"an issue that is long": {strings.Repeat("é", 300), 0, "Recent open issues:\n- " + strings.Repeat("é", 200) + "..."},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "issues.txt")
			if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Hook(Options{File: file, Limit: c.limit})(t.Context(), start)
			if err != nil {
				t.Fatal(err)
			}
			want := chain.Result{}
			if c.want != "" {
				want = chain.Result{Action: chain.InjectContext, ContextInjection: c.want, SuppressOutput: true}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoFileIsNoFailure(t *testing.T) {
	got, err := Hook(Options{File: filepath.Join(t.TempDir(), "none.txt")})(t.Context(), start)
	if diff := cmp.Diff(chain.Result{}, got); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	if _, err := Hook(Options{File: t.TempDir()})(t.Context(), start); err == nil {
		t.Error("a directory is read as a file")
	}
}

func TestLoadReplacesTheFile(t *testing.T) {
	load := func(_ context.Context, limit int) ([]string, error) {
		return []string{fmt.Sprint("limit ", limit), "x\ny", "z"}, nil
	}
	got, err := Hook(Options{Load: load, Limit: 2})(t.Context(), start)
	if err != nil || got.ContextInjection != "Recent open issues:\n- limit 2\n- x y" {
		t.Errorf("%q, %v", got.ContextInjection, err)
	}
	failing := func(context.Context, int) ([]string, error) { return nil, errors.New("tracker is away") }
	if _, err := Hook(Options{Load: failing})(t.Context(), start); err == nil || !strings.Contains(err.Error(), "tracker is away") {
		t.Errorf("error %v", err)
	}
}

func ExampleHook() {
	hook := Hook(Options{Load: func(context.Context, int) ([]string, error) {
		return []string{"Login fails with a long password", "Typo in README"}, nil
	}})
	result, err := hook(context.Background(), start)
	fmt.Println(result.ContextInjection, err)
	// Output:
	// Recent open issues:
	// - Login fails with a long password
	// - Typo in README <nil>
}
