package approval_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestChanges(t *testing.T) {
	for sentence, test := range map[string]struct{ from, to, want string }{
		"nothing":                                      {`{}`, `{}`, `[]`},
		"nothing but how it is written":                {`{"a":{"x":1,"y":"ä"},"l":[{"p":1,"q":2}]}`, ` { "l" : [ {"q":2, "p":1} ], "a" : {"y":"\u00e4","x": 1 } } `, `[]`},
		"the router's timestamp":                       {`{"timestamp":"yesterday","a":1}`, `{"a":1,"timestamp":"now"}`, `[]`},
		"a timestamp that the router adds":             {`{}`, `{"timestamp":"now"}`, `[]`},
		"a timestamp further down":                     {`{"a":{"timestamp":1}}`, `{"a":{"timestamp":2}}`, `[{"op":"replace","path":"/a/timestamp","value":2,"old":1}]`},
		"a member more":                                {`{"a":1}`, `{"a":1,"b":{"c":[ 1 ]}}`, `[{"op":"add","path":"/b","value":{"c":[ 1 ]}}]`},
		"a member less":                                {`{"a":1,"b": "x"}`, `{"a":1}`, `[{"op":"remove","path":"/b","old":"x"}]`},
		"a value":                                      {`{"a":"x"}`, `{"a":"y"}`, `[{"op":"replace","path":"/a","value":"y","old":"x"}]`},
		"a value deep down":                            {`{"a":{"b":{"c":1,"d":2}}}`, `{"a":{"b":{"c":1,"d":3}}}`, `[{"op":"replace","path":"/a/b/d","value":3,"old":2}]`},
		"another kind":                                 {`{"a":{"b":1}}`, `{"a":[1]}`, `[{"op":"replace","path":"/a","value":[1],"old":{"b":1}}]`},
		"a null that comes":                            {`{}`, `{"a":null}`, `[{"op":"add","path":"/a","value":null}]`},
		"a null that goes":                             {`{"a":null}`, `{}`, `[{"op":"remove","path":"/a","old":null}]`},
		"integers beyond 2^53":                         {`{"a":9007199254740992}`, `{"a":9007199254740993}`, `[{"op":"replace","path":"/a","value":9007199254740993,"old":9007199254740992}]`},
		"integers beyond 2^53 in a list":               {`{"a":[[9007199254740992]]}`, `{"a":[[9007199254740993]]}`, `[{"op":"replace","path":"/a/0","value":[9007199254740993],"old":[9007199254740992]}]`},
		"a number written in another way":              {`{"a":1e2,"b":-0}`, `{"a":100,"b":0}`, `[{"op":"replace","path":"/a","value":100,"old":1e2},{"op":"replace","path":"/b","value":0,"old":-0}]`},
		"the same number, twice as it is":              {`{"a":[1e2, 0.10]}`, `{"a":[1e2,0.10]}`, `[]`},
		"bytes of values stay":                         {`{"a":"<\/\u00e4>"}`, `{"a":{"b" :"<&\/>"}}`, `[{"op":"replace","path":"/a","value":{"b" :"<&\/>"},"old":"<\/\u00e4>"}]`},
		"names with ~ and /":                           {`{"a/b":{"~1":1}}`, `{"a/b":{"~1":2}}`, `[{"op":"replace","path":"/a~1b/~01","value":2,"old":1}]`},
		"a name that is empty":                         {`{"":1}`, `{"":2}`, `[{"op":"replace","path":"/","value":2,"old":1}]`},
		"a name with quotes and escapes":               {`{"\"\n":1}`, `{}`, `[{"op":"remove","path":"/\"\n","old":1}]`},
		"a name that is escaped in one":                {`{"\u0061":1}`, `{"a":1}`, `[]`},
		"an element":                                   {`{"a":[1,2,3]}`, `{"a":[1,5,3]}`, `[{"op":"replace","path":"/a/1","value":5,"old":2}]`},
		"an element is replaced as a whole":            {`{"a":[{"x":1,"y":2}]}`, `{"a":[{"x":1,"y":3}]}`, `[{"op":"replace","path":"/a/0","value":{"x":1,"y":3},"old":{"x":1,"y":2}}]`},
		"elements more, at the end":                    {`{"a":[1]}`, `{"a":[1,2,3]}`, `[{"op":"add","path":"/a/1","value":2},{"op":"add","path":"/a/2","value":3}]`},
		"elements less, the last one first":            {`{"a":[1,2,3]}`, `{"a":[1]}`, `[{"op":"remove","path":"/a/2","old":3},{"op":"remove","path":"/a/1","old":2}]`},
		"an element less at the beginning":             {`{"a":[1,2]}`, `{"a":[2]}`, `[{"op":"replace","path":"/a/0","value":2,"old":1},{"op":"remove","path":"/a/1","old":2}]`},
		"members that come stand before those that go": {`{"b":1}`, `{"a":1}`, `[{"op":"add","path":"/a","value":1},{"op":"remove","path":"/b","old":1}]`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := approval.Changes([]byte(test.from), []byte(test.to))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			checkPatch(t, test.from, test.to, got)
		})
	}
}

