package natsx_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// TestFollowEndsThoughNobodyAnswers is about a connection that breaks twice: the second
// time, the answer is lost that a follower needs to go on after the first.
func TestFollowEndsThoughNobodyAnswers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s := natstest.Listening(t)
	answers := &natstest.Stall{Subject: "_INBOX."}
	b := natstest.Connect(t, natsx.Options{URL: s.ClientURL(), NATS: []nats.Option{answers.Option(), nats.ReconnectWait(time.Millisecond), nats.ReconnectJitter(0, 0)}})
	stream, err := b.CreateStream(ctx, "LOG", []string{"log.>"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	watch := natstest.Conn(t, s)
	asked, err := watch.SubscribeSync("$JS.API.CONSUMER.CREATE.LOG.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.FlushWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	follow, stop := context.WithCancel(ctx)
	read, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- stream.Follow(follow, "log.>", natsx.Start{}, func(natsx.Record) error { close(read); return nil }, func() {})
	}()
	if err := watch.Publish("log.a", nil); err != nil {
		t.Fatal(err)
	}
	<-read
	if _, err := asked.NextMsgWithContext(ctx); err != nil {
		t.Fatal(err)
	}

	answers.Stop()
	if err := b.Conn().ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	if _, err := asked.NextMsgWithContext(ctx); err != nil { // it wants to go on
		t.Fatal(err)
	}
	began := time.Now()
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) > 5*time.Second {
		t.Errorf("Follow = %v, after %v", err, time.Since(began))
	}
	answers.Go()
	if err := b.Conn().FlushWithContext(ctx); err != nil { // so that the answers come, at last
		t.Fatal(err)
	}
}

// TestFollowLoadsWhileOthersWrite: two keys are written for each that the follower gets, and so there
// are always more to come. What was stored at the start is complete all the same.
func TestFollowLoadsWhileOthersWrite(t *testing.T) {
	t.Parallel()
	const stored = 300
	bucket, err := connect(t, natstest.Server(t)).OpenBucket(t.Context(), natsx.BucketOptions{Name: "busy"})
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	write := func() {
		written++
		if _, err := bucket.Put(t.Context(), fmt.Sprint("key", written), []byte("value")); err != nil {
			t.Fatal(err)
		}
	}
	for range stored {
		write()
	}
	done, got := errors.New("loaded"), 0
	err = bucket.Follow(t.Context(), func(batch []natsx.Entry, loaded bool) error {
		if loaded {
			return done
		}
		for range batch {
			if got++; got > 2*stored {
				return errors.New("not loaded")
			}
			write()
			write()
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Errorf("%v after %d entries; %d were stored at the start", err, got, stored)
	}
}
