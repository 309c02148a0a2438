package query

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Decisions returns the newest n decisions on approval requests that match the filter, newest
// first. It reads no other records. wanted may reject some; nil rejects none.
func (l *Log) Decisions(ctx context.Context, f Filter, n int, wanted func(*Record) bool) (list []Record, err error) {
	spans, err := l.spans(ctx, f.storedSince())
	if err != nil {
		return nil, err
	}
	subject := store.DecisionSubject(l.conn, "*")
	for _, s := range slices.Backward(spans) {
		var these []Record // oldest first
		err := l.read(ctx, s.Stream, subject, s.from, s.to, func(msg natsx.Record) error {
			return f.each(s.Segment, msg, func(r Record) error {
				if wanted != nil && !wanted(&r) {
					return nil
				}
				if these = append(these, r); len(these) >= 2*n {
					these = slices.Delete(these, 0, len(these)-n)
				}
				return nil
			})
		})
		if err != nil {
			return list, err
		}
		slices.Reverse(these)
		list = append(list, these...)
		if len(list) >= n {
			return list[:n], nil
		}
	}
	return list, nil
}
