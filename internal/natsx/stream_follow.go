package natsx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Start says where [Stream.Follow] begins. The zero Start means the first message.
type Start struct {
	Sequence uint64    // of the first message; 0 means see Time
	Time     time.Time // messages stored since; zero means all
	Newest   bool      // the newest on each subject
}

// Follow calls handle for each message on a subject, which may have wildcards, in order and one at
// a time. caughtUp is called once, when the messages stored at the start are handled. Follow
// returns when ctx ends, when handle returns an error, or when the stream can't be followed.
func (s *Stream) Follow(ctx context.Context, subject string, from Start, handle func(Record) error, caughtUp func()) error {
	config := jetstream.OrderedConsumerConfig{MaxResetAttempts: 1} // the caller retries
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
	stored := info.NumPending // messages stored at the start and not handled; some may have been removed
	if stored == 0 {
		caughtUp()
	}
	delivered, wait, err := s.receive(ctx, consumer)
	if err != nil {
		return err
	}
	defer wait()
	defer stop() // before the wait
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

// maxPull is the number of messages to request at a time. 128 messages of the audit log, at 256 KiB
// each, are half of what a server buffers for a client before it disconnects a slow one.
const maxPull = 128

// heartbeat is the interval of the server's heartbeats for the consumer. After two missing ones the
// library creates another consumer: the server may have lost it, or left the cluster.
const heartbeat = 5 * time.Second

// stopTimeout bounds Follow's wait for the deletion of its consumer, which then continues in the
// background.
const stopTimeout = 100 * time.Millisecond

// receive starts to deliver a consumer's messages until ctx ends, and then deletes the consumer. wait
// waits for that, for [stopTimeout] at most.
func (s *Stream) receive(ctx context.Context, consumer jetstream.Consumer) (delivered <-chan next, wait func(), err error) {
	messages, err := consumer.Messages(jetstream.PullMaxMessages(maxPull), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		s.deleteConsumer(consumer)
		return nil, nil, err
	}
	to, ended := make(chan next), make(chan struct{})
	go func() {
		defer close(ended)
		defer s.deleteConsumer(consumer)
		defer messages.Stop() // not concurrently with Next, which may be recreating the consumer
		deliver(ctx, messages, to)
	}()
	return to, func() {
		select {
		case <-ended:
		case <-time.After(stopTimeout):
		}
	}, nil
}

// next is a message or an error.
type next struct {
	msg jetstream.Msg
	err error
}

// deliver sends messages to a channel until ctx ends. It may return some seconds later: after a
// reconnect the library recreates the consumer before it checks ctx, and waits ten seconds for a
// lost reply.
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

// deleteConsumer deletes the consumer of a Follow that ended. It would otherwise exist for minutes,
// at a cost for every message of the stream.
func (s *Stream) deleteConsumer(consumer jetstream.Consumer) {
	if info := consumer.CachedInfo(); info != nil && s.conn.Connected() {
		ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
		defer cancel()
		_ = s.conn.js.DeleteConsumer(ctx, s.name, info.Name) // else the server does it later
	}
}

// deleteTimeout bounds deleteConsumer.
const deleteTimeout = time.Second

// errRead ends [Stream.Read] at the last message.
var errRead = errors.New("read to the end")

// ErrBehind means that the replica that was read does not have all messages of the leader.
var ErrBehind = errors.New("a replica of the stream is behind: try again")

// catchUpTimeout is how long Read waits for a replica that is behind.
const catchUpTimeout = 5 * time.Second

// Read calls handle for each message on a subject ("" for all) from one sequence to another, both
// included, and returns when all are handled or handle returns an error. It may read from any
// replica. The error is [ErrBehind] if that replica does not catch up with the leader.
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
