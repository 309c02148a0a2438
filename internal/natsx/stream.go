package natsx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Stream is an append-only log. What was appended is never changed or removed by
// a client.
type Stream struct {
	bus    *Conn
	stream jetstream.Stream
	name   string
}

// Record is one message of a stream.
type Record struct {
	Subject  string
	Body     []byte
	Sequence uint64    // its place in the stream
	Time     time.Time // when the stream took it, as the server says
	Last     bool      // nothing stood behind it when it was sent
}

// ErrNoStream means that there is no stream of that name, or none on that subject.
var ErrNoStream = errors.New("there is no such stream")

// ErrClosed means that the stream takes nothing any more: it is sealed, or another
// has its subjects.
var ErrClosed = errors.New("the stream is closed")

// OpenStream opens a stream. The error is [ErrNoStream] where it is missing.
func (b *Conn) OpenStream(ctx context.Context, name string) (*Stream, error) {
	stream, err := b.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("open stream %s: %w", name, ErrNoStream)
	}
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w (is JetStream enabled, and may this account use it?)", name, b.why(err))
	}
	return &Stream{b, stream, name}, nil
}

// CreateStream makes a stream over subjects as append-only as the server allows, and
// opens it where it is there; replicas is that of [BucketOptions].
func (b *Conn) CreateStream(ctx context.Context, name string, subjects []string, replicas int) (*Stream, error) {
	stream, err := replicate(ctx, b, replicas, func(replicas int) (jetstream.Stream, error) {
		return b.js.CreateStream(ctx, appendOnly(name, subjects, replicas))
	})
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return b.OpenStream(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("create stream %s: %w (is JetStream enabled, and may this account use it?)", name, b.why(err))
	}
	return &Stream{b, stream, name}, nil
}

// StreamOn names the stream that takes what is published on a subject. The error is
// [ErrNoStream] where there is none.
func (b *Conn) StreamOn(ctx context.Context, subject string) (string, error) {
	name, err := b.js.StreamNameBySubject(ctx, subject)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return "", ErrNoStream
	}
	return name, away(err)
}

// StreamsOn names the streams that take anything published on a subject, wildcards
// allowed.
func (b *Conn) StreamsOn(ctx context.Context, subject string) (names []string, err error) {
	list := b.js.StreamNames(ctx, jetstream.WithStreamListSubject(subject))
	for name := range list.Name() {
		names = append(names, name)
	}
	if err := list.Err(); err != nil && !errors.Is(err, jetstream.ErrEndOfData) {
		return nil, fmt.Errorf("look for streams on %s: %w", subject, away(err))
	}
	return names, nil
}

// RemoveStream removes a stream with all that it holds: for operators.
func (b *Conn) RemoveStream(ctx context.Context, name string) error {
	if err := b.js.DeleteStream(ctx, name); err != nil {
		return fmt.Errorf("remove stream %s: %w", name, away(err))
	}
	return nil
}

// Name of the stream.
func (s *Stream) Name() string { return s.name }

// AppendFirst appends the first message on a subject. The error is [ErrRevision]
// where there is one already: of many that try, one succeeds.
func (s *Stream) AppendFirst(ctx context.Context, subject string, body []byte) (uint64, error) {
	return s.Append(ctx, subject, "", 0, body)
}

// Append appends a message to a subject whose last message has the sequence last, 0
// for none. Sent again with the same id, it is stored once, and its sequence is that
// of the first time; no id, no such promise. The error is [ErrRevision] where last is
// not the last, [ErrClosed] where the stream takes nothing; after any other the message may
// have been stored.
func (s *Stream) Append(ctx context.Context, subject, id string, last uint64, body []byte) (uint64, error) {
	msg := &nats.Msg{Subject: subject, Data: body, Header: nats.Header{
		jetstream.ExpectedStreamHeader:      {s.name},
		jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(last, 10)},
	}}
	if id != "" {
		msg.Header[jetstream.MsgIDHeader] = []string{id}
	}
	ack, err := s.bus.js.PublishMsg(ctx, msg, jetstream.WithRetryAttempts(0))
	switch {
	case err == nil:
		return ack.Sequence, nil
	case wrongSequence(err):
		return 0, ErrRevision
	case closed(err):
		return 0, ErrClosed
	}
	return 0, fmt.Errorf("append to stream %s: %w", s.name, away(err))
}

// wrongSequence reports whether a write lost against another.
func wrongSequence(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == inFlightSequence)
}

// Codes of the server that the client library has no name for.
const (
	inFlightSequence = 10164 // a write lost against one that is not stored on all replicas yet
	otherStream      = 10060 // another stream takes the subject
	sealed           = 10109
)

// closed reports whether a stream did not take a message because it takes none.
func closed(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrNoStreamResponse) ||
		errors.As(err, &api) && (api.ErrorCode == otherStream || api.ErrorCode == sealed)
}

// Newest reads the last message on a subject from the stream's leader. The error
// is [ErrNoKey] where there is none.
func (s *Stream) Newest(ctx context.Context, subject string) (Record, error) {
	msg, err := s.stream.GetLastMsgForSubject(ctx, subject)
	return s.record(msg, err)
}

