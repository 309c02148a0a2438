package natsx

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

// ErrReconnected means that the connection was lost and is back. Follow again: the server may have
// lost the consumer, which the client library notices much later.
var ErrReconnected = errors.New("the connection was lost and is back")

// Follow calls handle with the current value of every key and then with every change, in the order
// of the log. loaded is true from the call that completes the current values. Waiting changes are
// passed as one batch. Follow returns when ctx ends, when handle returns an error, when the bucket
// can't be followed, or with [ErrReconnected] after a reconnect.
func (k *Bucket) Follow(ctx context.Context, handle func(batch []Entry, loaded bool) error) error {
	if err := k.follow(ctx, handle); err != nil {
		return fmt.Errorf("follow bucket %s: %w", k.name, err)
	}
	return nil
}

func (k *Bucket) follow(ctx context.Context, handle func(batch []Entry, loaded bool) error) error {
	reconnected := k.conn.nc.StatusChanged(nats.CONNECTED)
	defer k.conn.nc.RemoveStatusListener(reconnected)
	stream, err := k.conn.OpenStream(ctx, bucketStreamName(k.name))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	changes, ended := make(chan *Record, maxPull), make(chan error, 1) // nil when the values are complete
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() {
		send := func(rec *Record) error {
			select {
			case changes <- rec:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		ended <- stream.Follow(ctx, bucketSubject(k.name, ">"), Start{Newest: true},
			func(rec Record) error { return send(&rec) }, func() { _ = send(nil) })
	})
	loaded := false
	for {
		var batch []Entry
		select {
		case rec := <-changes:
			batch = k.add(batch, rec, &loaded)
		case err := <-ended:
			return err
		case <-reconnected:
			return ErrReconnected
		}
		for size, more := 0, true; more && size < maxBatch; {
			select {
			case rec := <-changes:
				batch = k.add(batch, rec, &loaded)
				if rec != nil {
					size += len(rec.Body)
				}
			default:
				more = false
			}
		}
		if err := handle(batch, loaded); err != nil {
			return err
		}
	}
}

// maxBatch is the maximum size of the values in a batch, in bytes.
const maxBatch = 4 << 20

func (k *Bucket) add(batch []Entry, rec *Record, loaded *bool) []Entry {
	if rec == nil {
		*loaded = true
		return batch
	}
	e := Entry{Key: strings.TrimPrefix(rec.Subject, bucketSubject(k.name, "")), Revision: rec.Sequence, Last: rec.Last}
	if !isMarker(rec.Header) {
		e.Value = rec.Body
	}
	return append(batch, e)
}
