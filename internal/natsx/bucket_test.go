package natsx_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Replicas that start at the same time make a bucket together. Each of them can read
// it, between whichever of its steps the other one makes its own.
func TestABucketIsReadByAllWhoMakeIt(t *testing.T) {
	s := natstest.Server(t)
	first := connect(t, s)
	steps, tried := 1, 0
	for ; tried < steps; tried++ {
		o := natsx.BucketOptions{Name: fmt.Sprintf("after%d", tried), LeaderReads: true}
		var made []*natsx.Bucket
		open := func(b *natsx.Conn) {
			bucket, err := b.OpenBucket(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			made = append(made, bucket)
		}
		steps = 0
		second := connect(t, watched{s, func() {
			if steps == tried {
				open(first)
			}
			steps++
		}})
		open(second)
		opened := steps
		for i, bucket := range made {
			if _, err := bucket.Get(t.Context(), "key"); !errors.Is(err, natsx.ErrNoKey) {
				t.Errorf("the first made it between steps %d and %d of the second; then number %d reads: %v", tried, tried+1, i+1, err)
			}
		}
		steps = opened
	}
	if tried < 3 {
		t.Errorf("%d steps prove nothing", tried)
	}
}

func connect(t *testing.T, s natsx.InProcess) *natsx.Conn {
	t.Helper()
	return natstest.Connect(t, natsx.Options{InProcess: s})
}

// watched is a server as a client reaches it that makes one request after the other;
// before is called ahead of each to JetStream.
type watched struct {
	server nats.InProcessConnProvider
	before func()
}

// InProcessConn connects, for [nats.InProcessServer].
func (w watched) InProcessConn() (net.Conn, error) {
	conn, err := w.server.InProcessConn()
	return &watchedConn{conn, w.before}, err
}

type watchedConn struct {
	net.Conn
	before func()
}

func (c *watchedConn) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("$JS.API.STREAM.")) {
		c.before()
	}
	return c.Conn.Write(b)
}
