package conformance

import (
	"strings"
	"testing"
	"time"
)

// parsed is a JSON document that the test itself wrote.
func parsed(t *testing.T, text string) any {
	t.Helper()
	v, err := decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDifference(t *testing.T) {
	for name, tt := range map[string]struct {
		want, got string
		s         strictness
		differ    bool
		path      string
	}{
		"equal documents are equal":                {want: `{"a":[1,null,"x",{}]}`, got: `{ "a": [1, null, "x", {}] }`},
		"1 is 1.0":                                 {want: `1`, got: `1.0`},
		"1e2 is 100":                               {want: `1e2`, got: `100`},
		"0.1 is 1e-1":                              {want: `0.1`, got: `1e-1`},
		"-0 is 0":                                  {want: `-0`, got: `0`},
		"2^53 is not 2^53+1":                       {want: `9007199254740993`, got: `9007199254740992`, differ: true},
		"a digit far behind the point counts":      {want: `1`, got: `1.00000000000000000001`, differ: true},
		"a number beyond all bounds is compared":   {want: `1`, got: `1e999999999`, differ: true},
		"a number beyond all bounds equals itself": {want: `1e999999999`, got: `1e999999999`},
		"1 is not true":                            {want: `1`, got: `true`, differ: true},
		"true is not 1":                            {want: `true`, got: `1`, differ: true},
		"1 is not its text":                        {want: `1`, got: `"1"`, differ: true},
		"a text is not its number":                 {want: `"1"`, got: `1`, differ: true},
		"null is not false":                        {want: `null`, got: `false`, differ: true},
		"null is no empty list":                    {want: `null`, got: `[]`, differ: true},
		"an empty list is not null":                {want: `[]`, got: `null`, differ: true},
		"an empty object is no empty list":         {want: `{}`, got: `[]`, differ: true},
		"order counts in a list":                   {want: `[1,2]`, got: `[2,1]`, differ: true, path: "[0]"},
		"a longer list differs":                    {want: `[1]`, got: `[1,2]`, differ: true},
		"a missing key differs":                    {want: `{"a":null}`, got: `{}`, differ: true, path: ".a"},
		"a key too many differs":                   {want: `{}`, got: `{"a":null}`, differ: true, path: ".a"},
		"a key too many is no matter in a subset":  {want: `{"a":{}}`, got: `{"a":{"b":1},"c":2}`, s: subset},
		"a key is looked for in a subset":          {want: `{"a":{"b":1}}`, got: `{"a":{"c":1}}`, s: subset, differ: true, path: ".a.b"},
		"a subset's list must be as long":          {want: `[{}]`, got: `[{},{}]`, s: subset, differ: true},
		"a subset's list may hold larger objects":  {want: `[{"a":1}]`, got: `[{"a":1.0,"b":2}]`, s: subset},
		"the path leads to the first difference":   {want: `{"a":[{"b":1},{"b":2}]}`, got: `{"a":[{"b":1},{"b":3}]}`, differ: true, path: ".a[1].b"},
	} {
		t.Run(name, func(t *testing.T) {
			path, differ := difference(parsed(t, tt.want), parsed(t, tt.got), tt.s)
			if path != tt.path || differ != tt.differ {
				t.Errorf("difference(%s, %s) = %q, %v; want %q, %v", tt.want, tt.got, path, differ, tt.path, tt.differ)
			}
		})
	}
}

func TestStamped(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		v  any
		ok bool
	}{
		"now with Z":                {"2026-03-01T12:00:00Z", true},
		"an offset of zero":         {"2026-03-01T12:00:00.123456+00:00", true},
		"four minutes ago":          {"2026-03-01T11:56:00Z", true},
		"six minutes ago":           {"2026-03-01T11:54:00Z", false},
		"six minutes ahead":         {"2026-03-01T12:06:00Z", false},
		"now in another zone":       {"2026-03-01T13:00:00+01:00", false},
		"no offset":                 {"2026-03-01T12:00:00", false},
		"seconds since 1970":        {parsed(t, "1772366400"), false},
		"nothing":                   {nil, false},
		"what somebody else put in": {"from-defaults", false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := stamped(tt.v, now); (err == nil) != tt.ok {
				t.Errorf("stamped(%v) = %v, want ok: %v", tt.v, err, tt.ok)
			}
		})
	}
}

func TestDecodeRefusesWhatFollows(t *testing.T) {
	for _, text := range []string{``, `{`, `{} {}`, `1 x`} {
		if v, err := decode([]byte(text)); err == nil {
			t.Errorf("decode(%q) = %v, want an error", text, v)
		}
	}
}

func TestEncodeKeepsTextAndNumbers(t *testing.T) {
	const text = `{"a":"<ü&>","n":9007199254740993.0}`
	if got := string(encode(parsed(t, text))); got != text {
		t.Errorf("encode = %s, want %s", got, text)
	}
}

func TestCompareSaysWhatItWantedAndGot(t *testing.T) {
	err := compare("data", parsed(t, `{"o":{"a":1}}`), parsed(t, `{"o":{"a":2}}`), exact)
	const want = `data: want {"o":{"a":1}}, got {"o":{"a":2}} (at .o.a)`
	if err == nil || err.Error() != want {
		t.Errorf("compare = %v, want %s", err, want)
	}
	long := strings.Repeat("x", 5000)
	if err := compare("data", long, nil, exact); err == nil || len(err.Error()) > 500 || !strings.Contains(err.Error(), "5002 bytes") {
		t.Errorf("compare of a long text = %v, want it cut", err)
	}
}
