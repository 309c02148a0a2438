package hookctl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestCollections(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "git", Events: []string{"prompt:submit"}}, clitest.Answering(chain.Result{Data: []byte(`{"branch":"main"}`)}))
	f.Hook(chain.Registration{ID: "silent", Events: []string{"prompt:submit"}}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
		<-ctx.Done()
		return worker.Result{}, ctx.Err()
	})
	f.Run("collect", "prompt:submit", "{}", "--timeout", "100ms").Want(t, cli.ExitOK,
		`{"values":[{"from":"git","value":{"branch":"main"}}],"missing":["silent"]}`, "")
	f.Run("collect", "prompt:submit", "{}", "--timeout", "100ms", "--text").Want(t, cli.ExitOK, `
FROM  VALUE
git   {"branch":"main"}
failed, or not in time: silent`, "")

	w := natstest.Worker(t, natstest.Client(t, hookrouter.Options{Conn: f.NC}), worker.Options{})
	_, err := w.RegisterContributor(t.Context(), chain.Registration{ID: "names", Channels: []string{"observability.events"}},
		func(context.Context, string) (any, error) { return []string{"a:b"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	f.Run("contributions", "observability.events").Want(t, cli.ExitOK, `{"values":[{"from":"names","value":["a:b"]}]}`, "")
	if got := f.Run("registry", "--text", "--wide").Stdout; !strings.Contains(got, "names   channel observability.events  -") {
		t.Errorf("registry:\n%s\nwant the contributor", got)
	}
}
