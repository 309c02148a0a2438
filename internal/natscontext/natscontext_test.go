package natscontext_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookrouter/hookrouter/internal/natscontext"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"nats://127.0.0.1:4222": "hookrouter-127.0.0.1-4222-agent", "nats://localhost": "hookrouter-127.0.0.1-4222-agent",
		"tls://[::1]:4333": "hookrouter-127.0.0.1-4333-agent", "127.0.0.1:4222": "hookrouter-127.0.0.1-4222-agent",
		"tls://0.0.0.0:4222": "hookrouter-127.0.0.1-4222-agent", "tls://[::]:4222": "hookrouter-127.0.0.1-4222-agent",
		"nats://NATS.example.com:4222": "hookrouter-nats.example.com-4222-agent", "nats://[2001:db8::1]:4222": "hookrouter-2001_db8__1-4222-agent",
		"nats://../../x:1": "hookrouter-..-4222-agent", "": "", "nats://": "",
	} {
		if got := natscontext.Name(server, "agent"); got != want || filepath.Base(got+"x") != got+"x" {
			t.Errorf("%q is named %q, want %q", server, got, want)
		}
	}
}

func TestAContextIsFoundByItsServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	dir := natscontext.Dir(getenv)
	if _, found, err := natscontext.Find(getenv, "nats://127.0.0.1:4222", "agent"); found || err != nil {
		t.Errorf("in an empty home: %v, %v", found, err)
	}
	wrote := natscontext.Context{URL: "nats://127.0.0.1:4222", Creds: "/x/agent.creds", InboxPrefix: "_INBOX"}
	name := natscontext.Name(wrote.URL, "agent")
	if err := natscontext.Write(dir, name, wrote); err != nil {
		t.Fatal(err)
	}
	got, found, err := natscontext.Find(getenv, "nats://elsewhere:4222, nats://localhost:4222", "agent")
	if !found || err != nil || got != wrote {
		t.Errorf("found %+v, %v, %v", got, found, err)
	}
	if _, found, _ := natscontext.Find(getenv, wrote.URL, "admin"); found {
		t.Error("the context of another role is found")
	}
	if info, err := os.Stat(filepath.Join(dir, "context", name+".json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode: %v, %v", info, err)
	}
	natscontext.Remove(dir, name, "/y/agent.creds")
	if _, found, _ := natscontext.Find(getenv, wrote.URL, "agent"); !found {
		t.Error("a context that another program wrote is removed")
	}
	natscontext.Remove(dir, name, wrote.Creds)
	if _, found, _ := natscontext.Find(getenv, wrote.URL, "agent"); found {
		t.Error("it is there after its removal")
	}
}
