package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Stream is an append-only log. What was appended is never changed or removed by
// a client.
type Stream struct {
	js     jetstream.JetStream
	stream jetstream.Stream
	name   string
}

// Record is one message of a stream.
type Record struct {
	Subject  string
	Body     []byte
	Sequence uint64 // its place in the stream
	Last     bool   // nothing stood behind it when it was sent
}

// OpenStream opens a stream over the given subjects and creates it where it is
// missing; replicas is that of [BucketOptions].
func (b *Bus) OpenStream(ctx context.Context, name string, subjects []string, replicas int) (*Stream, error) {
	stream, err := b.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = replicate(ctx, b, replicas, func(replicas int) (jetstream.Stream, error) {
			return b.js.CreateStream(ctx, appendOnly(name, subjects, replicas))
		})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			stream, err = b.js.Stream(ctx, name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w (is JetStream enabled, and may this account use it?)", name, err)
	}
	return &Stream{b.js, stream, name}, nil
}

// appendOnly is a stream that refuses rather than forgets, and that clients can
// neither edit nor empty. Its leader alone answers reads.
func appendOnly(name string, subjects []string, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: name, Description: "audit of the hook router, append-only", Subjects: subjects,
		Storage: jetstream.FileStorage, Replicas: replicas,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1,
		DenyDelete: true, DenyPurge: true, AllowAtomicPublish: true,
		Duplicates: 10 * time.Minute, Compression: jetstream.S2Compression,
	}
}

// AppendFirst appends the first message on a subject. The error is [ErrRevision]
// where there is one already: of many that try, one succeeds.
func (s *Stream) AppendFirst(ctx context.Context, subject string, body []byte) (uint64, error) {
	ack, err := s.js.Publish(ctx, subject, body, jetstream.WithExpectStream(s.name), jetstream.WithExpectLastSequencePerSubject(0))
	if err == nil {
		return ack.Sequence, nil
	}
	if wrongSequence(err) {
		return 0, ErrRevision
	}
	return 0, fmt.Errorf("append to stream %s: %w", s.name, away(err))
}

// wrongSequence reports whether a write lost against another.
func wrongSequence(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == inFlightSequence)
}

// inFlightSequence is the server's code for a write that lost against one that is
// not stored on all replicas yet.
const inFlightSequence = 10164

// Newest reads the last message on a subject from the stream's leader. The error
// is [ErrNoKey] where there is none.
func (s *Stream) Newest(ctx context.Context, subject string) (Record, error) {
	msg, err := s.stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Record{}, ErrNoKey
	}
	if err != nil {
		return Record{}, fmt.Errorf("read stream %s: %w", s.name, away(err))
	}
	return Record{Subject: msg.Subject, Body: msg.Data, Sequence: msg.Sequence}, nil
}

// Follow calls handle for each message on a subject (wildcards allowed) stored
// since a time, in their order, one after the other; current is called once, when
// all that was there is handled. It returns when ctx ends or the stream can't be
// followed any more.
func (s *Stream) Follow(ctx context.Context, subject string, since time.Time, handle func(Record), current func()) error {
	consumer, err := s.js.OrderedConsumer(ctx, s.name, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{subject}, DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &since,
		MaxResetAttempts: 1, // who follows begins anew
	})
	if err != nil {
		return fmt.Errorf("follow stream %s: %w", s.name, err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return fmt.Errorf("follow stream %s: %w", s.name, err)
	}
	behind := info.NumPending > 0
	if !behind {
		current()
	}
	messages, err := consumer.Messages()
	if err != nil {
		return fmt.Errorf("follow stream %s: %w", s.name, err)
	}
	defer messages.Stop() // here only: one beside Next would leave what Next makes anew behind
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("follow stream %s: %w", s.name, err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return fmt.Errorf("follow stream %s: %w", s.name, err)
		}
		handle(Record{msg.Subject(), msg.Data(), meta.Sequence.Stream, meta.NumPending == 0})
		if behind && meta.NumPending == 0 {
			behind = false
			current()
		}
	}
}
