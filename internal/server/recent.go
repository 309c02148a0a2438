package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Bounds of the live view's first content. It is read from the log when a page opens: keeping it in
// memory would cost something for every event, even while no page is open.
const (
	recentSpan = 10 * time.Minute
	recentMost = 200       // chains
	recentData = 512 << 10 // bytes of their data; older ones come without data
)

// call is a hook in the live view, as in hooks.result.<event>.
type call struct {
	ID         string `json:"id"`
	Action     string `json:"action,omitempty"`
	Micros     int64  `json:"us"`
	Failure    string `json:"failure,omitempty"`
	FailedOpen bool   `json:"failed_open,omitempty"`
}

// Recent returns the chains that ended in the last minutes, for the console.
func (s scanned) Recent(ctx context.Context) ([]console.Event, error) {
	ctx, l, done, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var list []console.Event // the newest first
	at, calls := map[string]int{}, map[string][]call{}
	kinds := []audit.Kind{audit.ChainResult, audit.HookResult, audit.HookError, audit.HookTimeout}
	if _, err := within(ctx, func(ctx context.Context) error {
		return l.QueryNewest(ctx, query.Filter{Since: time.Now().Add(-recentSpan), Kinds: kinds}, func(r query.Record) error {
			_, known := at[r.ChainID]
			switch {
			case r.Shadow || r.ChainID == "": // or an unreadable record
			case r.Kind == audit.ChainResult && len(list) == recentMost:
				return query.ErrEnough
			case r.Kind == audit.ChainResult && !known:
				at[r.ChainID] = len(list)
				list = append(list, ended(r))
			case r.OfHook() && known:
				calls[r.ChainID] = append(calls[r.ChainID], call{r.Hook, r.Action, r.Micros, r.Failure, r.FailedOpen})
			}
			return nil
		})
	}); err != nil {
		return nil, err
	}
	for id, i := range at {
		slices.Reverse(calls[id])
		if list[i].Hooks, err = json.Marshal(append([]call{}, calls[id]...)); err != nil {
			return nil, err
		}
		list[i] = s.n.withoutSecrets(list[i])
	}
	for i, size := 0, 0; i < len(list); i++ {
		if size += len(list[i].Data); size > recentData {
			list[i].Data = nil
		}
	}
	slices.Reverse(list)
	return list, nil
}

func ended(r query.Record) console.Event {
	ev := console.Event{
		Kind: console.KindResult, Name: r.Event, Session: r.Session, EventID: r.EventID, ChainID: r.ChainID, Time: r.Time,
		Action: r.Action, Reason: r.Reason, DeniedBy: r.DeniedBy,
	}
	if r.In != nil {
		ev.Data = r.In.Value
	}
	return ev
}
