package dispatch

import (
	"cmp"
	"strings"
	"sync"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// UnknownEvents says how to treat an event that is neither standard nor named by a hook. Most
// likely it is a misspelling of a standard event, so that no hook sees it.
type UnknownEvents string

// The treatments of unknown events. The zero value means [AllowUnknown].
const (
	AllowUnknown UnknownEvents = "allow"
	WarnUnknown  UnknownEvents = "warn" // log each name once
	DenyUnknown  UnknownEvents = "deny" // refuse the request
)

// maxUnknown bounds the names that are logged.
const maxUnknown = 1000

// unknown remembers the names that were logged.
type unknown struct {
	mu     sync.Mutex
	logged map[string]bool
}

// first reports whether a name has not been logged yet.
func (u *unknown) first(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.logged[name] || len(u.logged) >= maxUnknown {
		return false
	}
	if u.logged == nil {
		u.logged = map[string]bool{}
	}
	u.logged[name] = true
	return true
}

// checkKnown refuses an unknown event with code 400, or logs it, depending on the options.
func (d *Dispatcher) checkKnown(ev events.Event, table *chain.Table) error {
	if mode := d.opts.UnknownEvents; mode != WarnUnknown && mode != DenyUnknown || standard[events.Canonical(ev.Name)] || table.Named(ev.Name, ev.Session) {
		return nil
	}
	if d.opts.UnknownEvents == WarnUnknown {
		if d.unknown.first(ev.Name) {
			log := d.log.With("event", ev.Name, "session_id", ev.Session)
			if meant := similar(ev.Name); meant != "" {
				log = log.With("did_you_mean", meant)
			}
			log.Warn("unknown event: neither standard nor named by a hook")
		}
		return nil
	}
	hint := "register a hook for it, or use a standard event"
	if meant := similar(ev.Name); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	return wire.Errorf(wire.Malformed, "event %q is neither standard nor named by a hook: %s", ev.Name, hint)
}

// standard holds the canonical names of the standard events, and the two that hook-agent itself
// sends.
var standard = func() map[string]bool {
	names := map[string]bool{"hook-agent:doctor": true, "hook-agent:bypassed": true}
	for _, info := range events.Catalog() {
		names[info.Name] = true
	}
	return names
}()

// similar returns the standard event that a name probably means: another spelling, a prefix, or
// one letter apart; empty for none.
func similar(name string) string {
	plain := strings.NewReplacer("_", ":", "-", ":")
	folded, best := plain.Replace(strings.ToLower(name))+":", ""
	near := ""
	for _, info := range events.Catalog() {
		for _, known := range events.Spellings(info.Name) {
			if strings.HasPrefix(folded, plain.Replace(known)+":") && len(known) > len(best) {
				best = info.Name
			}
			if letterAway(folded, plain.Replace(known)+":") {
				near = info.Name
			}
		}
	}
	return cmp.Or(best, near)
}

// letterAway reports whether two names differ in at most one letter.
func letterAway(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1
}
