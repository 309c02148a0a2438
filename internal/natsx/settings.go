package natsx

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// duplicates is how long a stream knows what it was sent.
const duplicates = 10 * time.Minute

// appendOnly is a stream that refuses rather than forgets, and that clients can
// neither edit nor empty. Its leader alone answers reads. It is not compressed:
// nats-server 2.15.2 does not recover compressed blocks on several replicas whose power
// was cut together.
func appendOnly(name string, subjects []string, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: name, Description: "audit of the hook router, append-only", Subjects: subjects,
		Storage: jetstream.FileStorage, Replicas: replicas,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1,
		DenyDelete: true, DenyPurge: true, AllowAtomicPublish: true,
		Duplicates: duplicates,
	}
}

// StreamState is a stream at one moment.
type StreamState struct {
	First, Last uint64 // sequences; 0 and 0 where nothing was stored
	Messages    uint64
	Bytes       uint64
	Created     time.Time
	Sealed      bool     // it takes nothing any more
	Drift       []string // what of its settings is not append-only; a phrase each
	Removed     []string // what it once held and holds no more; a phrase each
}

// State asks the stream's leader. subjects are what the stream must listen on; a
// sealed stream listens on nothing that matters.
func (s *Stream) State(ctx context.Context, subjects []string) (StreamState, error) {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return StreamState{}, fmt.Errorf("look at stream %s: %w", s.name, away(err))
	}
	have := info.State
	state := StreamState{
		First: have.FirstSeq, Last: have.LastSeq, Messages: have.Msgs, Bytes: have.Bytes, Created: info.Created, Sealed: info.Config.Sealed,
		Drift: drift(info.Config, subjects),
	}
	if have.FirstSeq > 1 {
		state.Removed = append(state.Removed, fmt.Sprintf("its first message is number %d: those before were removed", have.FirstSeq))
	}
	if have.NumDeleted > 0 {
		state.Removed = append(state.Removed, fmt.Sprintf("%d messages in it were removed", have.NumDeleted))
	}
	return state, nil
}

// drift says in which settings a stream is less than append-only. Where it is kept,
// how often, and how large it may grow is the operator's choice.
func drift(c jetstream.StreamConfig, subjects []string) (found []string) {
	must := func(ok bool, setting string, have any) {
		if !ok {
			found = append(found, fmt.Sprintf("%s is %v", setting, have))
		}
	}
	if !c.Sealed {
		must(slices.Equal(c.Subjects, subjects), "subjects", strings.Join(c.Subjects, " "))
	}
	must(c.Storage == jetstream.FileStorage, "storage", c.Storage)
	must(c.Compression == jetstream.NoCompression, "compression", c.Compression)
	must(c.Retention == jetstream.LimitsPolicy, "retention", c.Retention)
	must(c.Discard == jetstream.DiscardNew, "discard", c.Discard)
	must(c.MaxMsgs <= 0, "max_msgs", c.MaxMsgs)
	must(c.MaxAge == 0, "max_age", c.MaxAge)
	must(c.MaxMsgsPerSubject <= 0, "max_msgs_per_subject", c.MaxMsgsPerSubject)
	must(c.DenyDelete, "deny_delete", c.DenyDelete)
	must(c.DenyPurge, "deny_purge", c.DenyPurge)
	must(!c.AllowRollup, "allow_rollup_hdrs", c.AllowRollup)
	must(!c.AllowMsgTTL, "allow_msg_ttl", c.AllowMsgTTL)
	must(!c.AllowMsgCounter, "allow_msg_counter", c.AllowMsgCounter)
	must(!c.AllowMsgSchedules, "allow_msg_schedules", c.AllowMsgSchedules)
	must(!c.AllowDirect, "allow_direct", c.AllowDirect)
	must(!c.NoAck, "no_ack", c.NoAck)
	must(c.PersistMode == jetstream.DefaultPersistMode, "persist_mode", c.PersistMode)
	must(c.SubjectTransform == nil, "subject_transform", "set")
	must(c.RePublish == nil, "republish", "set")
	must(c.Mirror == nil && len(c.Sources) == 0, "mirror or sources", "set")
	must(c.MaxMsgSize <= 0 || c.MaxMsgSize >= 1<<20, "max_msg_size", c.MaxMsgSize)
	return found
}

// Mend sets what drifted back, as far as the server allows: for operators.
func (s *Stream) Mend(ctx context.Context, subjects []string) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", s.name, away(err))
	}
	c := appendOnly(s.name, subjects, info.Config.Replicas)
	c.MaxBytes, c.Placement, c.Description = info.Config.MaxBytes, info.Config.Placement, info.Config.Description
	if _, err := s.bus.js.UpdateStream(ctx, c); err != nil {
		return fmt.Errorf("set the settings of stream %s back: %w", s.name, away(err))
	}
	return nil
}

// Seal closes a stream for ever: for operators. It leaves its subjects for one of the
// given name, so that another stream may have them.
func (s *Stream) Seal(ctx context.Context, subject string) error {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", s.name, away(err))
	}
	c := info.Config
	c.Subjects, c.Sealed = []string{subject}, true
	if _, err := s.bus.js.UpdateStream(ctx, c); err != nil {
		return fmt.Errorf("seal stream %s: %w", s.name, away(err))
	}
	return nil
}
