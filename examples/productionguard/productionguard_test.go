package productionguard

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func write(path string) events.Event {
	return events.Event{Name: events.ToolPre, Data: json.RawMessage(
		fmt.Sprintf(`{"tool_name":"Write","tool_input":{"file_path":%q,"content":"x"}}`, path))}
}

func TestHookAsks(t *testing.T) {
	got, err := Hook(Options{})(t.Context(), write("/srv/production/../production/config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	seconds := 300.0
	want := chain.Result{
		Action:          chain.AskUser,
		Reason:          "Production file requires explicit user approval",
		ApprovalPrompt:  "Allow write to production file: /srv/production/config.yaml?",
		ApprovalOptions: []string{"Allow once", "Allow always", "Deny"},
		ApprovalTimeout: &seconds,
		ApprovalDefault: chain.Deny,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHookKnowsProduction(t *testing.T) {
	for sentence, c := range map[string]struct {
		path string
		asks bool
	}{
		"below production":                     {"/srv/production/a/b.conf", true},
		"below production, relative":           {"production/b.conf", true},
		"in capitals":                          {"/srv/Production/b.conf", true},
		"on Windows":                           {`C:\srv\production\b.conf`, true},
		"an environment file":                  {"/home/me/app/.env", true},
		"a named environment file":             {"/home/me/app/prod.env", true},
		"into production from elsewhere":       {"/srv/staging/../production/x", true},
		"out of production":                    {"/srv/production/../staging/x", false},
		"a file of that name":                  {"/srv/production", false},
		"a directory whose name only contains": {"/srv/reproduction/x", false},
		"an ordinary file":                     {"/home/me/main.go", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook(Options{})(t.Context(), write(c.path))
			if err != nil || (got.Action == chain.AskUser) != c.asks {
				t.Errorf("%s: %+v, %v", c.path, got, err)
			}
		})
	}
}

func TestOptionsReplaceTheDefaults(t *testing.T) {
	hook := Hook(Options{Dirs: []string{"Live"}, Endings: []string{}, Timeout: time.Second})
	got, err := hook(t.Context(), write("/srv/live/x"))
	if err != nil || got.ApprovalTimeout == nil || *got.ApprovalTimeout != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, path := range []string{"/srv/production/x", "/srv/.env"} {
		if got, err := hook(t.Context(), write(path)); err != nil || got.Action != "" {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

func TestHookFailsOnWhatItCannotRead(t *testing.T) {
	ev := events.Event{Data: json.RawMessage(`{"tool_name":"Write","tool_input":{"file_path":5}}`)}
	if got, err := Hook(Options{})(t.Context(), ev); err == nil {
		t.Errorf("decided %+v: an error makes the router deny", got)
	}
	if r := Registration(); r.OnFailure != chain.FailClosed {
		t.Errorf("on_failure is %q", r.OnFailure)
	}
}

func ExampleHook() {
	guard := Hook(Options{})
	result, err := guard(context.Background(), write("/production/config.py"))
	fmt.Println(result.Action, "-", result.ApprovalPrompt, err)
	// Output: ask_user - Allow write to production file: /production/config.py? <nil>
}
