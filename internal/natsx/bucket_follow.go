package natsx

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrReconnected means that the connection was lost and is back. The server may have
// forgotten the watch, which the client library notices after ten seconds: follow again.
var ErrReconnected = errors.New("the connection was lost and is back")

// Follow calls handle with the current value of every key, and then with every change, in
// the order of the log; loaded is true from the call that completes the values on. Changes
// that are waiting come in one batch. It returns when ctx ends, when handle returns an
// error, when the watch ends, or with [ErrReconnected].
func (k *Bucket) Follow(ctx context.Context, handle func(batch []Entry, loaded bool) error) error {
	nc := k.js.Conn()
	reconnected := nc.StatusChanged(nats.CONNECTED)
	defer nc.RemoveStatusListener(reconnected)
	watcher, err := k.kv.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("follow bucket %s: %w", k.name, err)
	}
	defer func() {
		_ = watcher.Stop()
		go func() { // the library blocks until it has delivered the rest
			for range watcher.Updates() {
			}
		}()
	}()
	loaded := false
	for {
		var batch []Entry
		var open bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-reconnected:
			return fmt.Errorf("follow bucket %s: %w", k.name, ErrReconnected)
		case e, ok := <-watcher.Updates():
			batch, open = add(batch, e, &loaded), ok
		}
		bytes := 0
		for more := true; more && open && bytes < maxBatch; {
			select {
			case e, ok := <-watcher.Updates():
				batch, open = add(batch, e, &loaded), ok
				if len(batch) > 0 {
					bytes += len(batch[len(batch)-1].Value)
				}
			default:
				more = false
			}
		}
		if !open {
			return fmt.Errorf("follow bucket %s: the watch ended", k.name)
		}
		if err := handle(batch, loaded); err != nil {
			return err
		}
	}
}

// maxBatch bounds a batch, in bytes of values.
const maxBatch = 4 << 20

func add(batch []Entry, e jetstream.KeyValueEntry, loaded *bool) []Entry {
	if e == nil {
		*loaded = true
		return batch
	}
	entry := Entry{Key: e.Key(), Revision: e.Revision(), Last: e.Delta() == 0}
	if e.Operation() == jetstream.KeyValuePut {
		entry.Value = e.Value()
	}
	return append(batch, entry)
}
