package hookfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Hook is one hook of a file.
type Hook struct {
	Registration chain.Registration // completed and checked; its match compiles
	Kind         string             // the key of its section
	kind.Hook                       // what answers
	Lacks        *Error             // what this machine lacks of it; nil without [Options.FileOnly]

	section jsontext.Value   // as JSON
	doc     *document        // that it stands in; nil for a hook of no file
	at      jsontext.Pointer // where it stands there
}

// Same reports whether two hooks answer alike because they were built from the same
// section. One that was built from other files too is like no other.
func (h Hook) Same(other Hook) bool {
	return h.Kind == other.Kind && bytes.Equal(h.section, other.section) && len(h.Files)+len(other.Files) == 0
}

// Wrong is err as an error at the place of the hook in its file.
func (h Hook) Wrong(err error) *Error {
	if h.doc == nil {
		return &Error{Err: err}
	}
	p := h.doc.nearest(h.at.AppendToken("id"))
	return h.doc.errorIn(p.line, p.column, h.at, err)
}

// Place is where a part of the hook's section stands, like "worker.yaml:12, rules[1]".
func (h Hook) Place(part jsontext.Pointer) string {
	if h.doc == nil {
		return pathOf(part)
	}
	return fmt.Sprintf("%s:%d, %s", h.doc.name, h.doc.nearest(h.at.AppendToken(h.Kind)+part).line, pathOf(part))
}

// hookText is a hook as it stands in a file: a registration, and sections.
type hookText struct {
	chain.Registration
	Sections map[string]jsontext.Value `json:",embed"`
}

// hook reads one hook. What it could read is returned with an error too.
func (d *document) hook(at jsontext.Pointer, raw jsontext.Value, opts Options) (Hook, error) {
	var text hookText
	if err := d.decode(at, raw, &text); err != nil {
		return Hook{}, err
	}
	h := Hook{Registration: text.Registration, doc: d, at: at}
	for name := range text.Sections {
		if _, known := opts.Kinds[name]; !known {
			return h, d.unknownKey(at.AppendToken(name), append(fieldNames[hookText](), names(opts.Kinds)...))
		}
		if h.Kind != "" {
			return h, d.errorAt(at, fmt.Errorf("the hook has both %s: give it one kind", both(h.Kind, name)))
		}
		h.Kind = name
	}
	if h.Kind == "" {
		return h, d.errorAt(at, fmt.Errorf("the hook has no kind: give it one of %s", list(names(opts.Kinds))))
	}
	section := at.AppendToken(h.Kind)
	h.section = text.Sections[h.Kind]
	var err error
	h.Hook, err = opts.Kinds[h.Kind].Build(kind.Section{
		Registration: &h.Registration,
		Given: func(field string) bool {
			_, given := d.places[at.AppendToken(field)]
			return given
		},
		Decode: func(part jsontext.Pointer, config any) error {
			return d.decodePart(section, text.Sections[h.Kind], part, config)
		},
		Worker: opts.Worker,
	})
	if err != nil {
		err = d.errorAt(section, err)
		if h.Lacks = lacking(err); h.Lacks == nil || !opts.FileOnly {
			return h, err
		}
		h.Hook = kind.Hook{Acts: true, Handler: func(context.Context, events.Event) (chain.Result, error) { return chain.Result{}, err }}
	}
	return h, d.checkRegistration(at, h.Registration, opts.CheckMatch)
}

// lacking is err where it says what this machine lacks; nil elsewhere.
func lacking(err error) *Error {
	if _, ok := errors.AsType[*kind.MachineError](err); !ok {
		return nil
	}
	e, _ := errors.AsType[*Error](err)
	return e
}

// decodePart reads the part of a section that a pointer names.
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
