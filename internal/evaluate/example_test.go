package evaluate_test

import (
	"context"
	"fmt"
	"os"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
)

func ExampleRunTests() {
	text := []byte(`
hooks:
  - {id: freeze, events: ["deploy:start"], cel: {rules: [{when: now.getDayOfWeek() == 5, deny: not on Fridays}]}}
tests:
  - {name: nobody deploys on a Friday, now: "2026-02-06T10:00:00Z", event: "deploy:start", expect: {action: deny}}
  - {name: but on a Thursday, now: "2026-02-05T10:00:00Z", event: "deploy:start", expect: {action: continue}}
`)
	report := &evaluate.Report{Out: term.NewPrinter(os.Stdout, false, false, false)}
	err := evaluate.RunTests(context.Background(), "worker.yaml", func(w kind.Worker) (*workerfile.File, error) {
		return workerfile.Parse("worker.yaml", text, basic.Kinds(w))
	}, evaluate.Options{}, report.Add)
	if err == nil {
		err = report.End()
	}
	fmt.Println(err)
	// Output:
	// ok      worker.yaml:5  nobody deploys on a Friday
	// ok      worker.yaml:6  but on a Thursday
	// 2 tests, 0 failed
	// <nil>
}
