package workerfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Hook is one hook of a file.
type Hook struct {
	Registration chain.Registration // completed and checked; its match compiles
	Kind         string             // the key of its section
	kind.Hook                       // its handler
	// Condition is the compiled match of the registration; nil means always.
	Condition func(*chain.View) (bool, error)
	Lacks     *Error // what this machine lacks for the hook; nil without [Options.FileOnly]
	// Policy is the version of the signed policy that the hook belongs to, which its answers name.
	// It is empty without one.
	Policy string

	section jsontext.Value   // as JSON
	doc     *document        // declares the hook; nil for a hook without a file
	at      jsontext.Pointer // its place in doc
}

// Same reports whether two hooks give the same answers: they were built from equal sections of the
// same policy. It is false for a hook that was built from other files too.
func (h Hook) Same(other Hook) bool {
	return h.Policy == other.Policy && h.Kind == other.Kind && bytes.Equal(h.section, other.section) && len(h.Files)+len(other.Files) == 0
}

// Wrong returns err as an error at the place of the hook in its file.
func (h Hook) Wrong(err error) *Error {
	if h.doc == nil {
		return &Error{Err: err}
	}
	p := h.doc.nearest(h.at.AppendToken("id"))
	return h.doc.errorIn(p.line, p.column, h.at, err)
}

// Place returns the place of a part of the hook's section, like "worker.yaml:12, rules[1]".
func (h Hook) Place(part jsontext.Pointer) string {
	if h.doc == nil {
		return pathOf(part)
	}
	return fmt.Sprintf("%s:%d, %s", h.doc.name, h.doc.nearest(h.at.AppendToken(h.Kind)+part).line, pathOf(part))
}

// hookText is a hook as written in a file: a registration and sections.
type hookText struct {
	chain.Registration
	Async    bool                      `json:"async"` // mode: async
	Sections map[string]jsontext.Value `json:",embed"`
}

// hookKeys returns the keys of a hook, without its sections and the keys that the worker sets
// itself.
func hookKeys() []string {
	return slices.DeleteFunc(fieldNames[hookText](), func(name string) bool {
		return name == "channels" || name == "instance" || name == "protocol"
	})
}

// hook parses one hook, as far as possible, and notes its errors.
func (d *document) hook(at jsontext.Pointer, raw jsontext.Value, opts Options) Hook {
	var text hookText
	d.note(d.decode(at, raw, &text))
	if text.Async {
		switch text.Mode {
		case "", chain.Async:
			text.Mode = chain.Async
		default:
			d.note(d.errorAt(at+"/async", fmt.Errorf("async: true is the mode async, and the hook has mode: %s", text.Mode)))
		}
	}
	h := Hook{Registration: text.Registration, doc: d, at: at}
	var sections []string
	for _, name := range slices.Sorted(maps.Keys(text.Sections)) {
		if _, known := opts.Kinds[name]; known {
			sections = append(sections, name)
		} else {
			d.note(d.unknownKey(at.AppendToken(name), append(hookKeys(), names(opts.Kinds)...), nil))
		}
	}
	complete := true // whether the registration is as it would be without errors
	switch len(sections) {
	case 0:
		d.note(d.missing(at, "kind", "the hook has no kind: give it one of %s", list(names(opts.Kinds))))
	case 1:
		h.Kind, h.section = sections[0], text.Sections[sections[0]]
		built := d.build(at, &h, opts)
		complete = built || opts.Kinds[h.Kind].Members == nil
	default:
		d.note(d.missing(at, "kind", "the hook has both %s and %s: give it one kind", sections[0], sections[1]))
	}
	if complete && len(h.Registration.Events)+len(h.Registration.Channels) == 0 {
		d.note(d.missing(at, "events", "the hook has no events: say for which it is, like events: [tool:pre]"))
	}
	d.checkEvents(at, &h)
	d.checkRegistration(at, h.Registration)
	d.compileMatch(at, &h)
	d.checkTimeout(at, &h)
	d.checkLate(at, &h)
	return h
}

// build builds the handler of a hook from its section.
func (d *document) build(at jsontext.Pointer, h *Hook, opts Options) (built bool) {
	section := at.AppendToken(h.Kind)
	var err error
	h.Hook, err = opts.Kinds[h.Kind].Build(d.sectionOf(section, h, opts, func(field string) bool {
		_, given := d.places[at.AppendToken(field)]
		return given
	}))
	err = d.noteBuild(section, h, opts, err)
	if h.Lacks != nil && err == nil {
		h.Hook = kind.Hook{Acts: true, Handler: func(context.Context, events.Event) (chain.Result, error) { return chain.Result{}, h.Lacks }}
	}
	for i, warning := range h.Warnings {
		h.Warnings[i] = d.errorAt(section, warning)
	}
	return err == nil
}

// sectionOf returns the section that a kind builds a hook from.
func (d *document) sectionOf(section jsontext.Pointer, h *Hook, opts Options, given func(field string) bool) kind.Section {
	return kind.Section{
		Registration: &h.Registration,
		Given:        given,
		Decode: func(part jsontext.Pointer, config any) error {
			return d.decodePart(section, h.section, part, config)
		},
		Worker: opts.Worker,
	}
}

// noteBuild notes the error of building a section and returns it. With [Options.FileOnly] it leaves
// out errors about what this machine lacks.
func (d *document) noteBuild(section jsontext.Pointer, h *Hook, opts Options, err error) error {
	if err == nil {
		return nil
	}
	err = d.errorAt(section, err)
	if opts.FileOnly {
		h.Lacks, err = splitLacking(err)
	}
	d.note(err)
	return err
}

// splitLacking returns the first error about what this machine lacks, and all errors about anything
// else.
func splitLacking(err error) (lacks *Error, rest error) {
	var wrong []error
	for _, e := range Errors(err) {
		if _, ok := errors.AsType[*kind.MachineError](e); !ok {
			wrong = append(wrong, e)
		} else if lacks == nil {
			lacks = e
		}
	}
	return lacks, errors.Join(wrong...)
}

// decodePart decodes the part of a section that a pointer names.
func (d *document) decodePart(section jsontext.Pointer, raw jsontext.Value, part jsontext.Pointer, config any) error {
	for token := range part.Tokens() {
		var members map[string]jsontext.Value
		if err := d.decode(section, raw, &members); err != nil {
			return err
		}
		section, raw = section.AppendToken(token), members[token]
	}
	return d.decode(section, raw, config, strict)
}
