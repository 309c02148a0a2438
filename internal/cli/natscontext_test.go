package cli

import (
	"os"
	"testing"
)

func TestAContextFillsInWhatNoFlagSaid(t *testing.T) {
	home := t.TempDir()
	dir := home + "/.config/nats/context"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"url":"nats://a:1","creds":"~/a.creds","ca":"${HOME}/ca.pem","cert":"/c","key":"/k","inbox_prefix":"_INBOX_a","tls_first":true}`
	if err := os.WriteFile(dir+"/full.json", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	c := Connection{Context: "full", Server: "nats://b:1", TLSCA: "/own"}
	if err := c.fromContext(getenv); err != nil {
		t.Fatal(err)
	}
	want := Connection{
		Context: "full", Server: "nats://b:1", TLSCA: "/own", Creds: home + "/a.creds",
		TLSCert: "/c", TLSKey: "/k", InboxPrefix: "_INBOX_a", TLSFirst: true,
	}
	if c != want {
		t.Errorf("connection %+v; want %+v", c, want)
	}
}
