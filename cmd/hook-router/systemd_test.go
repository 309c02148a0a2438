package main

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/commandline"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// The unit for systemd starts the router with flags that it has.
func TestTheUnitStartsTheRouter(t *testing.T) {
	var f flags
	command, err := commandline.Parse(&f, testkit.ExecStart(t, "../../deploy/systemd/hook-router.service"), kong.Name("hook-router"))
	if err != nil || f.Serve.StoreDir != "/var/lib/hook-router" {
		t.Fatalf("%+v, %v", f.Serve, err)
	}
	if err := f.Serve.check(command); err != nil {
		t.Error(err)
	}
}
