package hookctl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestAnEmptyBus(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	for _, tt := range []struct{ args, json, text string }{
		{"handlers", `{}`, "no hooks"},
		{"hook list", `[]`, "no hooks are registered; `hookctl hook add --help` shows how to add one"},
		{"registry", `[]`, "no hooks are registered; `hookctl hook add --help` shows how to add one"},
		{"explain tool:pre", `{"event":"tool:pre","hooks":[],"chain_timeout_ms":30000}`, "no hook wants tool:pre; `hookctl handlers` lists what is registered"},
		{"collect tool:pre", `{"values":[]}`, "nobody gave anything; `hookctl registry` lists who is there"},
		{"contributions a.b", `{"values":[]}`, "nobody gave anything; `hookctl registry` lists who is there"},
	} {
		args := strings.Fields(tt.args)
		f.Run(args...).Want(t, cli.ExitOK, tt.json, "")
		f.Run(append(args, "--text")...).Want(t, cli.ExitOK, tt.text, "")
	}
}

func TestListings(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "later", Events: []string{"tool:*"}, Priority: 5, OnFailure: chain.FailClosed}, clitest.Answering(chain.Result{}))
	f.Hook(chain.Registration{ID: "writes", Name: "Writes", Events: []string{"tool:pre"}, Match: "data.tool_name == 'Write'", TimeoutMS: 250}, clitest.Answering(chain.Result{}))
	f.Hook(chain.Registration{ID: "beside", Events: []string{"*"}, Mode: chain.Shadow, SessionID: "s1"}, clitest.Answering(chain.Result{}))

	f.Run("handlers").Want(t, cli.ExitOK, `{"*":["beside"],"tool:*":["later"],"tool:pre":["Writes"]}`, "")
	f.Run("handlers", "tool:*").Want(t, cli.ExitOK, `{"tool:*":["later"]}`, "")
	f.Run("handlers", "--text").Want(t, cli.ExitOK, `
PATTERN   HOOKS IN EXECUTION ORDER
*         beside
tool:*    later
tool:pre  writes`, "")
	f.Run("registry", "--text").Want(t, cli.ExitOK, `
ID      ON        PRIORITY  MODE     TIMEOUT  ON FAILURE  INSTANCES  SESSION
writes  tool:pre  0         enforce  250ms    continue    1          -
    match: data.tool_name == 'Write'
beside  *         0         shadow   5s       continue    1          s1
later   tool:*    5         enforce  5s       deny        1          -`, "")
	f.Run("explain", "tool:pre", "--set", "tool_name=Read", "--session", "s1", "--text").Want(t, cli.ExitOK, `
#  HOOK    TIMEOUT  ON FAILURE  INSTANCES  IS
1  writes  250ms    continue    1          skipped by match
    match: data.tool_name == 'Write'
2  beside  5s       continue    1          called beside (shadow)
3  later   5s       deny        1          called`, "")
	f.Run("explain", "tool:pre", "--text").Want(t, cli.ExitOK, `
#  HOOK    TIMEOUT  ON FAILURE  INSTANCES  IS
1  writes  250ms    continue    1          failing: match: no such key:
                                           tool_name
    match: data.tool_name == 'Write'
2  later   5s       deny        1          called`, "")

	var list []map[string]any
	if err := json.Unmarshal([]byte(f.Run("registry").Stdout), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || list[0]["id"] != "writes" || list[0]["timeout_ms"] != 250.0 || len(list[0]["instances"].([]any)) != 1 {
		t.Errorf("registry: %v; want writes first, in full", list)
	}
}

func TestHandlersShowsAGuardWithoutAWorker(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "there", Events: []string{"tool:pre"}}, clitest.Answering(chain.Result{}))
	f.Run("guard", "pin", "late", "--event", "tool:pre", "--event", "tool:post")
	f.Run("--text", "handlers").Want(t, cli.ExitOK, `
PATTERN    HOOKS IN EXECUTION ORDER
tool:post  late (pinned, no worker)
tool:pre   there, late (pinned, no worker)`, "")
	f.Run("--text", "handlers", "tool:post").Want(t, cli.ExitOK, `
PATTERN    HOOKS IN EXECUTION ORDER
tool:post  late (pinned, no worker)`, "")
}

func TestRegistryAcceptWhereNothingIsLost(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Run("registry", "accept").See(t, cli.ExitOK, `{"accepted":false}`)
	f.Run("--text", "registry", "accept").See(t, cli.ExitOK, "no registrations are lost")
}

func TestDisableAndEnable(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "loud", Name: "Loud", Events: []string{"tool:pre"}}, clitest.Answering(chain.Result{Action: chain.Deny, Reason: "noise"}))
	f.Run("hook", "disable", "loud", "--reason", "too loud", "--text").Want(t, cli.ExitOK, "disabled: loud. No event reaches it until `hookctl hook enable loud`", "")
	if got := f.Run("emit", "tool:pre"); got.Code != cli.ExitOK {
		t.Errorf("%+v; want that it is permitted", got)
	}
	f.Run("hook", "disable", "loud") // without a reason, so the first one stays
	f.Run("explain", "tool:pre", "--text").Want(t, cli.ExitOK, `
#  HOOK  TIMEOUT  ON FAILURE  INSTANCES  IS
   loud                                  disabled (too loud)`, "")
	if got := f.Run("explain", "tool:pre"); !strings.Contains(got.Stdout, `"hooks":[],`) || !strings.Contains(got.Stdout, `"disabled":[{"id":"loud","reason":"too loud","time":`) {
		t.Errorf("%+v; want the hook apart from those that are called", got)
	}
	f.Run("handlers", "--text").Want(t, cli.ExitOK, `
PATTERN   HOOKS IN EXECUTION ORDER
tool:pre  loud (disabled)`, "")
	f.Run("registry", "--text").Want(t, cli.ExitOK, `
ID    ON        PRIORITY  MODE      TIMEOUT  ON FAILURE  INSTANCES
loud  tool:pre  0         disabled  5s       continue    1`, "")
	if got := f.Run("registry"); !strings.Contains(got.Stdout, `"disabled":{"reason":"too loud","time":`) {
		t.Errorf("%+v; want who disabled it, and why", got)
	}
	f.Run("hook", "enable", "loud", "--text").Want(t, cli.ExitOK, "enabled: loud", "")
	f.Run("hook", "enable", "loud", "--text").Want(t, cli.ExitOK, "loud is not disabled; `hookctl registry` says which hooks are", "")
	f.Run("hook", "disable", "later", "--text").Want(t, cli.ExitOK, "disabled: later, which is not registered now; `hookctl registry` lists the hooks", "")
	got := f.Run("hook", "disable", "luod", "--text")
	got.See(t, cli.ExitOK, "disabled: luod, which is not registered now; `hookctl registry` lists the hooks")
	if got.Stderr != "hookctl: no hook luod is registered: did you mean loud? `hookctl hook enable luod` takes it back\n" {
		t.Errorf("stderr %q", got.Stderr)
	}
	if got := f.Run("emit", "tool:pre"); got.Code != cli.ExitDenied {
		t.Errorf("%+v; want that it is denied", got)
	}
	f.Run("guard", "pin", "loud", "--event", "tool:pre")
	if got := f.Run("hook", "disable", "loud"); got.Code != cli.ExitRefused || !strings.Contains(got.Stderr, "is a pinned guard: an operator must unpin it first") {
		t.Errorf("%+v; want that a pinned guard stays", got)
	}
}
