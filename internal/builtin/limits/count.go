package limits

import (
	"math"
	"time"
)

// Limits of the state.
const (
	slots      = 12 // per time window of a rule
	maxEntries = 48 // counts in one state
	others     = "others"
)

// book is the counts in one state, by entry.
type book map[string]*count

// count is the use in time slots, the oldest first. A count for a whole session is one slot.
type count []slot

type slot struct {
	From   int64   `json:"f,omitempty"` // Unix time in milliseconds
	Calls  int64   `json:"c,omitempty"`
	Tokens int64   `json:"t,omitempty"`
	Cost   float64 `json:"m,omitempty"`
}

// of returns the count of an entry without expired slots. In a full book, all new entries of a rule
// share one count.
func (b book) of(entry string, r rule, now time.Time) *count {
	c, known := b[entry]
	if !known && len(b) >= maxEntries {
		entry = others + r.id
		c, known = b[entry]
	}
	if !known {
		c = &count{}
		b[entry] = c
	}
	if r.within > 0 {
		for len(*c) > 0 && !now.Before((*c)[0].frees(r.within)) {
			*c = (*c)[1:]
		}
	}
	return c
}

// frees returns the time when everything in the slot is older than the window of its rule.
func (s slot) frees(within time.Duration) time.Time {
	return time.UnixMilli(s.From).Add(within + within/slots)
}

func (c count) sum() (total slot) {
	for _, s := range c {
		total.add(s)
	}
	return total
}

func (s *slot) add(more slot) {
	s.Calls += more.Calls
	s.Tokens += min(more.Tokens, math.MaxInt64-s.Tokens)
	s.Cost += more.Cost
}

// add adds use at the time now. If now is before the newest slot, it adds to that slot.
func (c *count) add(used slot, within time.Duration, now time.Time) {
	from := int64(0)
	if within > 0 {
		from = now.Truncate(within / slots).UnixMilli()
	}
	if last := len(*c) - 1; last >= 0 && (*c)[last].From >= from {
		(*c)[last].add(used)
		return
	}
	used.From = from
	*c = append(*c, used)
}

// frees returns the time when the asked use no longer exceeds the limit; zero if no slot frees it.
func (c count) frees(r rule, asked slot) time.Time {
	rest := c.sum()
	rest.add(asked)
	for _, s := range c {
		rest.Calls, rest.Tokens, rest.Cost = rest.Calls-s.Calls, rest.Tokens-s.Tokens, rest.Cost-s.Cost
		if r.over(rest.Calls, rest.Tokens, rest.Cost) == "" {
			return s.frees(r.within)
		}
	}
	return time.Time{}
}
