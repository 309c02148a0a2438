package events

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	ce "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"
)

// header makes the headers of a message from name, value pairs.
func header(pairs ...string) map[string][]string {
	h := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = append(h[pairs[i]], pairs[i+1])
	}
	return h
}

// binary is what a binary-mode CloudEvent must have, and more headers.
func binary(more ...string) map[string][]string {
	return header(append([]string{
		"ce-specversion", "1.0", "ce-id", "e1", "ce-source", "/agent", "ce-type", "tool:pre",
	}, more...)...)
}

const structuredType = "application/cloudevents+json"

func TestDecode(t *testing.T) {
	const envelope = `{"specversion":"1.0","id":"e1","source":"/agent","type":"tool:pre","subject":"s1",` +
		`"time":"2026-01-02T03:04:05Z","custom":"x","number":7,"datacontenttype":"application/json",` +
		`"data":{"n":9007199254740993, "f":1.0}}`
	full := Event{
		ID: "e1", Source: "/agent", Name: "tool:pre", Session: "s1", Time: "2026-01-02T03:04:05Z",
		Extensions: map[string]string{"custom": "x", "number": "7"},
		Data:       json.RawMessage(`{"n":9007199254740993, "f":1.0}`),
	}
	for sentence, c := range map[string]struct {
		header map[string][]string
		body   string
		want   Event
	}{
		"binary mode": {
			binary("ce-subject", "s1", "ce-time", full.Time, "ce-custom", "x", "ce-number", "7"), string(full.Data), full,
		},
		"binary mode, names in any case": {
			header("CE-SpecVersion", "1.0", "Ce-Id", "e1", "cE-source", "/agent", "CE-TYPE", "tool:pre", "Ce-Subject", "s1",
				"ce-Time", full.Time, "Ce-Custom", "x", "CE-NUMBER", "7", "Content-Type", "application/json"),
			string(full.Data), full,
		},
		"binary mode, the same attribute twice with the same value": {
			binary("Ce-Id", "e1"), `{}`, Event{ID: "e1", Source: "/agent", Name: "tool:pre", Data: json.RawMessage(`{}`)},
		},
		"binary mode, escaped values": {
			binary("ce-subject", "caf%C3%A9%20%22%25%22"), `{}`,
			Event{ID: "e1", Source: "/agent", Name: "tool:pre", Session: `café "%"`, Data: json.RawMessage(`{}`)},
		},
		"binary mode, data that looks like an envelope is data": {
			binary(), envelope, Event{ID: "e1", Source: "/agent", Name: "tool:pre", Data: json.RawMessage(envelope)},
		},
		"structured mode":                  {header("content-type", structuredType), envelope, full},
		"structured mode, in another case": {header("Content-Type", "Application/CloudEvents+JSON"), envelope, full},
		"structured mode, with a charset":  {header("content-type", structuredType+"; charset=utf-8"), envelope, full},
		"structured mode, no content-type, as the official NATS binding sends it": {nil, envelope, full},
		"structured mode, data in base64, as the SDK sends bytes": {
			header("content-type", structuredType),
			`{"specversion":"1.0","id":"e1","source":"/agent","type":"tool:pre","data_base64":"eyJhIjoxfQ=="}`,
			Event{ID: "e1", Source: "/agent", Name: "tool:pre", Data: json.RawMessage(`{"a":1}`)},
		},
		"structured mode, data in base64, with white space and escapes as some libraries write them": {
			header("content-type", structuredType),
			`{ "data_base64" : "eyJhIjoi8J\u002BYgCJ9", "specversion" : "1.0", "id" : "e1", "source" : "/agent", "type" : "tool:pre" }`,
			Event{ID: "e1", Source: "/agent", Name: "tool:pre", Data: json.RawMessage(`{"a":"😀"}`)},
		},
		"structured mode, data in base64 behind its content type": {
			header("content-type", structuredType),
			`{"specversion":"1.0","id":"e1","source":"/agent","type":"tool:pre","datacontenttype":"application/json","data_base64": "eyJhIjoxfQ=="}`,
			Event{ID: "e1", Source: "/agent", Name: "tool:pre", Data: json.RawMessage(`{"a":1}`)},
		},
		"structured mode, data of 64 levels": {
			header("content-type", structuredType),
			`{"specversion":"1.0","id":"e1","source":"/agent","type":"tool:pre","data":` + nested(64) + `}`,
			Event{ID: "e1", Source: "/agent", Name: "tool:pre", Data: json.RawMessage(nested(64))},
		},
		"binary mode, data of 64 levels": {
			binary(), nested(64), Event{ID: "e1", Source: "/agent", Name: "tool:pre", Data: json.RawMessage(nested(64))},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, data, err := Decode("tool:pre", c.header, []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			if string(data.Bytes()) != string(got.Data) {
				t.Errorf("the object is %s", data.Bytes())
			}
		})
	}
}

