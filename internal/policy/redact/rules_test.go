package redact_test

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
)

func rules(t testing.TB, text string) *redact.Rules {
	t.Helper()
	r, err := redact.ParseRules("redact.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRulesObject(t *testing.T) {
	for sentence, c := range map[string]struct {
		rules     string
		raw, want string
		n         int
	}{
		"nothing to hide":                    {`{}`, `{"a":"b"}`, `{"a":"b"}`, 0},
		"what is no JSON":                    {`{}`, `{"a":`, `{}`, 1},
		"mail":                               {`{}`, `{"to":"eve@example.com"}`, `{"to":"[REDACTED:email]"}`, 1},
		"mail is switched off":               {`without: [email]`, `{"to":"eve@example.com"}`, `{"to":"eve@example.com"}`, 0},
		"a key with a text":                  {`{}`, `{"password" : "x","b":1.0}`, `{"password" : "[REDACTED:key]","b":1.0}`, 1},
		"a key with a number":                {`{}`, `{"token":12e3, "b":1}`, `{"token":"[REDACTED:key]", "b":1}`, 1},
		"a key with a bool":                  {`{}`, `{"secret":true}`, `{"secret":"[REDACTED:key]"}`, 1},
		"a key with an object":               {`{}`, `{"credentials":{"user":"eve@example.com","n":[1]},"c":2}`, `{"credentials":"[REDACTED:key]","c":2}`, 1},
		"a key with a list":                  {`{}`, `{"cookie":["a","b"]}`, `{"cookie":"[REDACTED:key]"}`, 1},
		"a key with null or nothing":         {`{}`, `{"password":null,"token":""}`, `{"password":null,"token":""}`, 0},
		"a key at any depth":                 {`{}`, `[{"a":[{"Authorization":"x"}]}]`, `[{"a":[{"Authorization":"[REDACTED:key]"}]}]`, 1},
		"a key in other ways":                {`{}`, `{"API-Key":1,"apiKey":1,"set-cookie":1,"SET_COOKIE":1,"clientSecret":1}`, `{"API-Key":"[REDACTED:key]","apiKey":"[REDACTED:key]","set-cookie":"[REDACTED:key]","SET_COOKIE":"[REDACTED:key]","clientSecret":"[REDACTED:key]"}`, 5},
		"a key with escapes":                 {`{}`, `{"p\u0061ssword":"x"}`, `{"p\u0061ssword":"[REDACTED:key]"}`, 1},
		"names that only contain a key":      {`{}`, `{"token_count":5,"max_tokens":"100","tokens":[1],"secretary":"Eve","passwords_seen":2}`, `{"token_count":5,"max_tokens":"100","tokens":[1],"secretary":"Eve","passwords_seen":2}`, 0},
		"a key that was masked before":       {`{}`, `{"password":"[REDACTED:key]","token":"[REDACTED:jwt]"}`, `{"password":"[REDACTED:key]","token":"[REDACTED:jwt]"}`, 0},
		"a key that only seems to be masked": {`{}`, `{"password":"[REDACTED:hunter2]"}`, `{"password":"[REDACTED:key]"}`, 1},
		"a variable's name":                  {`{}`, `{"env":{"DB_PASSWORD":"hunter","PGTOKEN":5,"GITHUB_TOKEN":"${GITHUB_TOKEN}"}}`, `{"env":{"DB_PASSWORD":"[REDACTED:assignment]","PGTOKEN":5,"GITHUB_TOKEN":"${GITHUB_TOKEN}"}}`, 1},
		"JSON within a string":               {`{}`, `{"arguments":"{\"password\":\"hunter2\",\"n\":1}"}`, `{"arguments":"{\"password\":\"[REDACTED:assignment]\",\"n\":1}"}`, 1},
		"a change by JSON Patch":             {`{}`, `[{"op":"replace","path":"/tool_input/password","value":"x","old":"y"},{"op":"add","path":"/headers/0/cookie/0","value":{"a":1}},{"op":"add","path":"/a","value":"x"}]`, `[{"op":"replace","path":"/tool_input/password","value":"[REDACTED:key]","old":"[REDACTED:key]"},{"op":"add","path":"/headers/0/cookie/0","value":"[REDACTED:key]"},{"op":"add","path":"/a","value":"x"}]`, 3},
		"a default key is switched off":      {`without: [cookie]`, `{"Cookie":"x","password":"y"}`, `{"Cookie":"x","password":"[REDACTED:key]"}`, 1},
		"all default keys are switched off":  {"without: [key, assignment]\nkeys: [pin]", `{"password":"y","pin":1234}`, `{"password":"y","pin":"[REDACTED:key]"}`, 1},
		"another key":                        {`keys: [pin, X-Internal-Auth]`, `{"PIN":1234,"x_internal_auth":"y","pins":2}`, `{"PIN":"[REDACTED:key]","x_internal_auth":"[REDACTED:key]","pins":2}`, 2},
		"a pattern":                          {"patterns:\n- {name: employee, pattern: 'EMP-[0-9]{6}'}", `{"a":"by EMP-123456, EMP-1"}`, `{"a":"by [REDACTED:employee], EMP-1"}`, 1},
		"a pattern with hints":               {"patterns:\n- {name: project, pattern: '(?i)\\b(?:apollo|gemini)\\b', hints: [apollo, GEMINI]}", `{"a":"Apollo and gemini, not apollos","b":"x"}`, `{"a":"[REDACTED:project] and [REDACTED:project], not apollos","b":"x"}`, 2},
		"a pattern whose hints are not there": {
			"patterns:\n- {name: project, pattern: '[a-z]+', hints: [apollo]}", `{"a":"gemini"}`, `{"a":"gemini"}`, 0,
		},
		"a pattern with a group":         {"patterns:\n- {name: pin, pattern: 'PIN (\\d{4})'}", `{"a":"PIN 1234!"}`, `{"a":"PIN [REDACTED:pin]!"}`, 1},
		"a pattern without a literal":    {"patterns:\n- {name: plate, pattern: '[A-Z]{2} [0-9]{3}'}", `{"a":"x AB 123"}`, `{"a":"x [REDACTED:plate]"}`, 1},
		"a pattern that matches markers": {"patterns:\n- {name: all, pattern: '.+'}", `{"a":"x","b":["4111111111111111"]}`, `{"a":"[REDACTED:all]","b":["[REDACTED:card]"]}`, 2},
		"a pattern over part of a marker": {
			"patterns:\n- {name: tail, pattern: 'card\\]!'}", `{"a":"4111111111111111!"}`, `{"a":"[REDACTED:tail]"}`, 2,
		},
		"a pattern instead of a default": {"without: [card]\npatterns:\n- {name: card, pattern: '4\\d{15}'}", `{"a":"4111111111111112"}`, `{"a":"[REDACTED:card]"}`, 1},
		"a hint written with escapes":    {"patterns:\n- {name: employee, pattern: 'EMP-[0-9]{6}'}", `{"a":"\u0045MP-123456 \u003c"}`, `{"a":"[REDACTED:employee] \u003c"}`, 1},
		"an allowed value":               {"allow: [4111-1111-1111-1111]", `{"a":"4111-1111-1111-1111 5500-0055-5555-5559"}`, `{"a":"4111-1111-1111-1111 [REDACTED:card]"}`, 1},
		"an allowed pattern":             {"allow: [{pattern: '.*@example\\.com'}]", `{"a":"eve@example.com eve@example.com.evil.org"}`, `{"a":"eve@example.com [REDACTED:email]"}`, 1},
		"an allowed value of a key":      {"allow: [none]", `{"password":"none","token":"x"}`, `{"password":"none","token":"[REDACTED:key]"}`, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := rules(t, c.rules)
			raw := []byte(c.raw)
			got, n := r.Object(raw)
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n != c.n || string(raw) != c.raw {
				t.Errorf("%d replacements, want %d; the input is %s", n, c.n, raw)
			}
			if again, n := r.Object(got); n != 0 {
				t.Errorf("a second time finds %d more: %s", n, again)
			}
		})
	}
}

