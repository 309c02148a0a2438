package kinds

import (
	"cmp"
	"log/slog"

	"github.com/hookrouter/hookrouter/internal/builtin/all"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/builtinhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/httphook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/regohook"
)

// All are the options with every kind, for the hooks of one worker.
func All(w kind.Worker) workerfile.Options {
	if w.States == nil {
		w.States = &hookstate.Memory{}
	}
	w.Log = cmp.Or(w.Log, slog.New(slog.DiscardHandler))
	return workerfile.Options{
		Worker: w,
		Kinds: map[string]kind.Kind{
			"builtin": builtinhook.New(all.Builtins()),
			"cel":     kind.Of("Rules in CEL, the first that holds answers.", celhook.Build),
			"exec":    kind.Of("A command that reads the event and prints a result.", exechook.Build),
			"http":    kind.Of("An endpoint that gets the event as a CloudEvent and answers a result.", httphook.New),
			"rego":    kind.Of("Policies in the language of Open Policy Agent.", regohook.New),
		},
	}
}