func TestDecodePlainJSONFillsTheAttributesIn(t *testing.T) {
	for sentence, body := range map[string]string{
		"data of its own":                     `{"session_id":"s1","tool_name":"Bash"}`,
		"a type member is no envelope":        `{"session_id":"s1","type":"tool:pre"}`,
		"an envelope without id is data":      `{"session_id":"s1","type":"tool:pre","specversion":"1.0","source":"/a","data":{}}`,
		"an envelope of another event":        `{"session_id":"s1","type":"tool:post","specversion":"1.0","source":"/a","id":"1","data":{}}`,
		"an envelope of an unknown version":   `{"session_id":"s1","type":"tool:pre","specversion":"2.0","source":"/a","id":"1","data":{}}`,
		"an attribute that is no string":      `{"session_id":"s1","type":"tool:pre","specversion":"1.0","source":"/a","id":1,"data":{}}`,
		"a member that has the name of data ": `{"session_id":"s1","data":{"session_id":"s2"}}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			before := time.Now().Truncate(time.Microsecond)
			got, _, err := Decode("tool:pre", header("Hook-Timeout-Ms", "5"), []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			stamp, err := time.Parse(time.RFC3339Nano, got.Time)
			if err != nil || stamp.Before(before) || stamp.After(time.Now()) {
				t.Errorf("time %q, %v", got.Time, err)
			}
			if got.ID == "" || got.Source != DefaultSource || got.Name != "tool:pre" || got.Session != "s1" {
				t.Errorf("event %+v", got)
			}
			if string(got.Data) != body {
				t.Errorf("data %s", got.Data)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	without := func(name string) map[string][]string {
		h := binary()
		delete(h, name)
		return h
	}
	structured := header("content-type", structuredType)
	for sentence, c := range map[string]struct {
		header     map[string][]string
		body, want string
	}{
		"no specversion":                        {without("ce-specversion"), `{}`, "ce-specversion is missing"},
		"no id":                                 {without("ce-id"), `{}`, "ce-id is missing"},
		"no source":                             {without("ce-source"), `{}`, "ce-source is missing"},
		"no type":                               {without("ce-type"), `{}`, "ce-type is missing"},
		"an empty id":                           {header("ce-specversion", "1.0", "ce-id", "", "ce-source", "/a", "ce-type", "tool:pre"), `{}`, "ce-id is missing"},
		"one ce header alone":                   {header("Ce-Subject", "s1"), `{}`, "is missing"},
		"another version":                       {header("ce-specversion", "0.3", "ce-id", "1", "ce-source", "/a", "ce-type", "tool:pre"), `{}`, "only 1.0"},
		"a type that names another event":       {header("ce-specversion", "1.0", "ce-id", "1", "ce-source", "/a", "ce-type", "tool:post"), `{}`, "subject names"},
		"a type that is an alias":               {header("ce-specversion", "1.0", "ce-id", "1", "ce-source", "/a", "ce-type", "error:tool"), `{}`, "subject names"},
		"an attribute twice, in two cases":      {binary("Ce-Subject", "s1", "ce-subject", "s2"), `{}`, "ce-subject is given twice"},
		"an attribute twice":                    {map[string][]string{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"/a"}, "ce-type": {"tool:pre", "tool:post"}}, `{}`, "ce-type is given twice"},
		"an extension twice, in two cases":      {binary("Ce-X", "1", "ce-x", "2"), `{}`, "ce-x is given twice"},
		"a time that is none":                   {binary("ce-time", "yesterday"), `{}`, "ce-time"},
		"a source that is no URI":               {header("ce-specversion", "1.0", "ce-id", "1", "ce-source", ":%zz", "ce-type", "tool:pre"), `{}`, "ce-source"},
		"an id that is no UTF-8":                {header("ce-specversion", "1.0", "ce-id", "%FF", "ce-source", "/a", "ce-type", "tool:pre"), `{}`, "ce-id is not text"},
		"an extension that is no UTF-8":         {binary("ce-hookparent", "%ED%A0%80"), `{}`, "ce-hookparent is not text"},
		"an extension's name with a hyphen":     {binary("ce-my-ext", "1"), `{}`, "ce-my-ext"},
		"an extension without a name":           {binary("ce-", "1"), `{}`, "a-z and 0-9"},
		"binary mode, data is no object":        {binary(), `[1]`, "not an array"},
		"binary mode, no data":                  {binary(), ``, "ends too early"},
		"binary mode, a name twice":             {binary(), `{"a":1,"a":2}`, "twice"},
		"binary mode, 65 levels":                {binary(), nested(65), "deeper than 64"},
		"plain data is no object":               {nil, `"Bash"`, "not a string"},
		"plain data is no JSON":                 {nil, `Bash`, "not JSON"},
		"both modes at once":                    {binary("content-type", structuredType), `{}`, "use one mode"},
		"both modes, the type in two cases":     {binary("content-type", "text/plain", "Content-Type", structuredType), `{}`, "use one mode"},
		"structured, no envelope":               {structured, `{"tool_name":"Bash"}`, "not valid"},
		"structured, no JSON":                   {structured, `Bash`, "not JSON"},
		"structured, a type of another event":   {structured, `{"specversion":"1.0","id":"1","source":"/a","type":"tool:post","data":{}}`, "subject names"},
		"structured, no id":                     {structured, `{"specversion":"1.0","source":"/a","type":"tool:pre","data":{}}`, "not valid"},
		"structured, version 0.3":               {structured, `{"specversion":"0.3","id":"1","source":"/a","type":"tool:pre","data":{}}`, "only 1.0"},
		"structured, data is text":              {structured, `{"specversion":"1.0","id":"1","source":"/a","type":"tool:pre","data":"x"}`, "not a string"},
		"structured, text in base64":            {structured, `{"specversion":"1.0","id":"1","source":"/a","type":"tool:pre","data_base64":"eA=="}`, "not JSON"},
		"structured, data_base64 is an object":  {structured, `{"specversion":"1.0","id":"1","source":"/a","type":"tool:pre","data_base64":{}}`, "must be a string"},
		"structured, data_base64 is no base64":  {structured, `{"specversion":"1.0","id":"1","source":"/a","type":"tool:pre","data_base64":"e30"}`, "data_base64"},
		"structured, data in both forms":        {structured, `{"specversion":"1.0","id":"1","source":"/a","type":"tool:pre","data":{},"data_base64":"e30="}`, "both data and data_base64"},
		"structured, an attribute twice":        {structured, `{"specversion":"1.0","id":"1","id":"2","source":"/a","type":"tool:pre","data":{}}`, "twice"},
		"structured, an attribute without name": {structured, `{"specversion":"1.0","id":"1","source":"/a","type":"tool:pre","":1,"subject":"s1","data":{}}`, "no name"},
		"structured, data of 65 levels":         {structured, `{"specversion":"1.0","id":"1","source":"/a","type":"tool:pre","data":` + nested(65) + `}`, "deeper than 64"},
		"structured, without content-type: it":  {nil, `{"specversion":"1.0","id":"1","source":"/a","type":"tool:pre"}`, "no data"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, _, err := Decode("tool:pre", c.header, []byte(c.body))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 300 {
				t.Errorf("the error is not one short line: %q", err)
			}
		})
	}
}

func TestSession(t *testing.T) {
	long := strings.Repeat("s", MaxSessionLen)
	for sentence, c := range map[string]struct {
		subject, data, want string
		refused             bool
	}{
		"from the data":                          {"", `{"session_id":"s1"}`, "s1", false},
		"from the subject":                       {"s1", `{}`, "s1", false},
		"both the same":                          {"s1", `{"session_id":"s1"}`, "s1", false},
		"both the same, one written with escape": {"s1", `{"session_id":"\u0073\u0031"}`, "s1", false},
		"none":                                   {"", `{}`, "", false},
		"null in the data means none there":      {"s1", `{"session_id":null}`, "s1", false},
		"empty text in the data means none":      {"s1", `{"session_id":""}`, "s1", false},
		"both and different":                     {"s1", `{"session_id":"s2"}`, "", true},
		"a number":                               {"", `{"session_id":7}`, "", true},
		"an object":                              {"s1", `{"session_id":{}}`, "", true},
		"the longest one":                        {long, `{}`, long, false},
		"too long in the subject":                {long + "s", `{}`, "", true},
		"too long in the data":                   {"", `{"session_id":"` + long + `s"}`, "", true},
		"no UTF-8":                               {"%FF", `{}`, "", true},
		"NUL in the subject":                     {"s%00", `{}`, "", true},
		"NUL in the data":                        {"", `{"session_id":"s\u0000nats agent/coder"}`, "", true},
		"a nested one is data":                   {"", `{"tool_input":{"session_id":"s2"}}`, "", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := binary()
			if c.subject != "" {
				h["ce-subject"] = []string{c.subject}
			}
			got, _, err := Decode("tool:pre", h, []byte(c.data))
			if (err != nil) != c.refused || got.Session != c.want {
				t.Errorf("session %q, error %v", got.Session, err)
			}
		})
	}
}

func TestDecodeSurvivesItsOwnHeaders(t *testing.T) {
	want := Event{
		ID: "é 1%", Source: "/agent?x=%41", Name: "tool:pre", Session: "line\nbreak\x01\"", Time: Now(),
		Extensions: map[string]string{"trace": "a b\x00"}, Data: json.RawMessage(`{"a":1}`),
	}
	h := header("Hook-Chain-Id", "kept")
	want.SetHeader(h)
	for name, values := range h {
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("header %s is %q", name, v)
			}
		}
	}
	if h["Hook-Chain-Id"][0] != "kept" {
		t.Error("SetHeader touched another header")
	}
	got, _, err := Decode("tool:pre", h, want.Data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCloudEventRoundTrip(t *testing.T) {
	for sentence, want := range map[string]Event{
		"everything set": {
			ID: "e1", Source: "/agent", Name: "tool:pre", Session: "s1", Time: "2026-01-02T03:04:05.000006Z",
			Extensions: map[string]string{"custom": "x"}, Data: json.RawMessage(`{"n":9007199254740993,"f":1.0,"u":"\u0041<>"}`),
		},
		"only what must be": {ID: "e1", Source: "/agent", Name: "my:event", Data: json.RawMessage(`{}`)},
	} {
		t.Run(sentence, func(t *testing.T) {
			cloud := want.CloudEvent()
			if err := cloud.Validate(); err != nil {
				t.Fatal(err)
			}
			body, err := cloud.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var read ce.Event
			if err := read.UnmarshalJSON(body); err != nil {
				t.Fatal(err)
			}
			for _, h := range []map[string][]string{nil, header("content-type", structuredType)} {
				got, _, err := Decode(want.Name, h, body)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestEscape(t *testing.T) {
	for _, c := range []struct{ plain, escaped string }{
		{"plain-value/1:2", "plain-value/1:2"},
		{"", ""},
		{"a b", "a%20b"},
		{`100%"`, "100%25%22"},
		{"€ und 😀", "%E2%82%AC%20und%20%F0%9F%98%80"},
		{"\x00\r\n\x7f\xff", "%00%0D%0A%7F%FF"},
		{"%41", "%2541"},
		{"a+b", "a+b"},
	} {
		if got := Escape(c.plain); got != c.escaped {
			t.Errorf("Escape(%q) = %q, want %q", c.plain, got, c.escaped)
		}
		if got := Unescape(c.escaped); got != c.plain {
			t.Errorf("Unescape(%q) = %q, want %q", c.escaped, got, c.plain)
		}
	}
	for _, raw := range []string{"50%", "%zz", "%4"} {
		if got := Unescape(raw); got != raw {
			t.Errorf("Unescape(%q) = %q: what is not well escaped stays", raw, got)
		}
	}
}