// Get reads one message from the stream's leader. The error is [ErrNoKey] where it is
// not there.
func (s *Stream) Get(ctx context.Context, sequence uint64) (Record, error) {
	msg, err := s.stream.GetMsg(ctx, sequence)
	return s.record(msg, err)
}

func (s *Stream) record(msg *jetstream.RawStreamMsg, err error) (Record, error) {
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Record{}, ErrNoKey
	}
	if err != nil {
		return Record{}, fmt.Errorf("read stream %s: %w", s.name, away(err))
	}
	return Record{Subject: msg.Subject, Body: msg.Data, Sequence: msg.Sequence, Time: msg.Time}, nil
}

// Start says where [Stream.Follow] begins. The zero Start is the first message.
type Start struct {
	Sequence uint64    // the first message to give, where it is not 0
	Time     time.Time // else the first stored since, where it is not zero
}

// Follow calls handle for each message on a subject (wildcards allowed) from a
// start on, in their order, one after the other; current is called once, when
// all that was there is handled. It returns when ctx ends, when handle returns an
// error, or when the stream can't be followed any more.
func (s *Stream) Follow(ctx context.Context, subject string, from Start, handle func(Record) error, current func()) error {
	config := jetstream.OrderedConsumerConfig{MaxResetAttempts: 1} // who follows begins anew
	if subject != "" {
		config.FilterSubjects = []string{subject}
	}
	switch {
	case from.Sequence > 0:
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, from.Sequence
	case !from.Time.IsZero():
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &from.Time
	}
	if err := s.follow(ctx, config, handle, current); err != nil {
		return fmt.Errorf("follow stream %s: %w", s.name, err)
	}
	return nil
}

func (s *Stream) follow(ctx context.Context, config jetstream.OrderedConsumerConfig, handle func(Record) error, current func()) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	consumer, err := s.bus.js.OrderedConsumer(ctx, s.name, config)
	if err != nil {
		return away(err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return away(err)
	}
	behind := info.NumPending > 0
	if !behind {
		current()
	}
	messages, err := consumer.Messages()
	if err != nil {
		s.forget(consumer)
		return err
	}
	given, ended := make(chan next), make(chan struct{})
	go func() {
		defer close(ended)
		defer s.forget(consumer)
		defer messages.Stop() // here only: one beside Next would leave what Next makes anew behind
		give(ctx, messages, given)
	}()
	defer func() {
		stop()
		select {
		case <-ended:
		case <-time.After(leaveTime):
		}
	}()
	for {
		var msg jetstream.Msg
		select {
		case <-ctx.Done():
			return ctx.Err()
		case n := <-given:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if n.err != nil {
				return n.err
			}
			msg = n.msg
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		if err := handle(Record{msg.Subject(), msg.Data(), meta.Sequence.Stream, meta.Timestamp, meta.NumPending == 0}); err != nil {
			return err
		}
		if behind && meta.NumPending == 0 {
			behind = false
			current()
		}
	}
}

// leaveTime is how long who stops following waits until the server knows; it does so
// later where it is slow, or silent.
const leaveTime = 100 * time.Millisecond

// next is a message, or why there is none.
type next struct {
	msg jetstream.Msg
	err error
}

// give gives one message after the other, until ctx ends. It may end some seconds later:
// where the connection is back, the library asks the server for a consumer before it
// looks at ctx again, and waits ten seconds for an answer that was lost.
func give(ctx context.Context, messages jetstream.MessagesContext, to chan<- next) {
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

// forget removes what the server keeps of one who followed: each costs the stream
// something with every message, and would be there for minutes.
func (s *Stream) forget(consumer jetstream.Consumer) {
	if info := consumer.CachedInfo(); info != nil && s.bus.Connected() {
		ctx, cancel := context.WithTimeout(context.Background(), forgetTime)
		defer cancel()
		_ = s.bus.js.DeleteConsumer(ctx, s.name, info.Name) // else the server does, later
	}
}

// forgetTime is how long the server is waited for then.
const forgetTime = time.Second

// errRead ends a Read.
var errRead = errors.New("read to the end")

// ErrBehind means that the replica of the stream that was read does not have yet what the
// leader has.
var ErrBehind = errors.New("a replica of the stream is behind: try again")

// catchUp is how long a replica that is behind is waited for.
const catchUp = 5 * time.Second

// Read calls handle for each message on a subject ("" for all) from one sequence to
// another, both included, and returns when the last is handled, or with the error of
// handle. Any replica may be the one that is read; the error is [ErrBehind] where it
// does not get what the leader has.
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
	}, func() { time.AfterFunc(catchUp, func() { cancel(ErrBehind) }) })
	switch {
	case errors.Is(err, errRead):
		return nil
	case errors.Is(context.Cause(ctx), ErrBehind):
		return fmt.Errorf("read stream %s: %w", s.name, ErrBehind)
	}
	return err
}
