package telemetry_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/telemetry/otlp"
)

// collecting is a collector that tells how many spans came with each export.
func collecting(t *testing.T) (url string, spans <-chan int) {
	t.Helper()
	came := make(chan int, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var export coltracepb.ExportTraceServiceRequest
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = proto.Unmarshal(body, &export)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		n := 0
		for _, resource := range export.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				n += len(scope.GetSpans())
			}
		}
		came <- n
	}))
	t.Cleanup(server.Close)
	return server.URL, came
}

// spansOf are those of one chain of three().
const spansOf = 5

func tell(shown *telemetry.Telemetry, chains int) {
	for range chains {
		c := three()
		shown.Tracer.Chain(shown.Tracer.Begin(telemetry.Sender{Session: "s1", ChainID: c.ChainID}), c)
	}
}

func TestSpansOfAQuietRouterAreSentInTime(t *testing.T) {
	url, came := collecting(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10") // ms
	shown := start(t, telemetry.Options{Exporters: otlp.Exporters()})
	for round := range 2 { // the second time, what was gathered is gone
		tell(shown, 1)
		for n := 0; n < spansOf; {
			select {
			case more := <-came:
				n += more
			case <-time.After(10 * time.Second):
				t.Fatalf("%d of %d spans came in round %d", n, spansOf, round)
			}
		}
	}
}

func TestNoSpanIsLostOnItsWayToTheQueue(t *testing.T) {
	for name, stop := range map[string]func(*telemetry.Telemetry) error{
		"when it is told to send": func(shown *telemetry.Telemetry) error {
			_, err := shown.Tracer.Flush(context.Background())
			return err
		},
		"at the end": func(shown *telemetry.Telemetry) error { return shown.Stop(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			url, came := collecting(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
			t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000") // an hour
			shown := start(t, telemetry.Options{Exporters: otlp.Exporters()})
			const chains = 1001
			tell(shown, chains)
			if err := stop(shown); err != nil {
				t.Fatal(err)
			}
			n := 0
			for len(came) > 0 {
				n += <-came
			}
			if n != chains*spansOf {
				t.Errorf("%d spans came, want %d", n, chains*spansOf)
			}
		})
	}
}

// A queue of a size that somebody chose may be smaller than what is gathered.
func TestASmallQueueLosesNothingInAQuietHour(t *testing.T) {
	url, came := collecting(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "10")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "5")
	shown := start(t, telemetry.Options{Exporters: otlp.Exporters()})
	for range 20 {
		tell(shown, 1)
		select {
		case n := <-came:
			if n != spansOf {
				t.Fatalf("%d spans came of a chain, want %d", n, spansOf)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("no spans came")
		}
	}
	if made, err := shown.Tracer.Flush(t.Context()); made != 20*spansOf || err != nil {
		t.Errorf("%d spans were made, %v; want %d", made, err, 20*spansOf)
	}
}

func TestATracerThatIsNotThereSendsNothing(t *testing.T) {
	var none *telemetry.Tracer
	if made, err := none.Flush(t.Context()); made != 0 || err != nil {
		t.Errorf("Flush = %d, %v", made, err)
	}
}
