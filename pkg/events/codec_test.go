package events

import (
	"encoding/json"
	"maps"
	"testing"

	ce "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"
)

// What the two modes of a CloudEvent cost: the router reads one per event and writes
// one per call. See docs/adr/0019-binary-mode.md.
func BenchmarkCodec(b *testing.B) {
	e := Event{
		ID: NewID(), Source: "/agents/7", Name: "tool:pre", Session: "s1", Time: Now(), Extensions: map[string]string{"tenant": "blue"},
		Data: json.RawMessage(`{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"ls -l"},"tool_call_id":"1"}`),
	}
	binary := map[string][]string{}
	e.SetHeader(binary)
	cloud := e.CloudEvent()
	structured, err := cloud.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	for name, read := range map[string]struct {
		header map[string][]string
		body   []byte
	}{"read/binary": {binary, e.Data}, "read/structured": {header("content-type", structuredType), structured}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got, _, err := Decode(e.Name, read.header, read.body); err != nil || got.ID != e.ID {
					b.Fatal(got, err)
				}
			}
		})
	}
	b.Run("write/binary", func(b *testing.B) {
		for b.Loop() {
			e.SetHeader(map[string][]string{})
		}
	})
	b.Run("write/structured", func(b *testing.B) {
		for b.Loop() {
			cloud := e.CloudEvent()
			if _, err := cloud.MarshalJSON(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Both codecs say the same of one event: what the SDK makes of an event that came in
// binary mode is what it makes of the same event in structured mode, and the other way
// round.
func TestBothModesAreOneEvent(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]Event{
		"the least":          {ID: "e1", Source: "/a", Name: "tool:pre", Data: json.RawMessage(`{}`)},
		"all attributes":     {ID: "e1", Source: "/a", Name: "tool:pre", Session: "s1", Time: "2026-01-02T03:04:05.000006Z", Extensions: map[string]string{"tenant": "blue"}, Data: json.RawMessage(`{"n":9007199254740993,"f":1.0}`)},
		"no ASCII":           {ID: "ev é/1", Source: "/a%20b", Name: "tool:pre", Session: "Zoë 漢字", Extensions: map[string]string{"tenant": "50 % \"off\""}, Data: json.RawMessage(`{"u":"\u0041é"}`)},
		"what looks escaped": {ID: "%41", Source: "/a", Name: "tool:pre", Session: "a%2Fb", Data: json.RawMessage(`{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			headers := map[string][]string{}
			e.SetHeader(headers)
			binary, _, err := Decode(e.Name, maps.Clone(headers), e.Data)
			if err != nil {
				t.Fatal(err)
			}
			cloud := binary.CloudEvent()
			written, err := cloud.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var read ce.Event
			if err := read.UnmarshalJSON(written); err != nil || read.Validate() != nil {
				t.Fatal(err, read.Validate())
			}
			structured, _, err := Decode(e.Name, header("content-type", structuredType), written)
			if err != nil {
				t.Fatal(err)
			}
			for mode, got := range map[string]Event{"binary": binary, "structured": structured} {
				if diff := cmp.Diff(e, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", mode, diff)
				}
			}
			again := map[string][]string{}
			structured.SetHeader(again)
			if diff := cmp.Diff(headers, again); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}
