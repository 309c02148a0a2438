package workerfile

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// checkRegistration notes the errors in a registration, and members that a file must not set.
func (d *document) checkRegistration(at jsontext.Pointer, r chain.Registration) {
	for name, given := range map[string]bool{"instance": r.Instance != "", "protocol": r.Protocol != 0} {
		if given {
			d.note(d.errorAt(at.AppendToken(name), errors.New("the worker says this itself: leave it out")))
		}
	}
	if len(r.Channels) > 0 {
		d.note(d.errorAt(at+"/channels", errors.New("a hook of a worker file answers events: what gives to channels stands under contributors")))
	}
	if r.ID == "" {
		d.note(d.missing(at, "id", "the hook has no id: give it one, like id: path-guard"))
	}
	d.checkFields(at, r)
}

// checkFields notes each member of a registration that is invalid on its own.
func (d *document) checkFields(at jsontext.Pointer, r chain.Registration) {
	if err := events.CheckHookID(r.ID); err != nil {
		d.note(d.errorAt(at+"/id", err))
		r.ID = "hook"
	}
	if r.Channels = nil; len(r.Events) == 0 {
		r.Events = []string{"*"}
	}
	value := reflect.ValueOf(&r).Elem()
	for i := range value.NumField() {
		one := chain.Registration{ID: r.ID, Events: []string{"*"}}
		reflect.ValueOf(&one).Elem().Field(i).Set(value.Field(i))
		if err := one.Check(); err != nil {
			name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			d.note(d.errorAt(at.AppendToken(name), errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("hook %q: ", r.ID)))))
		}
	}
}

// checkEvents notes events that are invalid, and warns about those that are probably misspelt.
func (d *document) checkEvents(at jsontext.Pointer, h *Hook) {
	for i, pattern := range h.Registration.Events {
		at := (at + "/events").AppendToken(fmt.Sprint(i))
		switch warning, err := checkEvent(pattern, events.CheckPattern); {
		case err != nil:
			d.note(d.errorAt(at, err))
		case warning != nil:
			h.Warnings = append(h.Warnings, d.errorAt(at, warning))
		}
	}
}

// checkEvent returns what is wrong with an event name or pattern: an error if check returns one,
// else a warning if it is probably misspelt. Either says what was probably meant.
func checkEvent(pattern string, check func(string) error) (warning, err error) {
	misspelt := kind.CheckEventSpelling(pattern)
	if err := check(pattern); err != nil {
		return nil, cmp.Or(misspelt, err)
	}
	return misspelt, nil
}

// chainTimeout is the default limit of a router for a chain.
const chainTimeout = 30 * time.Second

// checkTimeout warns about a timeout that is not shorter than that of the chain: an enforced hook
// needs a shorter one.
func (d *document) checkTimeout(at jsontext.Pointer, h *Hook) {
	if own := h.Registration.Timeout(); h.Registration.Enforced() && own >= chainTimeout {
		err := fmt.Errorf("it may take %s, and the chain ends after %s: its on_failure is never reached, the event is refused with 504", own, chainTimeout)
		h.Warnings = append(h.Warnings, d.errorAt(at+"/timeout_ms", err))
	}
}

// checkLate warns about an on_failure: deny that never applies, because the hook is called after
// the answer.
func (d *document) checkLate(at jsontext.Pointer, h *Hook) {
	at += "/on_failure"
	_, given := d.places[at]
	if r := h.Registration; given && r.Observes() && r.OnFailure == chain.FailClosed {
		h.Warnings = append(h.Warnings, d.errorAt(at, fmt.Errorf("on_failure: deny denies nothing: with mode: %s the hook is called after the answer", r.Mode)))
	}
}

// compileMatch compiles the match of a hook. It notes errors, and warns about likely mistakes.
func (d *document) compileMatch(at jsontext.Pointer, h *Hook) {
	expr := h.Registration.Match
	if expr == "" {
		return
	}
	at += "/match"
	program, err := match.Compile(expr)
	if err != nil {
		if wrong, ok := errors.AsType[*match.Error](err); ok {
			err = &kind.FieldError{Line: wrong.Line, Column: wrong.Column, Err: errors.New(wrong.Message)}
		}
		d.note(d.errorAt(at, err))
		return
	}
	h.Condition = program.Condition
	for _, warning := range celhook.ConditionWarnings("", expr, program) {
		h.Warnings = append(h.Warnings, d.errorAt(at, warning))
	}
}
