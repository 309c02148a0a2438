package store

import "context"

// Drift returns the settings of the live segment and of the checkpoint stream that differ from the
// required ones; none if both are append-only. stream names the live segment.
func (l *Log) Drift(ctx context.Context) (stream string, found []string, err error) {
	live := l.Live()
	state, err := l.State(ctx, live)
	if err != nil {
		return "", nil, err
	}
	if state.Sealed { // an operator closed it: the next one will follow
		if err := l.Refresh(ctx); err != nil {
			return "", nil, err
		}
		if l.Live().Number != live.Number {
			return l.Drift(ctx)
		}
	}
	found = append(found, state.Drift...)
	found = append(found, state.Removed...)
	notes, err := l.notes.State(ctx, CheckpointSubjects(l.conn))
	if err != nil {
		return "", nil, err
	}
	for _, one := range notes.Drift {
		found = append(found, "of the checkpoints "+one)
	}
	return live.Name(), found, nil
}
