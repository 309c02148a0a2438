package traces_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/telemetry/traces"
)

// odd is an answer with what storages and other programs do to traces: a span twice, a
// parent that is missing, one that is in another trace, spans that are below themselves.
const odd = `{"data":[{"traceID":"t","processes":{"p":{"serviceName":"s"}},"warnings":null,"spans":[
	{"spanID":"late","operationName":"late","startTime":30,"duration":1,"processID":"p","references":[{"refType":"CHILD_OF","traceID":"t","spanID":"top"}]},
	{"spanID":"top","operationName":"top","startTime":10,"duration":50,"processID":"p","tags":[{"key":"error","type":"bool","value":true},{"key":"hookrouter.hooks","type":"int64","value":9007199254740993}]},
	{"spanID":"top","operationName":"again","startTime":10,"duration":50},
	{"spanID":"early","operationName":"early","startTime":20,"duration":1,"processID":"none","references":[{"refType":"FOLLOWS_FROM","traceID":"t","spanID":"late"},{"refType":"CHILD_OF","traceID":"t","spanID":"top"}],"tags":[{"key":"error","value":true},{"key":"otel.status_description","value":"time\u001bout"},{"key":"other","value":"x"}]},
	{"spanID":"orphan","operationName":"orphan","startTime":5,"references":[{"refType":"CHILD_OF","traceID":"t","spanID":"lost"}]},
	{"spanID":"stranger","operationName":"stranger","startTime":40,"references":[{"refType":"CHILD_OF","traceID":"u","spanID":"top"}]},
	{"spanID":"x","operationName":"x","references":[{"refType":"CHILD_OF","traceID":"t","spanID":"y"}]},
	{"spanID":"y","operationName":"y","references":[{"refType":"CHILD_OF","traceID":"t","spanID":"x"}]},
	{"spanID":"self","operationName":"self","references":[{"refType":"CHILD_OF","traceID":"t","spanID":"self"}]},
	{"spanID":"","operationName":"nobody"}]}]}`

func TestParseMakesATreeOfWhateverComes(t *testing.T) {
	list, err := traces.Parse([]byte(odd))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	at := func(us int64) time.Time { return time.UnixMicro(us).UTC() }
	tags := map[string]string{}
	want := []traces.Span{
		{ID: "orphan", Parent: "lost", Name: "orphan", Start: at(5), Tags: tags},
		{ID: "top", Name: "top", Service: "s", Start: at(10), Took: 50 * time.Microsecond, Failed: "error", Tags: map[string]string{"error": "true", "hookrouter.hooks": "9007199254740993"}},
		{ID: "early", Parent: "top", Depth: 1, Name: "early", Start: at(20), Took: time.Microsecond, Failed: "time\x1bout", Tags: map[string]string{"error": "true", "otel.status_description": "time\x1bout"}},
		{ID: "late", Parent: "top", Depth: 1, Name: "late", Service: "s", Start: at(30), Took: time.Microsecond, Tags: tags},
		{ID: "stranger", Name: "stranger", Start: at(40), Tags: tags},
	}
	if diff := cmp.Diff(want, list[0].Spans); diff != "" {
		t.Error(diff)
	}
	if from, to := list[0].Bounds(); from != at(5) || to != at(60) {
		t.Errorf("it lasts from %v to %v", from, to)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(odd))
	f.Add([]byte(`{"data":[],"errors":[{"code":404,"msg":"trace not found","traceID":"1"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := traces.Parse(body)
		if err != nil {
			return
		}
		for _, one := range list {
			known := map[string]int{} // depths
			for _, s := range one.Spans {
				if _, twice := known[s.ID]; twice || s.ID == "" {
					t.Errorf("the span %q stands there twice, or has no id", s.ID)
				}
				above, there := known[s.Parent]
				if there && s.Depth != above+1 || !there && s.Depth != 0 {
					t.Errorf("the span %q at depth %d does not stand below its parent", s.ID, s.Depth)
				}
				if s.Took < 0 || s.Tags == nil || s.End().Before(s.Start) {
					t.Errorf("the span %q is %+v", s.ID, s)
				}
				known[s.ID] = s.Depth
			}
			one.Bounds()
			one.Chain("c1")
		}
	})
}
