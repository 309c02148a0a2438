package hookctl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

const (
	password = "hunter2hunter2"
	secretly = "launch --password " + password
	launch   = `{"tool_name":"Bash","tool_input":{"command":"` + secretly + `","api_key":"` + password + `"}}`
)

// shows checks whether an output is masked or exact.
func shows(t *testing.T, what, text string, exact bool) {
	t.Helper()
	if strings.Contains(text, password) != exact || strings.Contains(text, "[REDACTED:") == exact {
		t.Errorf("%s, exact %t: %s", what, exact, text)
	}
}

// TestTextMasksSecrets checks that text output shows no secrets, as in the console, and that JSON
// is exact.
func TestTextMasksSecrets(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "asks", Events: []string{"tool:pre"}}, clitest.Answering(chain.Question("Run it?\n\n"+secretly+"\n\nAsked because: x")))
	f.Hook(chain.Registration{ID: "denies", Events: []string{"tool:post"}}, clitest.Answering(chain.Denial("no "+secretly)))
	f.Hook(chain.Registration{ID: "drops", Events: []string{"prompt:submit"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(jsonedit.Merge(ev.Data, []byte(`{"tool_input":{"command":"true","api_key":""}}`)))
	})
	for _, form := range []string{"--text", "--json"} {
		exact := form == "--json"
		watch := f.Start(cli.Process{}, "watch", "tool:post", "--wide", form)
		watch.Want("watching tool:post with prefix hooks; Ctrl-C ends")
		for _, command := range []string{"emit", "execute"} {
			got := f.Run(form, command, "tool:post", launch)
			shows(t, command+" that is denied", got.Stdout, exact)
			if strings.Contains(got.Stderr, password) {
				t.Errorf("%s that is denied says %s", command, got.Stderr)
			}
			shows(t, command+" that is changed", f.Run(form, command, "prompt:submit", launch).Stdout, exact)
			shows(t, "watch, the event", watch.Line(), exact)
			shows(t, "watch, the result", watch.Line(), exact)
		}
		watch.End()
		shows(t, "emit that asks", f.Run(form, "emit", "tool:pre", launch).Stdout, exact)
		shows(t, "execute that does not wait", f.Run(form, "execute", "tool:pre", launch, "--no-wait").Stdout, exact)
		waiting := f.Start(cli.Process{}, form, "execute", "tool:pre", launch)
		said := waiting.Line()
		shows(t, "what execute says while it waits", said, false)
		if !strings.Contains(said, "Run it? ⏎ launch") || strings.Count(said, "⏎") != 2 {
			t.Errorf("%s; want each line of the prompt, and no empty ones", said)
		}
		waiting.End()
	}
}
