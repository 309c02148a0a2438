package store

import "context"

// Drift says what of the settings of the live segment and of the checkpoint stream is not
// as it must be; nothing where both are append-only. stream names the live segment.
func (t *Log) Drift(ctx context.Context) (stream string, found []string, err error) {
	live := t.Live()
	state, err := live.State(ctx, t.Subjects())
	if err != nil {
		return "", nil, err
	}
	if state.Sealed { // an operator closed it: the next one is on its way
		if err := t.Refresh(ctx); err != nil {
			return "", nil, err
		}
		if t.Live().Number != live.Number {
			return t.Drift(ctx)
		}
	}
	found = append(found, state.Drift...)
	found = append(found, state.Removed...)
	notes, err := t.notes.State(ctx, CheckpointSubjects(t.bus))
	if err != nil {
		return "", nil, err
	}
	for _, one := range notes.Drift {
		found = append(found, "of the checkpoints "+one)
	}
	return live.Name(), found, nil
}
