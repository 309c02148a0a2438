package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// nested returns an object that nests depth levels deep, itself included.
func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
}

func TestParseObjectAccepts(t *testing.T) {
	for sentence, raw := range map[string]string{
		"the empty object":                          `{}`,
		"space around and within":                   " \t\r\n{ \"a\" : 1 , \"b\" : [ ] } \n",
		"the same name in different objects":        `{"a":{"x":1},"b":{"x":2}}`,
		"names that differ in case":                 `{"a":1,"A":2}`,
		"64 levels of objects":                      nested(64),
		"64 levels, the inner ones arrays":          `{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + "}",
		"many members":                              `{"0":0` + manyMembers(2000) + `}`,
		"an escaped surrogate pair":                 `{"a":"\ud83d\ude00"}`,
		"a number beyond what a float can hold":     `{"a":9007199254740993,"b":123456789012345678901234567890}`,
		"a number with exponent":                    `{"a":1e400}`,
		"an empty name":                             `{"":1}`,
		"the separators that JavaScript dislikes":   "{\"a\":\"\u2028\u2029\"}",
		"a deep value beside a flat one afterwards": `{"a":` + nested(63) + `,"b":1}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			o, err := ParseObject([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			if string(o.Bytes()) != raw {
				t.Errorf("Bytes() = %q", o.Bytes())
			}
		})
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":%d`, i, i)
	}
	return b.String()
}