func TestEventDecodeMatchesNamesExactly(t *testing.T) {
	ev := Event{Name: ToolPre, Data: json.RawMessage(
		`{"tool_name":"Bash","Tool_Name":"Read","TOOL_INPUT":{"command":"ls"},"tool_input":{"command":"rm -rf /","Command":"ls","n":9007199254740993}}`)}
	var d ToolPreData
	if err := ev.Decode(&d); err != nil {
		t.Fatal(err)
	}
	var input struct {
		Command string `json:"command"`
	}
	if err := d.DecodeInput(&input); err != nil {
		t.Fatal(err)
	}
	if d.ToolName != "Bash" || input.Command != "rm -rf /" {
		t.Errorf("tool %q, command %q: a hook judged another member than the tool sees", d.ToolName, input.Command)
	}
	if !strings.Contains(string(d.ToolInput), "9007199254740993") {
		t.Errorf("tool_input is %s", d.ToolInput)
	}
}

func TestEventDecodeFailsOnAnotherType(t *testing.T) {
	ev := Event{Name: ToolPre, Data: json.RawMessage(`{"tool_name":5}`)}
	if err := ev.Decode(&ToolPreData{}); err == nil || !strings.Contains(err.Error(), ToolPre) {
		t.Errorf("error %v", err)
	}
	d := ToolPreData{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":5}`)}
	var input struct {
		Command string `json:"command"`
	}
	if err := d.DecodeInput(&input); err == nil || !strings.Contains(err.Error(), "Bash") {
		t.Errorf("error %v", err)
	}
}

func TestDecodeInputOfNoInputChangesNothing(t *testing.T) {
	v := struct{ Kept string }{"kept"}
	if err := (&ToolPostData{}).DecodeInput(&v); err != nil || v.Kept != "kept" {
		t.Errorf("%+v, %v", v, err)
	}
}

// FuzzDecode: what is accepted can be sent on and is read as the same event.
func FuzzDecode(f *testing.F) {
	envelope := `{"specversion":"1.0","id":"e1","source":"/a","type":"tool:pre","subject":"s1","data":{"a":1}}`
	f.Add("", "", "", "", []byte(`{"session_id":"s1"}`))
	f.Add("e1", "/agent", "s1", "", []byte(`{"a":1.0}`))
	f.Add("é%", ":%zz", "s\n", "text/plain", []byte(`{}`))
	f.Add("", "", "", structuredType, []byte(envelope))
	f.Add("", "", "", "", []byte(envelope))
	f.Fuzz(func(t *testing.T, id, source, subject, contentType string, body []byte) {
		h := map[string][]string{}
		if id != "" {
			h = header("ce-specversion", "1.0", "Ce-Id", id, "ce-source", source, "CE-type", "tool:pre", "ce-subject", subject)
		}
		if contentType != "" {
			h["content-type"] = []string{contentType}
		}
		first, data, err := Decode("tool:pre", h, body)
		if err != nil {
			return
		}
		if !json.Valid(first.Data) || data.Bytes() == nil || CheckSession(first.Session) != nil || first.Name != "tool:pre" {
			t.Fatalf("accepted as %+v", first)
		}
		again := map[string][]string{}
		first.SetHeader(again)
		second, _, err := Decode("tool:pre", again, first.Data)
		if err != nil {
			t.Fatalf("%+v can't be sent on: %v", first, err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("sent on, it is another event (-first +second):\n%s", diff)
		}
	})
}

func TestAnEventThatIsNotValidIsToldAlwaysInTheSameWords(t *testing.T) {
	t.Parallel()
	header := map[string][]string{"content-type": {"application/cloudevents+json"}}
	said := map[string]bool{}
	for range 50 {
		_, _, err := Decode("a:b", header, []byte(`{"specversion":"1.0","type":"a:b"}`))
		if err == nil {
			t.Fatal("an event without id and source was taken")
		}
		said[err.Error()] = true
	}
	if len(said) != 1 {
		t.Errorf("it was told as %v", said)
	}
}
