package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// export is one of OTLP that holds spans, each a trace's id and a name.
func export(spans ...[2]string) []byte {
	field := func(to []byte, number protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), value)
	}
	var scope []byte
	for _, s := range spans {
		span := field(nil, fieldTraceID, []byte(s[0]))
		span = protowire.AppendFixed64(protowire.AppendTag(span, 7, protowire.Fixed64Type), 1) // a time
		scope = field(scope, fieldSpans, field(span, 5, []byte(s[1])))
	}
	return field(nil, fieldResourceSpans, field(field(nil, 1, []byte("resource")), fieldScopeSpans, scope))
}

func send(c *collector, path string, body []byte) int {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body))))
	return w.Code
}

func TestTheCollectorCountsWhatItGot(t *testing.T) {
	const one, two, three = "0123456789abcdef", "fedcba9876543210", "0000000000000003"
	c := &collector{from: map[string]*received{}}
	for _, body := range [][]byte{
		export([2]string{one, "event " + deniedMark + "1"}, [2]string{one, "call"}, [2]string{two, "event"}),
		export([2]string{one, "call"}, [2]string{one, "call"}, [2]string{three, deniedMark + "2"}), // of which spans are missing
	} {
		if code := send(c, "/every/v1/traces", body); code != http.StatusOK {
			t.Fatalf("the collector answers %d", code)
		}
	}
	for whose, want := range map[string]string{
		"every": `{"spans":6,"traces":3,"denied":1}`,
		"tenth": `{"spans":0,"traces":0,"denied":0}`,
	} {
		if got, err := c.count(whose); err != nil || got != want {
			t.Errorf("from %s came %s, %v; want %s", whose, got, err, want)
		}
	}
}

func TestTheCollectorRefusesWhatItCannotRead(t *testing.T) {
	c := &collector{from: map[string]*received{}}
	whole := export([2]string{"0123456789abcdef", "event"})
	for n := 1; n < len(whole); n++ {
		if code := send(c, "/every/v1/traces", whole[:n]); code != http.StatusBadRequest {
			t.Errorf("the first %d of %d bytes are answered with %d", n, len(whole), code)
		}
	}
}

func TestEveryFiftiethEventIsToBeDenied(t *testing.T) {
	a, n := arm{denyOneOf: 50}, 0
	for k := range 240 {
		if a.denies(k) {
			n++
		}
		if (arm{}).denies(k) {
			t.Fatal("an arm denies that has nothing to deny")
		}
	}
	if n != 240/50 {
		t.Errorf("%d of 240 are denied, want 4", n)
	}
}

func TestTracingIsJudgedByWhatArrived(t *testing.T) {
	d := delivery{1000, counted{Spans: 985, Traces: 120, Denied: 20}}
	if f := droppedSpans(d, &sample{elapsed: 1}); f.ok() || f.Value != 1.5 {
		t.Errorf("15 spans of 1000 did not arrive: %+v", f)
	}
	if f := droppedSpans(delivery{1000, counted{Spans: 990}}, &sample{elapsed: 1}); !f.ok() {
		t.Errorf("10 spans of 1000 did not arrive: %+v", f)
	}
	if f := deniedTraces(d, 20, 1000); !f.ok() || !strings.Contains(f.Note, "12.0 %") {
		t.Errorf("all denied events have their traces: %+v", f)
	}
	if f := deniedTraces(d, 21, 1000); f.ok() {
		t.Errorf("a denied event has no trace: %+v", f)
	}
	if got := (delivery{100, counted{Spans: 90}}).since(delivery{60, counted{Spans: 60}}); got.made != 40 || got.Spans != 30 {
		t.Errorf("since = %+v", got)
	}
}
