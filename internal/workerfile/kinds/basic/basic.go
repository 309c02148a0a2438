// Package basic provides the kinds of hooks that hook-router serves itself: builtin, cel, exec and
// http. It rejects hooks of kind rego, so that programs that import it do not link OPA; package
// kinds has all kinds.
package basic

import (
	"cmp"
	"errors"
	"log/slog"

	"github.com/hookrouter/hookrouter/internal/builtin/all"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/builtinhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/httphook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Kinds returns options with these kinds, for the hooks of one worker.
func Kinds(w kind.Worker) workerfile.Options {
	if w.States == nil {
		w.States = &hookstate.Memory{}
	}
	w.Log = cmp.Or(w.Log, slog.New(slog.DiscardHandler))
	return workerfile.Options{
		Worker: w,
		Kinds: map[string]kind.Kind{
			"builtin": builtinhook.New(all.Builtins()),
			"cel":     kind.Giving(kind.Of("Rules in CEL, the first that holds answers.", celhook.Build), celhook.Contribute),
			"exec":    kind.Giving(kind.Of("A command that reads the event and prints a result.", exechook.Build), exechook.Contribute),
			"http":    kind.Of("An endpoint that gets the event as a CloudEvent and answers a result.", httphook.New),
			"rego":    {Summary: "Policies in the language of Open Policy Agent.", Config: struct{}{}, Build: refuse},
		},
	}
}

// refuse returns an error that names the program with this kind.
func refuse(kind.Section) (kind.Hook, error) {
	return kind.Hook{}, errors.New("this program has no Open Policy Agent: serve the file with hook-worker, beside hook-router")
}
