package natscontext_test

import (
	"os"
	"testing"

	"github.com/hookrouter/hookrouter/internal/natscontext"
)

// Variables count only where the home directory has no context.
func TestAHomeBeforeVariables(t *testing.T) {
	t.Parallel()
	const server = "nats://127.0.0.1:4222"
	home, moved := t.TempDir(), t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_CONFIG_HOME": moved, "HOME": moved}[name] }
	write := func(dir, creds string) {
		t.Helper()
		if err := natscontext.Write(dir, natscontext.Name(server, "agent"), natscontext.Context{URL: server, Creds: creds}); err != nil {
			t.Fatal(err)
		}
	}
	find := func(want string) {
		t.Helper()
		got, ok, err := natscontext.FindBelow(home, getenv, server, "agent")
		if got.Creds != want || ok != (want != "") || err != nil {
			t.Errorf("found %+v, %v, %v; want %q", got, ok, err, want)
		}
	}
	find("")
	write(moved+"/nats", "/moved")
	find("/moved")
	write(home+"/.config/nats", "~/own")
	find(home + "/own")
	if err := os.WriteFile(home+"/.config/nats/context/"+natscontext.Name(server, "agent")+".json", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := natscontext.FindBelow(home, getenv, server, "agent"); ok || err == nil {
		t.Errorf("a broken context of its own is passed over: %+v", got)
	}
}
