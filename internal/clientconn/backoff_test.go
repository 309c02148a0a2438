package clientconn_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookrouter/hookrouter/internal/clientconn"
)

func TestPausesDoubleUpToTheLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b clientconn.Backoff
		wait := func(pause time.Duration) {
			t.Helper()
			start := time.Now()
			if err := b.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took < pause/2 || took >= pause {
				t.Errorf("waited for %v; want between %v and %v", took, pause/2, pause)
			}
		}
		for pause := clientconn.ShortestPause; pause < clientconn.LongestPause; pause *= 2 {
			wait(pause)
		}
		for range 3 {
			wait(clientconn.LongestPause)
		}
		b.Reset()
		wait(clientconn.ShortestPause)
	})
}

func TestNoTryBeginsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		b := clientconn.Backoff{Until: start.Add(10 * time.Second)}
		var err error
		for err == nil {
			err = b.Wait(t.Context())
		}
		if took := time.Since(start); !errors.Is(err, clientconn.ErrTooLate) || took > 10*time.Second || took < 8*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func TestAContextEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("changed my mind")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		start := time.Now()
		var b clientconn.Backoff
		if err := b.Wait(ctx); !errors.Is(err, cause) || time.Since(start) != 10*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		b.Until = start // the end of ctx comes first
		if err := b.Wait(ctx); !errors.Is(err, cause) {
			t.Errorf("after the context's end: %v", err)
		}
	})
}
