package trial_test

import (
	"context"
	"fmt"
	"os"

	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/internal/hookfile/kinds"
	"github.com/hookrouter/hookrouter/internal/trial"
)

func ExampleRun() {
	text := []byte(`
hooks:
  - {id: freeze, events: ["deploy:start"], cel: {rules: [{when: now.getDayOfWeek() == 5, deny: not on Fridays}]}}
tests:
  - {name: nobody deploys on a Friday, now: "2026-02-06T10:00:00Z", event: "deploy:start", expect: {action: deny}}
  - {name: but on a Thursday, now: "2026-02-05T10:00:00Z", event: "deploy:start", expect: {action: continue}}
`)
	report := &trial.Report{Out: os.Stdout}
	err := trial.Run(context.Background(), "worker.yaml", func(w kind.Worker) (*hookfile.File, error) {
		return hookfile.Parse("worker.yaml", text, kinds.All(w))
	}, trial.Options{}, report.Add)
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
