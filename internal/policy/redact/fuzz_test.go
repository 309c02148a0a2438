package redact

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// FuzzReader checks that the reader accepts the same JSON as encoding/json.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		`{}`, ` [1,-0.5e+3,true,null,"a\u00e9\\"] `, `{"a":{"b":[]},"c":""}`, `01`, `1.`, `-`, `[1,]`, `{"a"}`, `{"a":1,}`, `{,}`, `"\x"`, `"\u12g4"`, "\"\n\"", `"`, `nul`, `1 2`, ``,
		`{"password":01}`, `{"password":{"a":}}`, `{"path":"/token","value":}`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_000+1) + strings.Repeat("]", 10_000+1),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, ok := new(reader).read(defaults(), raw); ok != json.Valid(raw) {
			t.Fatalf("%q is read: %t", raw, ok)
		}
	})
}

// FuzzRules checks that JSON stays JSON, that masked text stays masked, and that a secret is masked
// whatever surrounds it.
func FuzzRules(f *testing.F) {
	r, err := ParseRules("redact.yaml", []byte("keys: [pin]\npatterns:\n- {name: employee, pattern: 'EMP-[0-9]{6}'}\n- {name: mark, pattern: '[A-Z]+:[a-z]'}\n- {name: pair, pattern: 'x(y)z?'}\nallow: [{pattern: '.*allowed'}]"))
	if err != nil {
		f.Fatal(err)
	}
	secrets := []string{
		"4111-1111-1111-1111", awsKey, ghKey, pem,
		"sk" + "_live" + "_4eC39HqLyjWDarjtT1zdp7dc",
		`password="hunter2hunter2"`, "https://eve:hunter2hunter2@example.com/",
	}
	for i := range secrets {
		f.Add("before ", " after", uint8(i), true)
		f.Add(`{"a":"`, "\"}\n", uint8(i), false)
		f.Add("[REDACTED:card", "]", uint8(i), true)
		f.Add(`secret="`, "", uint8(i), true)
		f.Add("x\\u0041@b.cd password=", "xyz", uint8(i), true)
	}
	f.Fuzz(func(t *testing.T, before, after string, which uint8, quoted bool) {
		secret := secrets[int(which)%len(secrets)]
		// Adjacent text may change the form of a secret: a card number may become a longer number.
		text := before + " " + secret + " " + after
		raw := []byte(text)
		if quoted {
			raw = []byte(`{"n":1.0,"list":[` + quote(text) + `],"pin":[` + quote(text) + `],` + quote(before) + `:` + quote(after) + `}`)
		}
		for _, rules := range []*Rules{r, nil} {
			got, n := rules.Object(raw)
			if !json.Valid(got) {
				t.Fatalf("%q became %q, which is no JSON", raw, got)
			}
			if !json.Valid(raw) && (string(got) != "{}" || n != 1) {
				t.Fatalf("%q, which is no JSON, became %q, %d replaced", raw, got, n)
			}
			if again, n := rules.Object(got); n != 0 {
				t.Fatalf("a second time finds %d more: %q became %q", n, got, again)
			}
			masked, n := rules.Text(text)
			if again, n := rules.Text(masked); n != 0 {
				t.Fatalf("a second time finds %d more: %q became %q", n, masked, again)
			}
			if (n == 0) != (masked == text) {
				t.Fatalf("%q became %q, %d replaced", text, masked, n)
			}
			if strings.Contains(before+after, canary(secret)) {
				continue
			}
			if strings.Contains(masked, canary(secret)) || quoted && strings.Contains(string(got), strconv.Quote(canary(secret))) || quoted && strings.Contains(string(got), canary(secret)) {
				t.Fatalf("%q became %q and %q", text, masked, got)
			}
		}
	})
}

// canary returns the part of a secret that must not remain.
func canary(secret string) string {
	if strings.Contains(secret, "hunter2") {
		return "hunter2hunter2"
	}
	return secret
}
