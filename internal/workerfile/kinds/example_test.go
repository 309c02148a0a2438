package kinds_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
)

func ExampleAll() {
	fmt.Println(slices.Sorted(maps.Keys(kinds.All(kind.Worker{}).Kinds)))
	_, err := workerfile.Parse("worker.yaml", []byte(`hooks: [{id: a, events: ["*"], match: session == "s1", cel: {rules: [{deny: no}]}}]`), kinds.All(kind.Worker{}))
	fmt.Println(err)
	// Output:
	// [builtin cel exec http rego]
	// worker.yaml:1:39: hooks[0].match: undeclared reference to 'session' (did you mean 'session_id'?)
}
