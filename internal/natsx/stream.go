package natsx

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Stream is an append-only log: clients can neither edit nor delete its messages.
type Stream struct {
	conn   *Conn
	stream jetstream.Stream
	name   string
}

// Record is one message of a stream.
type Record struct {
	Subject  string
	Body     []byte
	Sequence uint64    // position in the stream
	Time     time.Time // when the server stored it
	Last     bool      // it was the end of the stream when sent
	Header   nats.Header
}

// ErrNoStream means that no stream has that name or subject.
var ErrNoStream = errors.New("there is no such stream")

// ErrClosed means that the stream takes no more messages: it is sealed, or another stream has its
// subjects.
var ErrClosed = errors.New("the stream is closed")

// OpenStream opens a stream. The error is [ErrNoStream] if it is missing.
func (c *Conn) OpenStream(ctx context.Context, name string) (*Stream, error) {
	stream, err := c.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("open stream %s: %w", name, ErrNoStream)
	}
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w (is JetStream enabled, and may this account use it?)", name, c.explain(err))
	}
	return &Stream{c, stream, name}, nil
}

// CreateStream creates a stream for subjects, as append-only as the server allows, or opens an
// existing one. replicas is as for [BucketOptions].
func (c *Conn) CreateStream(ctx context.Context, name string, subjects []string, replicas int) (*Stream, error) {
	stream, err := replicate(ctx, c, replicas, func(replicas int) (jetstream.Stream, error) {
		return c.js.CreateStream(ctx, appendOnly(name, subjects, replicas))
	})
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return c.OpenStream(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("create stream %s: %w (is JetStream enabled, and may this account use it?)", name, c.explain(err))
	}
	return &Stream{c, stream, name}, nil
}

// StreamOn returns the name of the stream that stores messages on a subject. The error is
// [ErrNoStream] if there is none.
func (c *Conn) StreamOn(ctx context.Context, subject string) (string, error) {
	name, err := c.js.StreamNameBySubject(ctx, subject)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return "", ErrNoStream
	}
	return name, mapError(err)
}

// StreamsOn returns the names of the streams that store messages on a subject, which may have
// wildcards.
func (c *Conn) StreamsOn(ctx context.Context, subject string) (names []string, err error) {
	list := c.js.StreamNames(ctx, jetstream.WithStreamListSubject(subject))
	for name := range list.Name() {
		names = append(names, name)
	}
	if err := list.Err(); err != nil && !errors.Is(err, jetstream.ErrEndOfData) {
		return nil, fmt.Errorf("look for streams on %s: %w", subject, mapError(err))
	}
	return names, nil
}

// RemoveStream deletes a stream with all its messages, for operators.
func (c *Conn) RemoveStream(ctx context.Context, name string) error {
	if err := c.js.DeleteStream(ctx, name); err != nil {
		return fmt.Errorf("remove stream %s: %w", name, mapError(err))
	}
	return nil
}

// Name returns the name of the stream.
func (s *Stream) Name() string { return s.name }

// AppendFirst appends the first message on a subject. The error is [ErrRevision] if there is one
// already: only one of several concurrent calls succeeds.
func (s *Stream) AppendFirst(ctx context.Context, subject string, body []byte) (uint64, error) {
	return s.Append(ctx, subject, "", 0, body)
}

// Append appends a message on a subject whose last message has the sequence last, 0 for none. A
// message that is appended again with the same non-empty id is stored once and keeps its sequence.
// The error is [ErrRevision] if the last message is another one, and [ErrClosed] if the stream
// takes no messages. After any other error the message may have been stored.
func (s *Stream) Append(ctx context.Context, subject, id string, last uint64, body []byte) (uint64, error) {
	header := nats.Header{}
	if id != "" {
		header[jetstream.MsgIDHeader] = []string{id}
	}
	return s.AppendWith(ctx, subject, header, last, body)
}

// AppendWith is [Stream.Append] with a header, to which it adds.
func (s *Stream) AppendWith(ctx context.Context, subject string, header nats.Header, last uint64, body []byte) (uint64, error) {
	header[jetstream.ExpectedStreamHeader] = []string{s.name}
	header[jetstream.ExpectedLastSubjSeqHeader] = []string{strconv.FormatUint(last, 10)}
	msg := &nats.Msg{Subject: subject, Data: body, Header: header}
	ack, err := s.conn.js.PublishMsg(ctx, msg, jetstream.WithRetryAttempts(0))
	switch {
	case err == nil:
		return ack.Sequence, nil
	case wrongSequence(err):
		return 0, ErrRevision
	case closed(err):
		return 0, ErrClosed
	}
	return 0, fmt.Errorf("append to stream %s: %w", s.name, mapError(err))
}

// wrongSequence reports whether a write lost a race.
func wrongSequence(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == inFlightSequence)
}

// Server error codes that the client library does not define.
const (
	inFlightSequence = 10164 // lost against a write that is not stored on all replicas yet
	otherStream      = 10060 // another stream has the subject
	sealed           = 10109
)

// closed reports whether the stream rejected a message because it takes none.
func closed(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrNoStreamResponse) ||
		errors.As(err, &api) && (api.ErrorCode == otherStream || api.ErrorCode == sealed)
}

// Newest reads the last message on a subject from the stream's leader. The error is
// [ErrNoKey] if there is none.
func (s *Stream) Newest(ctx context.Context, subject string) (Record, error) {
	msg, err := s.stream.GetLastMsgForSubject(ctx, subject)
	return s.record(msg, err)
}

// Get reads one message from the stream's leader. The error is [ErrNoKey] if it does not
// exist.
func (s *Stream) Get(ctx context.Context, sequence uint64) (Record, error) {
	msg, err := s.stream.GetMsg(ctx, sequence)
	return s.record(msg, err)
}

func (s *Stream) record(msg *jetstream.RawStreamMsg, err error) (Record, error) {
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Record{}, ErrNoKey
	}
	if err != nil {
		return Record{}, fmt.Errorf("read stream %s: %w", s.name, mapError(err))
	}
	return Record{Subject: msg.Subject, Body: msg.Data, Sequence: msg.Sequence, Time: msg.Time, Header: msg.Header}, nil
}
