package attack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// TestOneEventStopsNoRouter: one event, however large its attributes and its data, stops no router,
// and hides no other event from the log.
func TestOneEventStopsNoRouter(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{Audit: auditlog.Options{Recorder: recorder.Options{Mode: recorder.Strict}}})
	rival, coder := w.byHand("rival"), w.byHand("coder")
	plain := func(id, more, body string) string {
		return rival.request("hooks.execute.tool.pre", fmt.Sprintf("NATS/1.0\r\nce-specversion: 1.0\r\nce-id: %s\r\nce-source: /x\r\nce-type: tool:pre\r\nce-time: 2026-01-02T03:04:05Z\r\n%s\r\n", id, more), body)
	}
	for name, answer := range map[string]string{
		"an id":        plain(strings.Repeat(`"`, 900<<10), "", "{}"),
		"an extension": plain("e1", "ce-x: "+strings.Repeat(`"`, 900<<10)+"\r\n", "{}"),
	} {
		if !strings.Contains(answer, "Nats-Service-Error-Code: 413") {
			t.Errorf("%s of 900 KiB: %.300s", name, answer)
		}
	}
	for i := range 3 { // the record is as large as the batches of records, or larger
		data := `{"pad":"` + strings.Repeat("x", 261_700+i*100) + `"}`
		if answer := plain(fmt.Sprint("large-", i), "", data); !strings.Contains(answer, `"action":"continue"`) {
			t.Errorf("%d bytes of data: %.300s", len(data), answer)
		}
		if answer := coder.request("hooks.execute.tool.pre", "NATS/1.0\r\nA: b\r\n\r\n", "{}"); !strings.Contains(answer, `"action":"continue"`) {
			t.Errorf("the next event of another agent: %.300s", answer)
		}
	}
	if n := w.results(t); n != 6 {
		t.Errorf("the log has the results of %d of 6 events", n)
	}
}

// results counts the results of chains in the log, each message of which has records.
func (w *authBus) results(t *testing.T) (n int) {
	t.Helper()
	ctx := testkit.Within(t, testkit.Patience)
	js, err := jetstream.New(w.conn("keeper").Conn())
	ok(t, err)
	messages, err := js.OrderedConsumer(ctx, "HOOKS_AUDIT", jetstream.OrderedConsumerConfig{FilterSubjects: []string{"hooks.audit.w.>"}})
	ok(t, err)
	for {
		m, err := messages.Next(jetstream.FetchMaxWait(testkit.Patience))
		ok(t, err)
		lines, err := audit.Lines(m.Data())
		ok(t, err)
		if len(lines) == 0 {
			t.Error("a message has no records: the next ones are dropped as its duplicates")
		}
		for _, line := range lines {
			var record struct{ Kind audit.Kind }
			ok(t, json.Unmarshal(line, &record))
			if record.Kind == audit.ChainResult {
				n++
			}
		}
		at, err := m.Metadata()
		ok(t, err)
		if at.NumPending == 0 {
			return n
		}
	}
}
