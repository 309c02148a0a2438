package conformance

import (
	"testing"
)

func behavior(t *testing.T, text string) Behavior {
	t.Helper()
	var b Behavior
	if err := decodeStrictly([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		behavior, data string
		want           string // the body
		cause          string // of a failure
	}{
		"return sends the object as it is written": {behavior: `{"return":{"action": "deny"}}`, want: `{"action": "deny"}`},
		"return null sends null":                   {behavior: `{"return":null}`, want: `null`},
		"return_raw sends any JSON":                {behavior: `{"return_raw":[1.0]}`, want: `[1.0]`},
		"return_text sends bytes":                  {behavior: `{"return_text":"{\"action\": \"deny\""}`, want: `{"action": "deny"`},
		"return_empty sends nothing":               {behavior: `{"return_empty":true}`, want: ``},
		"only sleep_ms sends null":                 {behavior: `{"sleep_ms":5}`, want: `null`},
		"error fails":                              {behavior: `{"error":"boom"}`, cause: "boom"},
		"value sends the contribution":             {behavior: `{"value":false}`, want: `false`},
		"value null sends null":                    {behavior: `{"value":null}`, want: `null`},
		"set keeps the rest and its numbers":       {behavior: `{"set":{"b":null}}`, data: `{"a":9007199254740993,"b":1}`, want: `{"action":"modify","data":{"a":9007199254740993,"b":null}}`},
		"set of nothing is still a modify":         {behavior: `{"set":{}}`, data: `{}`, want: `{"action":"modify","data":{}}`},
		"remove takes a key away":                  {behavior: `{"remove":"a"}`, data: `{"a":1,"b":2}`, want: `{"action":"modify","data":{"b":2}}`},
		"remove of what is not there":              {behavior: `{"remove":"a"}`, data: `{"b":2}`, want: `{"action":"modify","data":{"b":2}}`},
		"increment is exact":                       {behavior: `{"increment":"n"}`, data: `{"n":9007199254740992}`, want: `{"action":"modify","data":{"n":9007199254740993}}`},
		"increment of a negative":                  {behavior: `{"increment":"n"}`, data: `{"n":-1}`, want: `{"action":"modify","data":{"n":0}}`},
		"increment of what is missing":             {behavior: `{"increment":"n"}`, data: `{}`, want: `{"action":"modify","data":{"n":1}}`},
		"increment of a text":                      {behavior: `{"increment":"n"}`, data: `{"n":"7"}`, want: `{"action":"modify","data":{"n":1}}`},
		"increment of true":                        {behavior: `{"increment":"n"}`, data: `{"n":true}`, want: `{"action":"modify","data":{"n":1}}`},
		"append to a list":                         {behavior: `{"append":{"key":"l","value":{"x":1}}}`, data: `{"l":[1.0]}`, want: `{"action":"modify","data":{"l":[1.0,{"x":1}]}}`},
		"append to what is missing":                {behavior: `{"append":{"key":"l","value":1}}`, data: `{}`, want: `{"action":"modify","data":{"l":[1]}}`},
		"mutate answers continue without data":     {behavior: `{"mutate":{"a":99}}`, data: `{"a":1}`, want: `{"action":"continue"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := behavior(t, tt.behavior).answer([]byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if string(got.body) != tt.want || got.fails != (tt.cause != "") || got.cause != tt.cause {
				t.Errorf("answer = %+v with body %q, want body %q, cause %q", got, got.body, tt.want, tt.cause)
			}
		})
	}
}

func TestAnswerNeedsAnObjectToChange(t *testing.T) {
	for _, data := range []string{``, `null`, `[]`, `{`} {
		if got, err := behavior(t, `{"set":{"a":1}}`).answer([]byte(data)); err == nil {
			t.Errorf("answer to %q = %q, want an error", data, got.body)
		}
	}
}

func TestSequence(t *testing.T) {
	b := behavior(t, `{"sleep_ms":1,"sequence":[{"return":1,"sleep_ms":2},{"return":2}]}`)
	for n, want := range []struct {
		body  string
		sleep int
	}{{"1", 3}, {"2", 1}, {"2", 1}} {
		one := b.at(n)
		got, err := one.answer(nil)
		if err != nil || string(got.body) != want.body || one.SleepMS != want.sleep {
			t.Errorf("call %d: %q after %d ms (%v), want %q after %d ms", n, got.body, one.SleepMS, err, want.body, want.sleep)
		}
	}
}