func TestChangesThatAreTooLongAreOneReplacement(t *testing.T) {
	long := strings.Repeat("x", approval.MaxChanges)
	many := func(value string) string {
		var b strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&b, `"m%d":%s,`, i, value)
		}
		return "{" + b.String() + `"end":0}`
	}
	list := func(value string) string { return `{"a":[` + strings.Repeat(value+",", 5000) + `0]}` }
	for sentence, test := range map[string]struct{ from, to string }{
		"a new value is long":           {`{"a":1}`, ` {"a":"` + long + `", "b":1} `},
		"a former value is long":        {`{"a":"` + long + `"}`, `{}`},
		"many members change":           {many("1"), many("2")},
		"many elements change":          {list("1"), list("2")},
		"many elements come":            {`{"a":[]}`, list("1")},
		"many elements go":              {list("1"), `{"a":[]}`},
		"a name is long, below it many": {`{"` + long + `":` + many("1") + `}`, `{"` + long + `":` + many("2") + `}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := approval.Changes([]byte(test.from), []byte(test.to))
			if err != nil {
				t.Fatal(err)
			}
			if want := `[{"op":"replace","path":"","value":` + strings.TrimSpace(test.to) + `}]`; string(got) != want {
				t.Errorf("the patch has %d bytes and begins %.80s, want %.80s", len(got), got, want)
			}
			checkPatch(t, test.from, test.to, got)
		})
	}
}

// A long path before many changes would make a patch of gigabytes.
func TestChangesThatAreTooLongTakeNoMemory(t *testing.T) {
	name := strings.Repeat("n", 60<<10)
	flat := func(value string) string {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, `"%d":%s,`, i, value)
		}
		return `{"` + name + `":{` + b.String() + `"":0}}`
	}
	list := func(value string) string {
		return `{"` + name + `":[` + strings.Repeat(value+",", 2000) + `0]}`
	}
	for sentence, pair := range map[string][2]string{
		"members": {flat("1"), flat("2")}, "elements": {list("1"), list("2")}, "elements that go": {list("1"), `{"` + name + `":[]}`},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := approval.Changes([]byte(pair[0]), []byte(pair[1])); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 20 {
			t.Errorf("%s: %d MB were allocated", sentence, n)
		}
	}
}

func TestChangesThatJustFit(t *testing.T) {
	frame := len(`[{"op":"add","path":"/a","value":""}]`)
	for n, whole := range map[int]bool{approval.MaxChanges - frame: false, approval.MaxChanges - frame + 1: true} {
		got, err := approval.Changes([]byte(`{}`), []byte(`{"a":"`+strings.Repeat("x", n)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(got, []byte(`"path":""`)) != whole {
			t.Errorf("a patch of %d bytes is one replacement: %v, want %v", n+frame, !whole, whole)
		}
	}
}

func TestChangesRefuses(t *testing.T) {
	for sentence, test := range map[string]struct{ from, to, says string }{
		"data as emitted that is a list":         {`[]`, `{}`, "data as emitted"},
		"data of the hooks that is null":         {`{}`, `null`, "after the hooks"},
		"a name twice, where the bytes are same": {`{"a":1,"a":1}`, `{"a":1,"a":1}`, "twice"},
		"nothing":                                {``, `{}`, "data as emitted"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := approval.Changes([]byte(test.from), []byte(test.to))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s, error %v, want in it %q", got, err, test.says)
			}
		})
	}
}

func TestApplyingTheChangesGivesTheOther(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		from, to := object(random, 4), object(random, 4)
		got, err := approval.Changes([]byte(from), []byte(to))
		if err != nil {
			t.Fatalf("%v\nfrom %s\nto   %s", err, from, to)
		}
		checkPatch(t, from, to, got)
	}
}

