package traces_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/telemetry/traces"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serving is an API that answers as told. What a true Jaeger answers is tested in
// test/integration.
func serving(t *testing.T, answer http.HandlerFunc) *traces.Jaeger {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	j, err := traces.NewJaeger(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	for name, tt := range map[string]struct {
		code       int
		body, says string
	}{
		"no JSON":               {200, "<html>", "not an answer of Jaeger's API"},
		"nothing":               {200, "", "not an answer of Jaeger's API"},
		"a list":                {200, "[]", "not an answer of Jaeger's API"},
		"a wrong type":          {200, `{"data":[{"spans":[{"startTime":"now"}]}]}`, "not an answer of Jaeger's API"},
		"a time below 0":        {200, `{"data":[{"spans":[{"startTime":-1}]}]}`, "not an answer of Jaeger's API"},
		"a time beyond all":     {200, `{"data":[{"spans":[{"spanID":"1","startTime":18446744073709551615}]}]}`, "impossible time"},
		"a duration beyond all": {200, `{"data":[{"spans":[{"spanID":"1","duration":9007199254740993}]}]}`, "impossible time"},
		"an error in the body":  {200, `{"data":null,"errors":[{"msg":"the storage is away"}]}`, "the storage is away"},
		"an error":              {500, "", "answers 500 Internal Server Error"},
		"a page to log in":      {401, "", "answers 401 Unauthorized"},
		"too much":              {200, strings.Repeat(" ", 33<<20), "more than 32 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			j := serving(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.code)
				_, _ = w.Write([]byte(tt.body))
			})
			if _, err := j.Chain(t.Context(), "hook-router", "c1", time.Time{}); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestJaegerThatDoesNotAnswerIsUnreachable(t *testing.T) {
	hang := make(chan struct{})
	j := serving(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	defer close(hang)
	j.SetPatience(50 * time.Millisecond)
	gone := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000") // and does not keep it
		_, _ = w.Write([]byte("{"))
	})
	for name, j := range map[string]*traces.Jaeger{"it hangs": j, "it hangs up": gone} {
		_, err := j.Chain(t.Context(), "hook-router", "c1", time.Time{})
		if _, unavailable := errors.AsType[*traces.UnavailableError](err); !unavailable {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestNothingFoundIsNoTrace(t *testing.T) {
	// A trace that only speaks of the chain, as a decision's does, is not the chain's.
	j := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/traces") {
			fmt.Fprint(w, `{"data":[{"traceID":"1","spans":[{"spanID":"a","operationName":"decide h","tags":[{"key":"hookrouter.chain.id","value":"c1"},{"key":"hookrouter.hook.id","value":"h"},{"key":"span.kind","value":"server"}]}]}]}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
	if _, err := j.Chain(t.Context(), "hook-router", "c1", time.Time{}); !errors.Is(err, traces.ErrNone) {
		t.Errorf("a chain: %v", err)
	}
	if _, err := j.Trace(t.Context(), strings.Repeat("0a", 16)); !errors.Is(err, traces.ErrNone) {
		t.Errorf("a trace: %v", err)
	}
	for _, id := range []string{"", "x", "0a", strings.Repeat("0", 33), "../services/00000000000000000000"} {
		if _, err := j.Trace(t.Context(), id); err == nil || !strings.Contains(err.Error(), "32 digits") {
			t.Errorf("%q is asked for: %v", id, err)
		}
	}
}

func TestTheQuestionToJaegerIsBounded(t *testing.T) {
	asked := make(chan *http.Request, 1)
	j := serving(t, func(_ http.ResponseWriter, r *http.Request) { asked <- r })
	_, _ = j.Chain(t.Context(), "r&s", `c"1&limit=9`, time.UnixMicro(7200e6))
	q := (<-asked).URL.Query()
	for key, want := range map[string]string{
		"service": "r&s", "tags": `{"hookrouter.chain.id":"c\"1\u0026limit=9","messaging.system":"nats"}`,
		"limit": "20", "start": "3600000000", "end": "10800000000",
	} {
		if got := q[key]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestAWrongURLIsRefusedAndAPasswordNotTold(t *testing.T) {
	for _, at := range []string{"", "127.0.0.1:16686", "ftp://u:kPl3@host", "http://", "http://u:kPl3@ho st", "http://u:kPl3%zz@host", "://"} {
		if _, err := traces.NewJaeger(at); err == nil || strings.Contains(err.Error(), "kPl3") {
			t.Errorf("%q: %v", at, err)
		}
	}
	j, err := traces.NewJaeger("http://u:kPl3@127.0.0.1:1/base/")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := j.Chain(ctx, "s", "c", time.Time{}); err == nil || strings.Contains(err.Error(), "kPl3") || strings.Contains(j.String(), "kPl3") {
		t.Errorf("%v at %s", err, j)
	}
}

func TestTagsHaveTheNamesThatTelemetryGives(t *testing.T) {
	for got, want := range map[string]string{
		traces.TagChain: string(telemetry.KeyChain), traces.TagSession: string(telemetry.KeySession), traces.TagEvent: string(telemetry.KeyEvent),
		traces.TagAction: string(telemetry.KeyAction), traces.TagDeniedBy: string(telemetry.KeyDeniedBy), traces.TagHook: string(telemetry.KeyHook),
		traces.TagPriority: string(telemetry.KeyPriority), traces.TagMode: string(telemetry.KeyMode), traces.TagHooks: string(telemetry.KeyHooks),
		traces.TagSkipped: string(telemetry.KeySkipped), traces.TagFailure: string(telemetry.KeyFailure), traces.TagFailedOpen: string(telemetry.KeyFailedOpen),
		traces.TagRefused: string(telemetry.KeyRefused), traces.TagTokens: string(telemetry.KeyTokens), traces.TagApproval: string(telemetry.KeyApproval),
		traces.TagDecidedBy: string(telemetry.KeyDecidedBy), traces.TagTimedOut: string(telemetry.KeyTimedOut),
	} {
		if got != want {
			t.Errorf("%s is called %s", got, want)
		}
	}
}
