package bundle_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/bundle"
)

func pair(tb testing.TB) (note.Signer, note.Verifier) {
	tb.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "policy")
	if err != nil {
		tb.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		tb.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		tb.Fatal(err)
	}
	return signer, verifier
}

var (
	said  = bundle.Statement{Name: "production", Serial: 7, Use: bundle.Enforce, Created: time.Date(2026, 11, 23, 18, 40, 0, 5, time.UTC)}
	files = []bundle.File{{Name: "policy.yaml", Text: "hooks: []\n"}, {Name: "rules/a.rego", Text: "package a\n"}}
)

func TestABundleIsWhatWasSigned(t *testing.T) {
	t.Parallel()
	signer, verifier := pair(t)
	_, other := pair(t)
	made, err := bundle.Seal(signer, said, files)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Open(made.Raw, other, verifier)
	if err != nil {
		t.Fatal(err)
	}
	// as `sha256sum policy.yaml rules/a.rego | sha256sum` says
	const version = "production@7 sha256:b4fa85af580b24150bebe3af238ebe6eb9cc469732f4f907765e8ff57448a4e2"
	if got := b.Version(); got != version {
		t.Errorf("version %s; want %s", got, version)
	}
	if again, err := bundle.Seal(signer, said, files); err != nil || !bytes.Equal(again.Raw, made.Raw) {
		t.Errorf("the same files and statement make another bundle: %v", err)
	}
	if s, err := bundle.Claimed(made.Raw); err != nil || s != b.Statement {
		t.Errorf("it claims %+v, %v", s, err)
	}
	dir := t.TempDir()
	path, err := b.Write(dir)
	if err != nil || path != filepath.Join(dir, "policy.yaml") {
		t.Fatalf("%s, %v", path, err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(filepath.Join(dir, f.Name)); err != nil || string(text) != f.Text {
			t.Errorf("%s: %q, %v", f.Name, text, err)
		}
	}
}

func TestWhatNobodySignedIsRefused(t *testing.T) {
	t.Parallel()
	signer, verifier := pair(t)
	stranger, _ := pair(t)
	sealed := func(key note.Signer) string {
		b, err := bundle.Seal(key, said, files)
		if err != nil {
			t.Fatal(err)
		}
		return string(b.Raw)
	}
	good := sealed(signer)
	signed := func(text string) string { // a statement of any text
		n, err := note.Sign(&note.Note{Text: text}, signer)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(map[string]any{"statement": string(n), "files": []map[string]string{{"name": "policy.yaml", "text": "x"}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	digest := bundle.DigestOf([]bundle.File{{Name: "policy.yaml", Text: "x"}})
	for sentence, c := range map[string]struct{ raw, want string }{
		"another key":                   {sealed(stranger), "none of the configured keys signed it"},
		"another file":                  {strings.Replace(good, "package a", "package b", 1), "not those that were signed"},
		"another name of a file":        {strings.Replace(good, "rules/a.rego", "rules/b.rego", 1), "not those that were signed"},
		"another serial":                {strings.Replace(good, "serial 7", "serial 8", 1), "its signature is wrong"},
		"another use":                   {strings.Replace(good, "use enforce", "use shadow", 1), "its signature is wrong"},
		"no signature":                  {`{"statement":"hookrouter policy v1\n","files":[]}`, "its signature is wrong"},
		"no bundle":                     {"hooks: []\n", "it is not a bundle"},
		"a member more":                 {strings.Replace(good, `{"statement"`, `{"x":1,"statement"`, 1), "it is not a bundle"},
		"a member twice":                {strings.Replace(good, `{"statement"`, `{"files":[],"statement"`, 1), "it is not a bundle"},
		"too large":                     {strings.Repeat(" ", bundle.MaxSize) + good, "at most"},
		"a checkpoint of the audit log": {signed("hooks.example/audit\n7\nAAAA\n"), "it does not begin with"},
		"a line that is not known":      {signed("hookrouter policy v1\nname p\nserial 1\nuse enforce\nexpires never\ncreated 2026-01-01T00:00:00Z\nsha256 " + digest + "\n"), "does not know"},
		"a line twice":                  {signed("hookrouter policy v1\nname p\nserial 9\nserial 1\nuse enforce\ncreated 2026-01-01T00:00:00Z\nsha256 " + digest + "\n"), "not written as statements are"},
		"a serial with a sign":          {signed("hookrouter policy v1\nname p\nserial +1\nuse enforce\ncreated 2026-01-01T00:00:00Z\nsha256 " + digest + "\n"), "serial"},
		"no serial":                     {signed("hookrouter policy v1\nname p\nuse enforce\ncreated 2026-01-01T00:00:00Z\nsha256 " + digest + "\n"), "serial"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if b, err := bundle.Open([]byte(c.raw), verifier); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v; want %q", b, err, c.want)
			}
		})
	}
}

func TestNamesOfFilesStayBelowTheDirectory(t *testing.T) {
	t.Parallel()
	signer, _ := pair(t)
	for _, name := range []string{"", ".", "..", "../x", "a/../../x", "/etc/passwd", `a\b`, `..\x`, "C:/x", "a//b", "a/./b", "a\x00b", "a\nb", "é", strings.Repeat("a", 201), "policy.yaml", "POLICY.yaml", "policy.yaml/x"} {
		if _, err := bundle.Seal(signer, said, []bundle.File{{Name: "policy.yaml"}, {Name: name}}); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	for sentence, list := range map[string][]bundle.File{
		"no file":        nil,
		"too many files": make([]bundle.File, 257),
		"no text":        {{Name: "a", Text: "\xff"}},
		"too large":      {{Name: "a", Text: strings.Repeat("x", bundle.MaxSize)}},
	} {
		if _, err := bundle.Seal(signer, said, list); err == nil {
			t.Errorf("%s: taken", sentence)
		}
	}
}

func FuzzOpen(f *testing.F) {
	signer, verifier := pair(f)
	b, err := bundle.Seal(signer, said, files)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b.Raw)
	f.Add([]byte(`{"statement":"hookrouter policy v1\nname a\n\n— policy AAAA\n","files":[{"name":"../x","text":""}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = bundle.Claimed(raw)
		got, err := bundle.Open(raw, verifier)
		if err != nil {
			return
		}
		if got.Statement != b.Statement || bundle.DigestOf(got.Files) != b.Digest { // nobody else has the key
			t.Fatalf("it says %+v", got.Statement)
		}
		if _, err := got.Write(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	})
}
