package simulation

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// latency is the longest that a piece of a connection's traffic takes one way.
const latency = 4 * time.Millisecond

// wire is the server as one client reaches it: what is sent takes a while, and is
// lost where the connection is cut meanwhile.
type wire struct {
	server nats.InProcessConnProvider

	mu    sync.Mutex // guards what follows
	rng   *rand.Rand
	ends  []io.Closer
	down  bool
	pumps sync.WaitGroup
}

func newWire(server nats.InProcessConnProvider, rng *rand.Rand) *wire {
	return &wire{server: server, rng: rng}
}

// InProcessConn connects, for [nats.InProcessServer].
func (w *wire) InProcessConn() (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return nil, errors.New("the wire is down")
	}
	server, err := w.server.InProcessConn()
	if err != nil {
		return nil, err
	}
	client, far := net.Pipe()
	w.ends = append(w.ends, server, far)
	w.pumps.Go(func() { w.pump(server, far) })
	w.pumps.Go(func() { w.pump(far, server) })
	return client, nil
}

// pump carries one direction of a connection. It always takes what comes, and the
// handshake, which is all that happens in the first instant, takes no time: a
// client holds a lock during both, and who waits for a lock stops the time of the
// bubble.
func (w *wire) pump(to, from net.Conn) {
	opened := time.Now()
	queue := make(chan []byte, 64<<10)
	w.pumps.Go(func() {
		defer to.Close()
		for next := range queue {
			if time.Since(opened) > 0 {
				<-time.After(w.delay())
			}
			for len(queue) > 0 {
				next = append(next, <-queue...)
			}
			if _, err := to.Write(next); err != nil {
				_ = from.Close()
			}
		}
	})
	defer close(queue)
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		queue <- bytes.Clone(buf[:n])
	}
}

func (w *wire) delay() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.rng.Int64N(int64(latency)))
}

// cut breaks the connections that there are. The client may connect again.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends = nil
}

// kill breaks the connections for good.
func (w *wire) kill() {
	w.mu.Lock()
	w.down = true
	w.mu.Unlock()
	w.cut()
}