// object is a random JSON object; few names and values, so that two have much in
// common.
func object(random *rand.Rand, depth int) string {
	var members []string
	for _, name := range []string{"a", "b/c", "~", "timestamp", ""} {
		if random.IntN(2) == 0 {
			members = append(members, strconv.Quote(name)+": "+value(random, depth-1))
		}
	}
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ", ") + "}"
}

func value(random *rand.Rand, depth int) string {
	switch n := random.IntN(8); {
	case n < 3 && depth > 0:
		return object(random, depth)
	case n < 5 && depth > 0:
		elements := make([]string, random.IntN(4))
		for i := range elements {
			elements[i] = value(random, depth-1)
		}
		return "[" + strings.Join(elements, " ,") + "]"
	}
	return []string{"1", "1e0", "9007199254740993", `"x"`, `"\u0078"`, "null", "true"}[random.IntN(7)]
}

func FuzzChanges(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,{"c":2}]},"timestamp":1}`), []byte(`{"a":{"b":[1,{"c":3},4]},"d":null}`))
	f.Add([]byte(`{"~/":9007199254740993,"e":1e2}`), []byte(`{"~/":9007199254740992,"e":100}`))
	f.Add([]byte(odd), []byte(`{"esc":"ä/","big":9007199254740993}`))
	f.Fuzz(func(t *testing.T, from, to []byte) {
		got, err := approval.Changes(from, to)
		_, errFrom := events.ParseObject(from)
		_, errTo := events.ParseObject(to)
		if err != nil {
			if errFrom == nil && errTo == nil {
				t.Fatalf("%v", err)
			}
			return
		}
		if errFrom != nil || errTo != nil {
			t.Fatalf("what is no object was compared: %v, %v", errFrom, errTo)
		}
		checkPatch(t, string(from), string(to), got)
	})
}

// operation is one of a JSON Patch.
type operation struct {
	Op, Path   string
	Value, Old json.RawMessage
}

// checkPatch applies a patch and looks at what comes out, at its former values,
// and at its length.
func checkPatch(t *testing.T, from, to string, text []byte) {
	t.Helper()
	var patch []operation
	if err := json.Unmarshal(text, &patch); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	got, want := tree(t, []byte(from)), tree(t, []byte(to))
	for _, op := range patch {
		if op.Path == "" {
			got = tree(t, op.Value)
			continue
		}
		var names []string
		for name := range strings.SplitSeq(op.Path[1:], "/") {
			names = append(names, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
		got = apply(t, got, names, op)
	}
	for _, root := range []any{got, want} {
		delete(root.(map[string]any), "timestamp")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s makes of %s something else than %s (-want +got)\n%s", text, from, to, diff)
	}
	if whole := len(patch) == 1 && patch[0].Path == ""; len(text) > approval.MaxChanges && !whole {
		t.Fatalf("the patch has %d bytes", len(text))
	}
}

// apply applies an operation below at and returns what at is then.
func apply(t *testing.T, at any, names []string, op operation) any {
	t.Helper()
	name, rest := names[0], names[1:]
	var here any
	is := false
	list, isList := at.([]any)
	object, _ := at.(map[string]any)
	index, _ := strconv.Atoi(name)
	if isList {
		if is = index < len(list); is {
			here = list[index]
		}
	} else {
		here, is = object[name]
	}
	if len(rest) > 0 {
		here = apply(t, here, rest, op)
	} else {
		if is == (op.Op == "add") {
			t.Fatalf("%s %s: is there: %v", op.Op, op.Path, is)
		}
		if is {
			if diff := cmp.Diff(here, tree(t, op.Old)); diff != "" {
				t.Fatalf("%s %s: the former value (-want +got)\n%s", op.Op, op.Path, diff)
			}
		}
		if op.Op != "remove" {
			here = tree(t, op.Value)
		}
	}
	switch {
	case op.Op == "remove" && len(rest) == 0 && isList:
		return slices.Delete(list, index, index+1)
	case op.Op == "remove" && len(rest) == 0:
		delete(object, name)
	case isList && index == len(list):
		return append(list, here)
	case isList:
		list[index] = here
	default:
		object[name] = here
	}
	return at
}

// tree is a JSON value with its numbers as texts.
func tree(t *testing.T, text []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}
