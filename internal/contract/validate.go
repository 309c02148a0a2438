package contract

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// ErrUnknownHook means that no hook with this id is registered.
var ErrUnknownHook = errors.New("no such hook is registered")

// Options configure a validation. Conn and ID are required.
type Options struct {
	// Conn is the NATS connection. The caller closes it.
	Conn *nats.Conn
	// Prefix of the subjects; empty means "hooks".
	Prefix string
	// ID of the hook.
	ID string
	// Session is the session id of the events; empty means the session that the hook is limited to, or
	// else "contract-check".
	Session string
	// Each is called after each check. It may be nil.
	Each func(Check)
}

// registryTimeout is the timeout of a request to the router.
const registryTimeout = 5 * time.Second

// giveUpAfter is the number of consecutive timeouts after which the validation ends.
const giveUpAfter = 3

// Validate checks a live hook and returns a report. A failed check is not an error: see
// [Report.OK]. An error means that the hook could not be checked: no router answers, the hook is
// unknown ([ErrUnknownHook]), or ctx ended. The report then contains the checks made so far.
//
// The validation ends after three consecutive timeouts, so checking a hook that hangs takes three
// times its timeout.
func Validate(ctx context.Context, o Options) (Report, error) {
	v := &validation{Options: o, report: Report{Hook: o.ID, Checks: []Check{}}, start: time.Now()}
	err := v.run(ctx)
	v.report.Took = time.Since(v.start)
	v.report.OK = err == nil && len(v.report.Checks) > 0 && len(v.report.Failed()) == 0
	if err != nil {
		err = fmt.Errorf("validate hook %s: %w", o.ID, err)
	}
	return v.report, err
}

// validation is one run of [Validate].
type validation struct {
	Options
	bus      *natsx.Conn
	hook     chain.Registration
	report   Report
	start    time.Time
	timeouts int // consecutive
}

var (
	errGivenUp = errors.New("given up")
	errNobody  = errors.New("nobody answers")
)

func (v *validation) run(ctx context.Context) error {
	if err := events.CheckHookID(v.ID); err != nil {
		return err
	}
	if v.Conn == nil {
		return errors.New("a connection is missing")
	}
	var err error
	if v.bus, err = natsx.New(v.Conn, v.Prefix, nil); err != nil {
		return err
	}
	if v.hook, err = v.lookup(ctx); err != nil {
		return err
	}
	v.Session = cmp.Or(v.Session, v.hook.SessionID)
	v.Session = cmp.Or(v.Session, "contract-check")
	switch err = v.checks(ctx); {
	case errors.Is(err, errGivenUp):
		v.note(Check{Name: "is checked to the end", Detail: fmt.Sprintf("given up after %d time-outs in a row", giveUpAfter)})
	case errors.Is(err, errNobody):
		v.note(Check{Name: "a worker answers", Detail: "it is registered, but nobody listens on " + v.bus.Call(v.ID)})
	case err != nil:
		return err
	}
	return nil
}

// lookup returns the registration of the hook.
func (v *validation) lookup(ctx context.Context) (chain.Registration, error) {
	ctx, cancel := context.WithTimeout(ctx, registryTimeout)
	defer cancel()
	msg, err := v.bus.Request(ctx, v.bus.Of("registry"), nil, nil)
	switch {
	case errors.Is(err, natsx.ErrNoResponders):
		return chain.Registration{}, fmt.Errorf("no router answers on %s: start `hook-router`, see on its /readyz why it is not ready, or check the prefix", v.bus.Of("registry"))
	case err != nil:
		return chain.Registration{}, fmt.Errorf("ask for the registry: %w", err)
	}
	var list []chain.Registration
	if err := json.Unmarshal(msg.Data, &list); err != nil {
		return chain.Registration{}, fmt.Errorf("read the registry: %w", err)
	}
	i := slices.IndexFunc(list, func(r chain.Registration) bool { return r.ID == v.ID })
	if i < 0 {
		return chain.Registration{}, ErrUnknownHook
	}
	return list[i], nil
}

// checks makes all checks, and finally checks that the hook still answers usual data.
func (v *validation) checks(ctx context.Context) error {
	if len(v.hook.Channels) > 0 {
		for _, channel := range v.hook.Channels {
			if err := v.contribution(ctx, channel); err != nil {
				return err
			}
		}
		return nil
	}
	list := matching(v.hook.Events)
	if err := v.order(ctx, list[0].Name); err != nil {
		return err
	}
	for _, info := range list {
		for _, variant := range variants(info, v.Session) {
			if err := v.check(ctx, info.Name, variant); err != nil {
				return err
			}
		}
	}
	last := variants(list[0], v.Session)[0]
	last.name = "usual data, after all the rest"
	return v.check(ctx, list[0].Name, last)
}

// matching returns the standard events that a hook's patterns match, its custom events, and a
// made-up event for each pattern of a domain without standard events.
func matching(patterns []string) []events.Info {
	var list []events.Info
	for _, info := range events.Catalog() {
		if slices.ContainsFunc(patterns, func(p string) bool { return events.Match(p, info.Name) }) {
			list = append(list, info)
		}
	}
	for _, p := range patterns {
		name := p
		if domain, isDomain := cutWildcard(p); isDomain {
			name = domain + ":check"
		}
		known := func(info events.Info) bool { return events.Match(p, info.Name) }
		if !slices.ContainsFunc(list, known) {
			list = append(list, events.Info{Name: name})
		}
	}
	return list
}

// note adds a check to the report.
func (v *validation) note(c Check) {
	v.report.Checks = append(v.report.Checks, c)
	if v.Each != nil {
		v.Each(c)
	}
}
