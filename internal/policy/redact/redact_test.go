package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The secrets in the tests are invented, and written so that secret scanners do not report them.
var (
	awsKey = "AKIA" + "IOSFODNN7EXAMPLE"
	ghKey  = "ghp_" + strings.Repeat("a1", 18)
	apiKey = "sk-" + "proj-0123456789abcdefABCDEF_-"
	slack  = "xoxb" + "-1234567890-abcdefghij"
	pem    = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----"
)

func TestObject(t *testing.T) {
	for sentence, c := range map[string]struct {
		raw, want string
		n         int
	}{
		"nothing to hide":                       {`{"a":"hello","b":[1,null,true]}`, `{"a":"hello","b":[1,null,true]}`, 0},
		"a card with dashes":                    {`{"body":"pay 4111-1111-1111-1111 now"}`, `{"body":"pay [REDACTED:card] now"}`, 1},
		"a card with dashes, check digit wrong": {`{"body":"1234-5678-9012-3456"}`, `{"body":"[REDACTED:card]"}`, 1},
		"a card without dashes":                 {`{"body":"4111111111111111"}`, `{"body":"[REDACTED:card]"}`, 1},
		"a card with spaces":                    {`{"body":"5500 0055 5555 5559."}`, `{"body":"[REDACTED:card]."}`, 1},
		"a card after another number":           {`{"body":"1234 4111 1111 1111 1111"}`, `{"body":"1234 [REDACTED:card]"}`, 1},
		"a card glued to letters":               {`{"body":"card4111111111111111x"}`, `{"body":"card[REDACTED:card]x"}`, 1},
		"16 digits with a wrong check digit":    {`{"n":"4111111111111112"}`, `{"n":"4111111111111112"}`, 0},
		"spaced digits with a wrong check digit": {
			`{"n":"4111 1111 1111 1112"}`, `{"n":"4111 1111 1111 1112"}`, 0,
		},
		"a time in microseconds":                 {`{"t":"1766000000000008"}`, `{"t":"1766000000000008"}`, 0},
		"17 digits":                              {`{"n":"41111111111111111"}`, `{"n":"41111111111111111"}`, 0},
		"a UUID of digits":                       {`{"id":"12345678-1234-1234-1234-123456789012"}`, `{"id":"12345678-1234-1234-1234-123456789012"}`, 0},
		"mixed separators are no card":           {`{"n":"4111-1111 1111-1111"}`, `{"n":"4111-1111 1111-1111"}`, 0},
		"a number is not searched":               {`{"n":4111111111111111}`, `{"n":4111111111111111}`, 0},
		"a name is not searched":                 {`{"4111-1111-1111-1111" : "x"}`, `{"4111-1111-1111-1111" : "x"}`, 0},
		"an AWS key":                             {`{"k":"` + awsKey + `"}`, `{"k":"[REDACTED:aws-key]"}`, 1},
		"a GitHub token":                         {`{"k":"token ` + ghKey + `!"}`, `{"k":"token [REDACTED:github-token]!"}`, 1},
		"a fine-grained GitHub token":            {`{"k":"github_pat_` + strings.Repeat("A", 30) + `"}`, `{"k":"[REDACTED:github-token]"}`, 1},
		"a key that begins with sk-":             {`{"k":"KEY=` + apiKey + `"}`, `{"k":"KEY=[REDACTED:api-key]"}`, 1},
		"a word that has sk- in it":              {`{"k":"task-force-for-everything-else risk-assessment-and-mitigation"}`, `{"k":"task-force-for-everything-else risk-assessment-and-mitigation"}`, 0},
		"a Slack token":                          {`{"k":"` + slack + `"}`, `{"k":"[REDACTED:slack-token]"}`, 1},
		"a private key over several lines":       {`{"k":` + quote(pem) + `}`, `{"k":"[REDACTED:private-key]"}`, 1},
		"a private key that is cut off":          {`{"k":"x -----BEGIN PRIVATE KEY-----\nMIIB"}`, `{"k":"x [REDACTED:private-key]"}`, 1},
		"a public key":                           {`{"k":"-----BEGIN PUBLIC KEY-----\nMIIB"}`, `{"k":"-----BEGIN PUBLIC KEY-----\nMIIB"}`, 0},
		"two in one string":                      {`{"k":"` + awsKey + ` 4111-1111-1111-1111"}`, `{"k":"[REDACTED:aws-key] [REDACTED:card]"}`, 2},
		"two that touch":                         {`{"k":"` + awsKey + `4111111111111111"}`, `{"k":"[REDACTED:aws-key][REDACTED:card]"}`, 2},
		"one that only stands alone afterwards":  {`{"k":"` + awsKey + apiKey + `"}`, `{"k":"[REDACTED:aws-key][REDACTED:api-key]"}`, 2},
		"one within another":                     {`{"k":"sk-aaaaaaaaaaaaaaaaaaaa-4111-1111-1111-1111"}`, `{"k":"[REDACTED:api-key]"}`, 1},
		"at any depth":                           {`{"a":[{"b":["4111111111111111",{"c":"` + slack + `"}]}]}`, `{"a":[{"b":["[REDACTED:card]",{"c":"[REDACTED:slack-token]"}]}]}`, 2},
		"a value of a member whose name has one": {`{"4111111111111111":"4111111111111111"}`, `{"4111111111111111":"[REDACTED:card]"}`, 1},
		"a secret written with escapes":          {`{"k":"\u0041KIAIOSFODNN7EXAMPL\u0045"}`, `{"k":"[REDACTED:aws-key]"}`, 1},
		"escapes around a secret stay":           {`{"k":"\u00e9\n\"4111111111111111\"\ud83d\ude00\/"}`, `{"k":"\u00e9\n\"[REDACTED:card]\"\ud83d\ude00\/"}`, 1},
		"a quote and a colon within a string":    {`{"k":"\":4111111111111111"}`, `{"k":"\":[REDACTED:card]"}`, 1},
		"space and numbers keep their bytes":     {" {\"n\" : 9007199254740993,\t\"f\":1.0 , \"k\" : \"4111111111111111\" }\n", " {\"n\" : 9007199254740993,\t\"f\":1.0 , \"k\" : \"[REDACTED:card]\" }\n", 1},
		"a string alone":                         {`"4111111111111111"`, `"[REDACTED:card]"`, 1},
		"an address is no secret by default":     {`{"to":"eve@example.com"}`, `{"to":"eve@example.com"}`, 0},
		"what is no JSON":                        {`{"k":"4111111111111111"`, `{}`, 1},
		"nothing":                                {``, `{}`, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, n := Object([]byte(c.raw))
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n != c.n {
				t.Errorf("%d replacements, want %d", n, c.n)
			}
		})
	}
}