func TestParseObjectRefuses(t *testing.T) {
	for sentence, c := range map[string]struct{ raw, want string }{
		"nothing":                                {"", "ends too early"},
		"space only":                             {" \n", "ends too early"},
		"text":                                   {"Traceback (most recent call last)", "not JSON"},
		"an object that ends too early":          {`{"a":1`, "not JSON"},
		"an array":                               {`[{"a":1}]`, "not an array"},
		"a string":                               {`"a"`, "not a string"},
		"a number":                               {`42`, "not a number"},
		"null":                                   {`null`, "null, true or false"},
		"a comma before the end":                 {`{"a":1,}`, "not JSON"},
		"no comma between members":               {`{"a":1 "b":2}`, "not JSON"},
		"no colon":                               {`{"a" 1}`, "not JSON"},
		"a name that is no string":               {`{a:1}`, "not JSON"},
		"a comment":                              {`{"a":1/**/}`, "not JSON"},
		"single quotes":                          {`{'a':1}`, "not JSON"},
		"NaN":                                    {`{"a":NaN}`, "not JSON"},
		"a number with a leading zero":           {`{"a":01}`, "not JSON"},
		"a line break within a string":           {"{\"a\":\"\n\"}", "not JSON"},
		"a second object":                        {`{"a":1}{"a":2}`, "something follows"},
		"a word after the end":                   {`{"a":1} x`, "something follows"},
		"a zero byte after the end":              {"{\"a\":1}\x00", "something follows"},
		"a byte order mark":                      {"\ufeff{}", "not JSON"},
		"a byte that is no UTF-8 in a value":     {"{\"a\":\"\xff\"}", "not JSON"},
		"a byte that is no UTF-8 in a name":      {"{\"\xff\":1}", "not JSON"},
		"half of an escaped surrogate pair":      {`{"a":"\ud83d"}`, "not JSON"},
		"a name twice":                           {`{"a":1,"b":2,"a":3}`, `the name "/a" twice`},
		"a name twice, with the same value":      {`{"a":1,"a":1}`, "twice"},
		"a name twice in a nested object":        {`{"a":{"b":1,"b":2}}`, `the name "/a/b" twice`},
		"a name twice in an object of an array":  {`{"a":[0,{"b":1,"b":2}]}`, `the name "/a/1/b" twice`},
		"a name twice, once through an escape":   {`{"a":1,"\u0061":2}`, "twice"},
		"a nested name twice, through an escape": {`{"x":{"tool":1,"t\u006fol":2}}`, "twice"},
		"an escaped slash and a slash":           {`{"a/b":1,"a\/b":2}`, "twice"},
		"65 levels of objects":                   {nested(65), "deeper than 64"},
		"65 levels, the inner ones arrays":       {`{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "}", "deeper than 64"},
		"ten thousand levels":                    {nested(10000), "deeper than 64"},
		"a second member that nests too deep":    {`{"a":1,"b":` + nested(64) + "}", "deeper than 64"},
		"the end within the deepest level":       {strings.Repeat(`{"a":`, 10), "not JSON"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := ParseObject([]byte(c.raw))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestParseObjectErrorsAreOneShortLine(t *testing.T) {
	for _, raw := range []string{
		`{"a\r\nb":1,"a\r\nb":2}`,
		`{"` + strings.Repeat("é", 300) + `":1,"` + strings.Repeat("é", 300) + `":2}`,
		"\r\n\x1b[31m",
	} {
		_, err := ParseObject([]byte(raw))
		if err == nil {
			t.Fatalf("%q is accepted", raw)
		}
		if text := err.Error(); len(text) > 600 || strings.ContainsAny(text, "\r\n\x1b") {
			t.Errorf("%q: error is %q", raw, text)
		}
	}
}

func TestParseEnvelopeAllowsOneLevelMore(t *testing.T) {
	if _, err := ParseEnvelope([]byte(nested(65))); err != nil {
		t.Errorf("data of 64 levels in an envelope: %v", err)
	}
	if _, err := ParseEnvelope([]byte(nested(66))); err == nil {
		t.Error("data of 65 levels in an envelope is accepted")
	}
}

func TestGet(t *testing.T) {
	o := mustParse(t, "{ \"n\" : \t9007199254740993 ,\r\n\"t\\u006fol\":\"B\\u0061sh\",\"f\":1.0,\"o\":{\"n\":2},\"nil\":null}")
	for sentence, c := range map[string]struct {
		name, want string
		found      bool
	}{
		"a number as it was written":       {"n", "9007199254740993", true},
		"a name that was written escaped":  {"tool", `"B\u0061sh"`, true},
		"a float keeps its zero":           {"f", "1.0", true},
		"an object":                        {"o", `{"n":2}`, true},
		"null is there":                    {"nil", "null", true},
		"a name in another case is absent": {"N", "", false},
		"members of members are not found": {"o.n", "", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			v, ok := o.Get(c.name)
			if ok != c.found || string(v) != c.want {
				t.Errorf("Get(%q) = %q, %v", c.name, v, ok)
			}
		})
	}
	if o.Len() != 5 {
		t.Errorf("Len() = %d", o.Len())
	}
}

func TestGetString(t *testing.T) {
	o := mustParse(t, `{"s":"a\n\u0062","e":"","n":5,"x":null}`)
	for sentence, c := range map[string]struct {
		name, want string
		ok         bool
	}{
		"text without its escapes":  {"s", "a\nb", true},
		"empty text is text":        {"e", "", true},
		"a number is no text":       {"n", "", false},
		"null is no text":           {"x", "", false},
		"what is not there is none": {"y", "", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, ok := o.GetString(c.name); got != c.want || ok != c.ok {
				t.Errorf("GetString(%q) = %q, %v", c.name, got, ok)
			}
		})
	}
}

func TestZeroObjectIsEmpty(t *testing.T) {
	var o Object
	if _, ok := o.Get("a"); ok || o.Len() != 0 || string(o.Bytes()) != "{}" {
		t.Errorf("zero Object: %q, %d members", o.Bytes(), o.Len())
	}
	if got := string(o.Over(Object{}, "now")); got != `{"timestamp":"now"}` {
		t.Errorf("Over = %s", got)
	}
	if got := string(o.With("a", []byte("1"))); got != `{"a":1}` {
		t.Errorf("With = %s", got)
	}
}

func TestOver(t *testing.T) {
	for sentence, c := range map[string]struct{ above, below, want string }{
		"nothing below, nothing above": {`{}`, `{}`, `{"timestamp":"NOW"}`},
		"untouched members keep every byte": {
			"{ \"n\" :  9007199254740993,\"f\":1.0,\"u\":\"\\u0041\\/\", \"w\" :\t[ 1 ,2 ] }", `{}`,
			"{\"n\" :  9007199254740993,\"f\":1.0,\"u\":\"\\u0041\\/\",\"w\" :\t[ 1 ,2 ],\"timestamp\":\"NOW\"}",
		},
		"defaults keep every byte too": {`{}`, `{ "n" : 9007199254740993 }`, `{"n" : 9007199254740993,"timestamp":"NOW"}`},
		"defaults come first":          {`{"a":1}`, `{"b":2}`, `{"b":2,"a":1,"timestamp":"NOW"}`},
		"data wins over defaults":      {`{"user":"eve"}`, `{"user":"adam","env":"prod"}`, `{"env":"prod","user":"eve","timestamp":"NOW"}`},
		"an explicit null wins over defaults": {
			`{"user":null}`, `{"user":"adam"}`, `{"user":null,"timestamp":"NOW"}`,
		},
		"the merge is shallow": {
			`{"meta":{"a":1}}`, `{"meta":{"b":2}}`, `{"meta":{"a":1},"timestamp":"NOW"}`,
		},
		"a name written with escapes is the same name": {
			`{"\u0075ser":"eve"}`, `{"user":"adam"}`, `{"\u0075ser":"eve","timestamp":"NOW"}`,
		},
		"the sender's timestamp is replaced":        {`{"timestamp":"1999","a":1}`, `{}`, `{"a":1,"timestamp":"NOW"}`},
		"the timestamp of the defaults is replaced": {`{"a":1}`, `{"timestamp":"1999"}`, `{"a":1,"timestamp":"NOW"}`},
		"both timestamps are replaced": {
			`{"timestamp":null}`, `{"timestamp":{"x":1},"b":2}`, `{"b":2,"timestamp":"NOW"}`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			above, below := mustParse(t, c.above), mustParse(t, c.below)
			got := above.Over(below, "NOW")
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := ParseObject(got); err != nil {
				t.Errorf("the result is refused: %v", err)
			}
			if string(above.Bytes()) != c.above || string(below.Bytes()) != c.below {
				t.Error("Over changed what it was given")
			}
		})
	}
}

func TestWith(t *testing.T) {
	for sentence, c := range map[string]struct{ raw, name, value, want string }{
		"a member keeps its place, all other bytes stay": {
			"{ \"a\" : 1.0,\n\"tool_input\" : {\"x\":1} , \"b\":2 }", "tool_input", `{"y":2}`,
			"{ \"a\" : 1.0,\n\"tool_input\" : {\"y\":2} , \"b\":2 }",
		},
		"a new member comes last":           {`{"a":1 }`, "b", "2", `{"a":1,"b":2 }`},
		"the first member of an object":     {` { } `, "b", "2", ` {"b":2 } `},
		"a name that must be escaped":       {`{}`, "a\"\n", "null", `{"a\"\n":null}`},
		"a name that was written escaped":   {`{"\u0061":1}`, "a", "2", `{"\u0061":2}`},
		"a member whose value is as before": {`{"a":1}`, "a", "1", `{"a":1}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := mustParse(t, c.raw).With(c.name, []byte(c.value))
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := ParseObject(got); err != nil {
				t.Errorf("the result is refused: %v", err)
			}
		})
	}
}

func TestMap(t *testing.T) {
	for raw, want := range map[string]string{
		"{ \"a\" : 1.0,\n\"b\\u0062\" : {\"x\":1} , \"c\":[2] }": "{ \"a\" : 1.0,\n\"b\\u0062\" : \"x\" , \"c\":[2] }",
		" { } ": " { } ",
		"":      "{}",
	} {
		var o Object
		if raw != "" {
			o = mustParse(t, raw)
		}
		got := o.Map(func(name string, value jsontext.Value) []byte {
			if name == "bb" {
				return []byte(`"x"`)
			}
			return value
		})
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}

func mustParse(t *testing.T, raw string) Object {
	t.Helper()
	o, err := ParseObject([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return o
}

// FuzzParseObject: what is accepted is accepted by encoding/json too, and a
// merge keeps the decoded value of every member.
func FuzzParseObject(f *testing.F) {
	for _, s := range []string{
		`{}`, ` {"a" : 1.0 , "b":[{"c":null}] } `, `{"a":"\u0061\ud83d\ude00"}`, `{"timestamp":"x","":{}}`, `{"a":1,"a":2}`,
		nested(64), nested(65), `[1]`, `{"a":9007199254740993}`, `{"a" :"\"}{:"}`, "{\"\":\"\xff\"}", `{"a":1}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		o, err := ParseObject(raw)
		if !bytes.Equal(before, raw) {
			t.Fatal("ParseObject changed its input")
		}
		if err != nil {
			return
		}
		want := decodeMembers(t, raw)
		if o.Len() != len(want) {
			t.Fatalf("%d members, encoding/json finds %d", o.Len(), len(want))
		}
		got := decodeMembers(t, o.Over(Object{}, "now"))
		if string(got["timestamp"]) != `"now"` {
			t.Fatalf("timestamp is %s", got["timestamp"])
		}
		delete(got, "timestamp")
		delete(want, "timestamp")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("the merge changed members (-want +got):\n%s", diff)
		}
		set := decodeMembers(t, o.With("timestamp", []byte("5")))
		if string(set["timestamp"]) != "5" || len(set) != len(want)+1 {
			t.Fatalf("With: %d members, timestamp %s", len(set), set["timestamp"])
		}
	})
}

// decodeMembers reads an object with encoding/json: the values byte for byte.
func decodeMembers(t *testing.T, raw []byte) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", raw, err)
	}
	return m
}
