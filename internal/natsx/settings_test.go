package natsx_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

func TestSettingsAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex // guards what follows
		var wrong string
		var failed error
		var reported []string
		soon := make(chan struct{}, 1)
		s := &natsx.Settings{
			Of: "test", Log: slog.New(slog.DiscardHandler),
			Inspect: func(context.Context) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				return wrong, failed
			},
			Changed: func(wrong string) { reported = append(reported, wrong) },
			Soon:    func() <-chan struct{} { return soon },
		}
		done := make(chan struct{})
		go func() { defer close(done); s.Watch(ctx) }()
		step := func(what string, do func(), after time.Duration, want string) {
			t.Helper()
			mu.Lock()
			do()
			mu.Unlock()
			time.Sleep(after) //nolint:forbidigo // of the bubble's clock
			synctest.Wait()
			got := ""
			if err := s.Err(); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s: wrong is %q, want %q", what, got, want)
			}
		}
		step("right at first", func() {}, time.Minute, "")
		step("not checked yet", func() { wrong = "a" }, 59*time.Second, "")
		step("checked", func() {}, time.Second, "a")
		step("still wrong", func() {}, 5*time.Second, "a")
		step("wrong in another way", func() { wrong = "b" }, 5*time.Second, "b")
		step("not checked", func() { wrong, failed = "", errors.New("no answer") }, 5*time.Second, "b")
		step("right again", func() { failed = nil }, 5*time.Second, "")
		step("before its time", func() { wrong = "c"; soon <- struct{}{} }, 0, "c")
		stop()
		<-done
		if diff := cmp.Diff([]string{"a", "b", "", "c"}, reported); diff != "" {
			t.Errorf("reported (-want +got):\n%s", diff)
		}
	})
}