func TestEmails(t *testing.T) {
	raw := `{"to":["Eve <eve.x+y@mail.example.com>","not@home","@b.c","4111111111111111@example.com"]}`
	want := `{"to":["Eve <[REDACTED:email]>","not@home","@b.c","[REDACTED:card]"]}`
	got, n := Options{Emails: true}.Object([]byte(raw))
	if diff := cmp.Diff(want, string(got)); diff != "" || n != 2 {
		t.Errorf("%d replacements (-want +got):\n%s", n, diff)
	}
}

func TestNested(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":"{\"card\":4111111111111111,\"b\":5}"}`:                               `{"a":"{\"card\":4111111111111111,\"b\":5}"}`,
		`{"a":" [\"4111111111111111\", \"\\u0041KIAIOSFODNN7EXAMPLE\"]"}`:           `{"a":" [\"[REDACTED:card]\", \"[REDACTED:aws-key]\"]"}`,
		`{"a":"[\"[4111111111111111,\\\"4111111111111111\\\"]\"]"}`:                 `{"a":"[\"[4111111111111111,\\\"[REDACTED:card]\\\"]\"]"}`,
		`{"a":"{\"k\":\"-----BEGIN PRIVATE KEY-----\\nMIIB\",\"b\":1}"}`:            `{"a":"{\"k\":\"[REDACTED:private-key]\",\"b\":1}"}`,
		`{"a":"{4111111111111111}","b":"4111111111111111","c":"[4111111111111111"}`: `{"a":"{[REDACTED:card]}","b":"[REDACTED:card]","c":"[[REDACTED:card]"}`,
	} {
		if got, _ := (Options{Nested: true}).Object([]byte(raw)); string(got) != want {
			t.Errorf("%s became %s, want %s", raw, got, want)
		}
	}
	// Without Nested, such a string is masked too.
	for _, object := range []func([]byte) ([]byte, int){Object, Default().Object} {
		if got, n := object([]byte(`{"a":"{\"card\":4111111111111111}"}`)); n != 1 || strings.Contains(string(got), "4111") {
			t.Errorf("%s", got)
		}
	}
}

func TestObjectLeavesItsInputAlone(t *testing.T) {
	clean := []byte(`{"a":"b"}`)
	if got, _ := Object(clean); &got[0] != &clean[0] {
		t.Error("clean data was copied")
	}
	const text = `{"k":"4111111111111111","l":"x"}`
	raw := []byte(text)
	Object(raw)
	if string(raw) != text {
		t.Errorf("the input is now %s", raw)
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string
	}
	return string(b)
}

// FuzzObject checks that the result is JSON of the same shape, differs in string values only, and
// contains nothing more to replace.
func FuzzObject(f *testing.F) {
	for _, s := range []string{
		`{"a":"{\"card\":4111111111111111,\"b\":\"4111111111111111\"}"}`, `["[\"[\\\"4111111111111111\\\"]\"]"]`,
		`{}`, `{"a":"4111111111111111"}`, `{"a":"\u0034111-1111-1111-1111","b":[1.0,"x\"y"]}`, `{"k":"` + awsKey + apiKey + `"}`,
		`["` + slack + `",{"":"\ud83d\ude00\ud83d"}]`, `{"k":` + quote(pem) + `}`, `{"a" :"b@c.de"`, `"\\"`, "{\"a\":\"\xff4111111111111111\"}",
	} {
		f.Add([]byte(s), false, true)
		f.Add([]byte(s), true, false)
	}
	f.Fuzz(func(t *testing.T, raw []byte, emails, nested bool) {
		o := Options{Emails: emails, Nested: nested}
		before := string(raw)
		got, n := o.Object(raw)
		if string(raw) != before {
			t.Fatal("the input was changed")
		}
		if !json.Valid(got) {
			t.Fatalf("%q became %q, which is no JSON", raw, got)
		}
		if !json.Valid(raw) {
			return
		}
		if n == 0 && string(got) != before {
			t.Fatalf("%q became %q without a replacement", raw, got)
		}
		if diff := cmp.Diff(shape(t, raw, nested), shape(t, got, nested)); diff != "" {
			t.Fatalf("%q became %q:\n%s", raw, got, diff)
		}
		if again, n := o.Object(got); n != 0 {
			t.Fatalf("a second time finds %d more: %q became %q", n, got, again)
		}
	})
}

// shape returns a document with every string value emptied, or replaced by its own shape if it is a
// document.
func shape(t *testing.T, raw []byte, nested bool) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return emptied(t, v, nested)
}

func emptied(t *testing.T, v any, nested bool) any {
	t.Helper()
	switch v := v.(type) {
	case string:
		if text := strings.TrimLeft(v, " \t\r\n"); nested && strings.IndexAny(text, "{[") == 0 && json.Valid([]byte(text)) {
			return shape(t, []byte(text), true)
		}
		return ""
	case []any:
		for i := range v {
			v[i] = emptied(t, v[i], nested)
		}
	case map[string]any:
		for name := range v {
			v[name] = emptied(t, v[name], nested)
		}
	}
	return v
}

func TestTextIsMaskedAsAStringIs(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"nothing \"here\"":                   "nothing \"here\"",
		"card 4111-1111-1111-1111\nand more": "card [REDACTED:card]\nand more",
	} {
		got, n := Text(text)
		if got != want || (n > 0) != (got != text) {
			t.Errorf("%q becomes %q, %d replaced", text, got, n)
		}
	}
}
