package worker_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// spans are those that the workers of this process made, through OpenTelemetry's
// global tracer.
var spans = sync.OnceValue(func() *tracetest.SpanRecorder {
	made := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(made)))
	return made
})

func spanOf(name string) sdktrace.ReadOnlySpan {
	for _, one := range spans().Ended() {
		if one.Name() == name {
			return one
		}
	}
	return nil
}

// A handler's span is below the call; of a hook that only observes it is a trace of
// its own, with a link to the event. What is no trace context makes no span.
func TestASpanOfAHandler(t *testing.T) {
	t.Parallel()
	spans()
	const id, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	const traceparent = "00-" + id + "-" + parent + "-01"
	for name, tt := range map[string]struct {
		hook, mode, traceparent string
		below, linked           bool
	}{
		"a hook that decides":     {"enforces", "enforce", traceparent, true, false},
		"a shadow":                {"shadows", "shadow", traceparent, true, false},
		"one that observes":       {"observes", "observe", traceparent, false, true},
		"no trace context":        {"none", "enforce", "", false, false},
		"malformed trace context": {"malformed", "observe", "00-" + id, false, false},
		"10 KB of it":             {"endless", "observe", "01" + traceparent[2:] + "-" + strings.Repeat("x", 10<<10), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{})
			w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{})
			in := make(chan trace.SpanContext, 1)
			register(t, w, worker.Registration{ID: tt.hook}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
				in <- trace.SpanContextFromContext(ctx)
				return worker.Continue()
			})
			nc := natstest.Conn(t, s)
			msg := &nats.Msg{Subject: "hooks.call." + tt.hook, Data: []byte(`{}`), Header: nats.Header{
				"ce-specversion": {"1.0"}, "ce-id": {"e1"}, "ce-source": {"/a"}, "ce-type": {"tool:pre"}, "Hook-Mode": {tt.mode}, "traceparent": {tt.traceparent},
			}}
			if _, err := nc.RequestMsg(msg, patience); err != nil {
				t.Fatal(err)
			}
			got := <-in
			if made := tt.below || tt.linked; got.IsValid() != made {
				t.Fatalf("the handler's context names the span %v", got)
			} else if !made {
				return
			}
			eventually(t, "the span is over", func() bool { return spanOf("hook "+tt.hook) != nil })
			span := spanOf("hook " + tt.hook)
			if below := span.Parent().SpanID().String() == parent && got.TraceID().String() == id; below != tt.below {
				t.Errorf("below the call: %v", below)
			}
			links := span.Links()
			if linked := len(links) == 1 && links[0].SpanContext.SpanID().String() == parent && got.TraceID().String() != id; linked != tt.linked {
				t.Errorf("linked to the event: %v", links)
			}
			if consumer := span.SpanKind() == trace.SpanKindConsumer; consumer != tt.linked {
				t.Errorf("its kind is %v", span.SpanKind())
			}
		})
	}
}
