package natsx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// dedupWindow is how long a stream remembers the ids of messages.
const dedupWindow = 10 * time.Minute

// appendOnly returns the configuration of a stream that rejects new messages when it is full, and
// whose messages clients can neither edit nor purge. Only its leader answers reads. It is not
// compressed: nats-server 2.15.2 does not recover compressed blocks on several replicas that lost
// power together.
func appendOnly(name string, subjects []string, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: name, Description: "audit of the hook router, append-only", Subjects: subjects,
		Storage: jetstream.FileStorage, Replicas: replicas,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1,
		DenyDelete: true, DenyPurge: true, AllowAtomicPublish: true,
		Duplicates: dedupWindow,
	}
}

// StreamState is the state of a stream.
type StreamState struct {
	First, Last uint64 // sequences; both 0 if nothing was stored
	Messages    uint64
	Bytes       uint64
	Created     time.Time
	Sealed      bool     // it takes no more messages
	Drift       []string // settings that are not append-only; a phrase each
	Removed     []string // messages that were removed; a phrase each
}

// State gets the state from the stream's leader. subjects are the required subjects; those of a
// sealed stream are not checked.
func (s *Stream) State(ctx context.Context, subjects []string) (StreamState, error) {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return StreamState{}, fmt.Errorf("inspect stream %s: %w", s.name, mapError(err))
	}
	have := info.State
	state := StreamState{
		First: have.FirstSeq, Last: have.LastSeq, Messages: have.Msgs, Bytes: have.Bytes, Created: info.Created, Sealed: info.Config.Sealed,
		Drift: streamDrift(info.Config, subjects),
	}
	if have.FirstSeq > 1 {
		state.Removed = append(state.Removed, fmt.Sprintf("its first message is number %d: those before were removed", have.FirstSeq))
	}
	if have.NumDeleted > 0 {
		state.Removed = append(state.Removed, fmt.Sprintf("%d messages in it were removed", have.NumDeleted))
	}
	return state, nil
}

// drift collects the settings that differ from the required ones.
type drift []string

func (d *drift) must(ok bool, setting string, have any) {
	if !ok {
		*d = append(*d, fmt.Sprintf("%s is %v", setting, have))
	}
}

// common checks the settings that streams and buckets share.
func (d *drift) common(c jetstream.StreamConfig) {
	d.must(c.Storage == jetstream.FileStorage, "storage", c.Storage)
	d.must(c.Retention == jetstream.LimitsPolicy, "retention", c.Retention)
	d.must(c.Discard == jetstream.DiscardNew, "discard", c.Discard)
	d.must(c.MaxMsgs <= 0, "max_msgs", c.MaxMsgs)
	d.must(c.MaxMsgSize <= 0 || c.MaxMsgSize >= 1<<20, "max_msg_size", c.MaxMsgSize)
	d.must(!c.NoAck, "no_ack", c.NoAck)
	d.must(c.SubjectTransform == nil, "subject_transform", "set")
	d.must(c.Mirror == nil && len(c.Sources) == 0, "mirror or sources", "set")
}

// streamDrift lists the settings that make a stream less than append-only. Placement, replicas and
// maximum size are the operator's choice.
func streamDrift(c jetstream.StreamConfig, subjects []string) (d drift) {
	if !c.Sealed {
		d.must(slices.Equal(c.Subjects, subjects), "subjects", strings.Join(c.Subjects, " "))
	}
	d.common(c)
	d.must(c.Compression == jetstream.NoCompression, "compression", c.Compression)
	d.must(c.MaxAge == 0, "max_age", c.MaxAge)
	d.must(c.MaxMsgsPerSubject <= 0, "max_msgs_per_subject", c.MaxMsgsPerSubject)
	d.must(c.DenyDelete, "deny_delete", c.DenyDelete)
	d.must(c.DenyPurge, "deny_purge", c.DenyPurge)
	d.must(!c.AllowRollup, "allow_rollup_hdrs", c.AllowRollup)
	d.must(!c.AllowMsgTTL, "allow_msg_ttl", c.AllowMsgTTL)
	d.must(!c.AllowMsgCounter, "allow_msg_counter", c.AllowMsgCounter)
	d.must(!c.AllowMsgSchedules, "allow_msg_schedules", c.AllowMsgSchedules)
	d.must(!c.AllowDirect, "allow_direct", c.AllowDirect)
	d.must(c.PersistMode == jetstream.DefaultPersistMode, "persist_mode", c.PersistMode)
	d.must(c.RePublish == nil, "republish", "set")
	return d
}

// Repair resets the settings that drifted, as far as the server allows, for operators.
func (s *Stream) Repair(ctx context.Context, subjects []string) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("inspect stream %s: %w", s.name, mapError(err))
	}
	c := appendOnly(s.name, subjects, info.Config.Replicas)
	c.MaxBytes, c.Placement, c.Description = info.Config.MaxBytes, info.Config.Placement, info.Config.Description
	if _, err := s.conn.js.UpdateStream(ctx, c); err != nil {
		return fmt.Errorf("repair stream %s: %w", s.name, mapError(err))
	}
	return nil
}

// Seal closes a stream for good, for operators. It changes its subjects to the given one, so that
// another stream can have them.
func (s *Stream) Seal(ctx context.Context, subject string) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("inspect stream %s: %w", s.name, mapError(err))
	}
	c := info.Config
	c.Subjects, c.Sealed = []string{subject}, true
	if _, err := s.conn.js.UpdateStream(ctx, c); err != nil {
		return fmt.Errorf("seal stream %s: %w", s.name, mapError(err))
	}
	return nil
}

// Replicas returns the number of replicas of the stream.
func (s *Stream) Replicas(ctx context.Context) (int, error) {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("inspect stream %s: %w", s.name, mapError(err))
	}
	return info.Config.Replicas, nil
}

// Scale sets the number of replicas, for operators. A sealed stream can't be scaled.
func (s *Stream) Scale(ctx context.Context, replicas int) error {
	return s.conn.scale(ctx, s.name, replicas)
}

// CreateNext creates the stream that follows another one: append-only, with the same placement,
// replicas, size and compression.
func (c *Conn) CreateNext(ctx context.Context, name string, subjects []string, before *Stream) (*Stream, error) {
	info, err := before.stream.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("inspect stream %s: %w", before.name, mapError(err))
	}
	config := appendOnly(name, subjects, info.Config.Replicas)
	config.MaxBytes, config.Placement, config.Compression = info.Config.MaxBytes, info.Config.Placement, info.Config.Compression
	stream, err := c.js.CreateStream(ctx, config)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return c.OpenStream(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("create stream %s: %w", name, mapError(err))
	}
	return &Stream{c, stream, name}, nil
}