func TestZeroRulesAreTheDefaults(t *testing.T) {
	const text, want = "eve@example.com password=hunter2", "[REDACTED:email] password=[REDACTED:assignment]"
	for name, r := range map[string]*redact.Rules{"Default": redact.Default(), "zero": {}, "nil": nil, "empty file": rules(t, "{}")} {
		if got, n := r.Text(text); got != want || n != 2 {
			t.Errorf("%s: %q, %d replaced", name, got, n)
		}
	}
}

func TestRulesAreSafeForConcurrentUse(t *testing.T) {
	r := rules(t, "patterns:\n- {name: pin, pattern: 'PIN \\d{4}'}\nallow: [{pattern: 'x'}]")
	raw := []byte(`{"a":"PIN 1234\n eve@example.com","password":{"b":1}}`)
	const want = `{"a":"[REDACTED:pin]\n [REDACTED:email]","password":"[REDACTED:key]"}`
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				if got, n := r.Object(raw); string(got) != want || n != 3 {
					t.Errorf("%s, %d replaced", got, n)
					return
				}
			}
		})
	}
	all.Wait()
}

// The time for a text full of prefixes of secrets is linear in its length.
func TestTextsFullOfHintsAreReadInTime(t *testing.T) {
	size := 16 << 10
	if os.Getenv("HOOKROUTER_FULL") != "" {
		size = 128 << 10
	}
	for _, unit := range []string{
		"token:", "token: ", "password=", "token=os.", "a@", "a@b.cd", "sk-", "sk-1", ".eyJaaaaaaaaaaa", "eyJ", "cookie: ", "cookie: a=b", "authorization: bearer ",
		"-----BEGIN PRIVATE KEY-----", "4111-", "1", "4111 1111 1111 1111 ", "AKIA", `token=\"`, `token="token='`, "://a:b@", "://", "[REDACTED:card]", "[REDACTED:card]token=a",
		"bearer ", "basic ", "\\u0041@", " ", "{", "token ", "--token ",
	} {
		text := strings.Repeat(unit, size/len(unit))
		begin := time.Now()
		redact.Default().Text(text)
		redact.Default().Object([]byte(quote(text)))
		if took := time.Since(begin); took > 6*time.Second {
			t.Errorf("%q again and again: %v", unit, took)
		}
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string
	}
	return string(b)
}
