package kinds

import (
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/internal/workerfile/regohook"
)

// All returns options with every kind, for the hooks of one worker.
func All(w kind.Worker) workerfile.Options {
	o := basic.Kinds(w)
	o.Kinds["rego"] = kind.Of("Policies in the language of Open Policy Agent.", regohook.New)
	return o
}
