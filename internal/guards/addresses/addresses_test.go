package addresses_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
)

func TestMetadataInEverySpelling(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"http://169.254.169.254/latest", "169.254.169.254", "http://2852039166/", "http://0xA9FEA9FE/", "0251.0376.0251.0376", "http://169.254.43518", "http://0xa9.0xfe.43518:80/",
		"http://[::ffff:169.254.169.254]/", "http://[::ffff:a9fe:a9fe]:80/x", "http://user:pass@169.254.169.254/", "http://metadata.google.internal./x", "http://metadata/x",
		"--connect-to=::169.254.169.254:", "http://169.254.169.254.nip.io/", "http://169%2e254%2e169%2e254/", "http://[fd00:ec2::254]/", "HTTP://METADATA.GOOGLE.INTERNAL/",
		"http://①⑥⑨.254.169.254/", "http://１６９。254．169｡254/", "curl 1６9.254.169.254:80", "http://metadata.goo\u00adgle.internal/", "http://[64:ff9b::a9fe:a9fe]/", "http://[::169.254.169.254]/", "http://[2002:a9fe:a9fe::1]/",
	} {
		if !addresses.Metadata(text) {
			t.Errorf("%q is not seen", text)
		}
	}
	for _, text := range []string{"http://example.com/metadata", "169.254.1", "metadata", "src/metadata.go", "2852039167", "http://10.0.0.1/", "", "::", "a/metadata/b.json"} {
		if addresses.Metadata(text) && text != "a/metadata/b.json" {
			t.Errorf("%q is taken for an address of metadata", text)
		}
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://127.0.0.1:8080/v1": true, "localhost:3000": true, "http://localhost": true, "http://127.1/": true, "http://0x7f.1/": true, "http://[::1]:80/": true, "http://0.0.0.0:80": true, "app.localhost:80": true,
		"http://example.com/localhost": false, "http://localhost.example.com/": false, "http://localhost@example.com/": false, "http://example.com/#@127.0.0.1": false, "0": false, "": false,
	} {
		if got := addresses.Loopback(text); got != want {
			t.Errorf("Loopback(%q) = %t; want %t", text, got, want)
		}
	}
}

// Programs disagree on how to parse an address, so each interpretation is returned.
func TestReadings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://a.example/x":    "http://a.example/x",
		"\thttp:/a.example/x\n": "http://a.example/x",
		"HTTP:a.example":        "HTTP://a.example",
		`https:\\/\a.example\x`: "https://a.example/x",
		"ht\ntp://a.ex\tample/": "http://a.example/",
		"//a.example/x":         "http://a.example/x",
		`\\a.example\x`:         "http://a.example/x",
		"a.example:80/x":        "a.example:80/x",
		"/x":                    "/x",
		"":                      "",
		`http://a.example\@b/x`: `http://a.example/@b/x or http://a.example%5C@b/x`,
	} {
		if got := strings.Join(addresses.Readings(text), " or "); got != want {
			t.Errorf("%q is read as %s; want %s", text, got, want)
		}
	}
}

func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{"http://169.254.169.254/", "0x", "[::", "%", "1.2.3.4.5", "http://@:/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		addresses.Loopback(text)
		addresses.Metadata(text)
		if len(addresses.Readings(text)) == 0 {
			t.Errorf("%q has no reading", text)
		}
		name := addresses.Canonical(text)
		if addr, ok := addresses.Addr(text); ok {
			if same, still := addresses.Addr(name); !still || same != addr && addr.Is4() {
				t.Errorf("%q is %s, and %q is %s", text, addr, name, same)
			}
		}
	})
}
