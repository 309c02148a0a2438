package workerfile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// checkRegistration notes what a file must not say of a registration.
func (d *document) checkRegistration(at jsontext.Pointer, r chain.Registration) {
	for _, own := range [...]struct {
		name  string
		given bool
	}{{"instance", r.Instance != ""}, {"protocol", r.Protocol != 0}} {
		if own.given {
			d.note(d.errorAt(at.AppendToken(own.name), errors.New("the worker says this itself: leave it out")))
		}
	}
	if len(r.Channels) > 0 {
		d.note(d.errorAt(at+"/channels", errors.New("a hook of a worker file answers events: contributors are written in Go")))
	}
	if r.ID == "" {
		d.note(d.missing(at, "id", "the hook has no id: give it one, like id: path-guard"))
	}
	d.checkFields(at, r)
}

// checkFields notes each member of a registration that is wrong by itself.
func (d *document) checkFields(at jsontext.Pointer, r chain.Registration) {
	for i, pattern := range r.Events {
		if err := events.CheckPattern(pattern); err != nil {
			d.note(d.errorAt((at + "/events").AppendToken(fmt.Sprint(i)), err))
		}
	}
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

// doubtEvents warns of events that are probably misspelt.
func (d *document) doubtEvents(at jsontext.Pointer, h *Hook) {
	for i, pattern := range h.Registration.Events {
		if doubt := kind.DoubtEvent(pattern); doubt != nil {
			h.Warnings = append(h.Warnings, d.errorAt((at+"/events").AppendToken(fmt.Sprint(i)), doubt))
		}
	}
}

// checkMatch notes why the match of a hook does not compile, and warns of what it probably
// does not mean.
func (d *document) checkMatch(at jsontext.Pointer, h *Hook, check func(string) ([]error, error)) {
	if h.Registration.Match == "" || check == nil {
		return
	}
	at += "/match"
	doubts, err := check(h.Registration.Match)
	if err != nil {
		d.note(d.errorAt(at, err))
	}
	for _, doubt := range doubts {
		h.Warnings = append(h.Warnings, d.errorAt(at, doubt))
	}
}
