package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// guarded starts a NATS server that wants a password and lets nobody emit.
func guarded(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		Users: []*server.User{
			{Username: "ada", Password: "secret"},
			{Username: "bob", Password: "secret", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"hooks.>"}}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestIdentities(t *testing.T) {
	url := guarded(t)
	const noRouter = "no router answers on hooks.emit.x"
	dir := t.TempDir()
	write(t, dir+"/nats/context/ada.json", `{"description":"","url":"`+url+`","user":"ada","password":"secret","color_scheme":""}`)
	write(t, dir+"/nats/context/bob.json", `{"url":"`+url+`","user":"bob","password":"secret"}`)
	write(t, dir+"/nats/context/nsc.json", `{"nsc":"nsc://o/a/u"}`)
	write(t, dir+"/nats/context/broken.json", `{"url":`)
	for name, tt := range map[string]struct {
		env  map[string]string
		args string
		code int
		text string
	}{
		"flags":                       {nil, "-s " + url + " --user ada --password secret", exitAway, noRouter},
		"variables":                   {map[string]string{"HOOK_ROUTER_NATS_URL": url, "NATS_USER": "ada", "NATS_PASSWORD": "secret"}, "", exitAway, noRouter},
		"nobody":                      {nil, "-s " + url, exitAway, "check the credentials"},
		"a context by name":           {nil, "--context ada", exitAway, noRouter},
		"a context by variable":       {map[string]string{"NATS_CONTEXT": "ada"}, "", exitAway, noRouter},
		"a context and another user":  {nil, "--context ada --user eve --password x", exitAway, "check the credentials"},
		"a user who may not emit":     {nil, "--context bob", exitAway, "ask whoever runs it for that permission"},
		"a context that is missing":   {nil, "--context eve", exitLocal, "see `nats context ls`"},
		"a context that is elsewhere": {nil, "--context ../x", exitLocal, "no name of a context"},
		"a context with nsc":          {nil, "--context nsc", exitLocal, "give --server and --creds"},
		"a context without a home":    {map[string]string{"XDG_CONFIG_HOME": ""}, "--context ada", exitLocal, "neither XDG_CONFIG_HOME nor HOME is set"},
		"a broken context":            {nil, "--context broken", exitLocal, "unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait for a router
			env := map[string]string{"XDG_CONFIG_HOME": dir}
			maps.Copy(env, tt.env)
			got := (&fixture{t: t, env: env}).run(append([]string{"emit", "x"}, strings.Fields(tt.args)...)...)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.text) {
				t.Errorf("exit code %d, stderr %q; want %d, %q", got.code, got.stderr, tt.code, tt.text)
			}
		})
	}
}

func TestTheSelectedContext(t *testing.T) {
	url := guarded(t)
	home := t.TempDir()
	write(t, home+"/.config/nats/context.txt", "ada\n")
	write(t, home+"/.config/nats/context/ada.json", `{"url":"`+url+`","user":"ada","password":"secret"}`)
	f := &fixture{t: t, env: map[string]string{"HOME": home}}
	if got := f.run("emit", "x"); !strings.Contains(got.stderr, "no router answers") {
		t.Errorf("stderr %q; want that the context is used", got.stderr)
	}
	if got := f.run("emit", "x", "-s", url); !strings.Contains(got.stderr, "check the credentials") {
		t.Errorf("stderr %q; want that a server named gets no password of a context that was not", got.stderr)
	}
}

func TestAContextFillsInWhatNoFlagSaid(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.config/nats/context/full.json", `{"url":"nats://a:1","creds":"~/a.creds","ca":"${HOME}/ca.pem","cert":"/c","key":"/k","inbox_prefix":"_INBOX_a","tls_first":true}`)
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	c := connection{Context: "full", Server: "nats://b:1", TLSCA: "/own"}
	if err := c.fromContext(getenv); err != nil {
		t.Fatal(err)
	}
	want := connection{
		Context: "full", Server: "nats://b:1", TLSCA: "/own", Creds: home + "/a.creds",
		TLSCert: "/c", TLSKey: "/k", InboxPrefix: "_INBOX_a", tlsFirst: true,
	}
	if c != want {
		t.Errorf("connection %+v; want %+v", c, want)
	}
}
