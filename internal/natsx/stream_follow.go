package natsx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Start says where [Stream.Follow] begins. The zero Start is the first message.
type Start struct {
	Sequence uint64    // of the first message; 0 means see Time
	Time     time.Time // messages stored since; zero means all
	Newest   bool      // the newest on each subject
}

// Follow calls handle for each message on a subject (wildcards allowed), in order, one
// after the other; caughtUp is called once, when everything that was stored at the start is
// handled. It returns when ctx ends, when handle returns an error, or when the stream can't
// be followed any more.
func (s *Stream) Follow(ctx context.Context, subject string, from Start, handle func(Record) error, caughtUp func()) error {
	config := jetstream.OrderedConsumerConfig{MaxResetAttempts: 1} // the caller starts again
	if subject != "" {
		config.FilterSubjects = []string{subject}
	}
	switch {
	case from.Sequence > 0:
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, from.Sequence
	case !from.Time.IsZero():
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &from.Time
	case from.Newest:
		config.DeliverPolicy = jetstream.DeliverLastPerSubjectPolicy
	}
	if err := s.follow(ctx, config, handle, caughtUp); err != nil {
		return fmt.Errorf("follow stream %s: %w", s.name, err)
	}
	return nil
}

func (s *Stream) follow(ctx context.Context, config jetstream.OrderedConsumerConfig, handle func(Record) error, caughtUp func()) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	consumer, err := s.conn.js.OrderedConsumer(ctx, s.name, config)
	if err != nil {
		return mapError(err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return mapError(err)
	}
	stored := info.NumPending // those at the start that are not handled; some may be gone
	if stored == 0 {
		caughtUp()
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(maxPull), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		s.deleteConsumer(consumer)
		return err
	}
	delivered, ended := make(chan next), make(chan struct{})
	go func() {
		defer close(ended)
		defer s.deleteConsumer(consumer)
		defer messages.Stop() // never concurrently with Next, which may be recreating the consumer
		deliver(ctx, messages, delivered)
	}()
	defer func() {
		stop()
		select {
		case <-ended:
		case <-time.After(stopTimeout):
		}
	}()
	for {
		var n next
		select {
		case n = <-delivered:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if n.err != nil {
			return n.err
		}
		meta, err := n.msg.Metadata()
		if err != nil {
			return err
		}
		rec := Record{n.msg.Subject(), n.msg.Data(), meta.Sequence.Stream, meta.Timestamp, meta.NumPending == 0, n.msg.Headers()}
		if err := handle(rec); err != nil {
			return err
		}
		if stored == 0 {
			continue
		}
		if stored--; stored == 0 || rec.Last {
			stored = 0
			caughtUp()
		}
	}
}

// maxPull is how many messages are asked for at a time. Of those of the audit log, 256 KiB
// each, they are half of what a server keeps for a client before it cuts a slow one off.
const maxPull = 128

// heartbeat is how often the server tells that the consumer exists. After two that are missing,
// the library makes another: the server may have lost it, or left the cluster.
const heartbeat = 5 * time.Second

// stopTimeout is how long Follow waits for its consumer to be deleted; after that, it
// happens in the background.
const stopTimeout = 100 * time.Millisecond

// next is a message, or the error instead of one.
type next struct {
	msg jetstream.Msg
	err error
}

// deliver sends one message after the other until ctx ends. It may end some seconds later:
// after a reconnect the library recreates the consumer before it looks at ctx again, and
// waits ten seconds for a reply that was lost.
func deliver(ctx context.Context, messages jetstream.MessagesContext, to chan<- next) {
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		select {
		case to <- next{msg, err}:
			if err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// deleteConsumer deletes the consumer of a Follow that ended: it costs the stream something
// with every message, and would otherwise live for minutes.
func (s *Stream) deleteConsumer(consumer jetstream.Consumer) {
	if info := consumer.CachedInfo(); info != nil && s.conn.Connected() {
		ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
		defer cancel()
		_ = s.conn.js.DeleteConsumer(ctx, s.name, info.Name) // else the server does it later
	}
}

// deleteTimeout bounds that.
const deleteTimeout = time.Second

// errRead ends a [Stream.Read].
var errRead = errors.New("read to the end")

// ErrBehind means that the replica of the stream that was read does not have everything
// that the leader has.
var ErrBehind = errors.New("a replica of the stream is behind: try again")

// catchUpTimeout is how long a Read waits for a replica that is behind.
const catchUpTimeout = 5 * time.Second

// Read calls handle for each message on a subject ("" for all) from one sequence to
// another, both included, and returns when the last is handled or handle returns an error.
// It may read from any replica; the error is [ErrBehind] if that one does not get what the
// leader has.
func (s *Stream) Read(ctx context.Context, subject string, from, to uint64, handle func(Record) error) error {
	if from > to {
		return nil
	}
	newest, err := s.Newest(ctx, cmp.Or(subject, ">"))
	if errors.Is(err, ErrNoKey) || err == nil && newest.Sequence < from {
		return nil
	}
	if err != nil {
		return err
	}
	last := min(to, newest.Sequence)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = s.Follow(ctx, subject, Start{Sequence: max(from, 1)}, func(rec Record) error {
		if rec.Sequence > to {
			return errRead
		}
		if err := handle(rec); err != nil {
			return err
		}
		if rec.Sequence >= last {
			return errRead
		}
		return nil
	}, func() { time.AfterFunc(catchUpTimeout, func() { cancel(ErrBehind) }) })
	switch {
	case errors.Is(err, errRead):
		return nil
	case errors.Is(context.Cause(ctx), ErrBehind):
		return fmt.Errorf("read stream %s: %w", s.name, ErrBehind)
	}
	return err
}
