package jsonedit

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The cases are from RFC 7396, appendix A.
func TestMergePatch(t *testing.T) {
	for _, tt := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"n":9007199254740993, "x":1e400}`, `{"a":1}`, `{"n":9007199254740993,"x":1e400,"a":1}`},
	} {
		if got := Merge(json.RawMessage(tt[0]), json.RawMessage(tt[1])); string(got) != tt[2] {
			t.Errorf("%s merged with %s: %s; want %s", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestAssignments(t *testing.T) {
	for _, tt := range [][3]string{
		{`{}`, `a=1`, `{"a":1}`},
		{`{"a":1,"b":2}`, `a=x y`, `{"a":"x y","b":2}`},
		{`{"a":1}`, `a.b.c=true`, `{"a":{"b":{"c":true}}}`},
		{`{}`, `a=null`, `{"a":null}`},
		{`{}`, `a=`, `{"a":""}`},
		{`{}`, `a={"b":1,"b":2}`, `{"a":"{\"b\":1,\"b\":2}"}`},
		{`{}`, `a=b=c`, `{"a":"b=c"}`},
	} {
		path, value, err := Assignment(tt[1])
		if err != nil {
			t.Errorf("%s: %v", tt[1], err)
			continue
		}
		if got := SetPath(json.RawMessage(tt[0]), path, value); string(got) != tt[2] {
			t.Errorf("%s with %s: %s; want %s", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestChanges(t *testing.T) {
	got := Changes(
		json.RawMessage(`{"same":{"x":[1, 2]},"gone":1,"a/b":{"c":1},"n":9007199254740993}`),
		json.RawMessage(`{"same":{"x":[1,2]},"a/b":{"c":2},"n":9007199254740992,"new":null}`),
	)
	want := []Change{
		{Op: "remove", Path: "/gone", Old: json.RawMessage("1")},
		{"replace", "/a~1b/c", json.RawMessage("1"), json.RawMessage("2")},
		{"replace", "/n", json.RawMessage("9007199254740993"), json.RawMessage("9007199254740992")},
		{Op: "add", Path: "/new", Value: json.RawMessage("null")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if got := want[1].name(); got != "a/b.c" {
		t.Errorf("name %q; want a/b.c", got)
	}
}

// A change to a value that is masked on both sides is not shown as no change.
func TestDescribe(t *testing.T) {
	for want, c := range map[string]Change{
		"a.b: 1 → 2": {"replace", "/a/b", json.RawMessage("1"), json.RawMessage("2")},
		`a added: 1`: {Op: "add", Path: "/a", Value: json.RawMessage("1")},
		`a: a secret was replaced; both values are masked`: {"replace", "/a", json.RawMessage(`"[REDACTED:key]"`), json.RawMessage(`"[REDACTED:key]"`)},
	} {
		if got := c.Describe(); got != want {
			t.Errorf("%+v: %s; want %s", c, got, want)
		}
	}
}
