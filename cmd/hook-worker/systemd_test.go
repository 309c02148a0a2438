package main

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/commandline"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// The unit for systemd starts the worker with flags that it has.
func TestTheUnitStartsTheWorker(t *testing.T) {
	var f flags
	_, err := commandline.Parse(&f, testkit.ExecStart(t, "../../deploy/systemd/hook-worker.service"), kong.Name("hook-worker"))
	if err != nil || f.Run.Config != "/etc/hook-worker/worker.yaml" || f.Run.NATSCreds == "" || f.Run.StateCred == "" {
		t.Fatalf("%+v, %v", f.Run, err)
	}
}
