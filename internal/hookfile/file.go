package hookfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxSize bounds a worker file, in bytes.
const maxSize = 4 << 20

// Options say what a file may hold. The zero Options know no kind.
type Options struct {
	// Kinds are the kinds of hooks by the key of their section.
	Kinds map[string]kind.Kind
	// Worker is who will call the hooks.
	Worker kind.Worker
	// CheckMatch says why the match of a registration does not compile; it may
	// be a [*kind.FieldError]. Nil leaves that to the router.
	CheckMatch func(expr string) error
	// FileOnly checks what the file says, and not whether this machine has what its
	// hooks need. A hook that lacks something (see [kind.MachineError]) is built all
	// the same, and fails when it is called.
	FileOnly bool
}

// File is a worker file that was read and checked.
type File struct {
	// NATS is how to reach the bus; flags and environment win over it.
	NATS NATS
	// Hooks are in the order of the file; their ids differ.
	Hooks []Hook
	// Tests are those of the file, in its order.
	Tests []Test
}

// NATS is the section nats of a file. Its zero fields mean that the file does
// not say.
type NATS struct {
	URL    string `json:"url"`
	Prefix string `json:"prefix"`
}

// Hook is one hook of a file.
type Hook struct {
	Registration chain.Registration // completed and checked; its match compiles
	Kind         string             // the key of its section
	kind.Hook                       // what answers
	Lacks              *Error             // what this machine lacks of it; nil without [Options.FileOnly]

	section jsontext.Value // as JSON
	place   *Error         // where it stands; its Err is nil
	doc     *document      // that it stands in
	at      jsontext.Pointer
}

// Same reports whether two hooks answer alike because they were built from the same
// section. One that was built from other files too is like no other.
func (h Hook) Same(other Hook) bool {
	return h.Kind == other.Kind && bytes.Equal(h.section, other.section) && len(h.Files)+len(other.Files) == 0
}

// Wrong is err as an error at the place of the hook in its file.
func (h Hook) Wrong(err error) *Error {
	e := Error{}
	if h.place != nil {
		e = *h.place
	}
	e.Err = err
	return &e
}

// Place is where a part of the hook's section stands, like "worker.yaml:12, rules[1]".
func (h Hook) Place(part jsontext.Pointer) string {
	if h.doc == nil {
		return pathOf(part)
	}
	return fmt.Sprintf("%s:%d, %s", h.doc.name, h.doc.nearest(h.at+part).line, pathOf(part))
}

// Close lets go of what the hooks hold, when none of them is called any more.
func (f *File) Close() {
	for _, h := range f.Hooks {
		if h.Close != nil {
			h.Close()
		}
	}
}

// Load reads a worker file. The error is made of [*Error]s, or says why the file
// can't be read.
func Load(path string, opts Options) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read worker file: %w", err)
	}
	if info.Size() > maxSize {
		return nil, fmt.Errorf("read worker file: %s has %d bytes: at most %d are allowed", path, info.Size(), maxSize)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read worker file: %w", err)
	}
	return Parse(path, source, opts)
}

// Parse reads the text of a worker file; name is what errors call it.
func Parse(name string, source []byte, opts Options) (*File, error) {
	doc, err := newDocument(name, source)
	if err != nil {
		return nil, err
	}
	var text struct {
		NATS  NATS             `json:"nats"`
		Hooks []jsontext.Value `json:"hooks"`
		Tests []jsontext.Value `json:"tests"`
	}
	if err := doc.decode("", doc.json, &text, strict); err != nil {
		return nil, err
	}
	if _, err := events.NewSubjects(text.NATS.Prefix); err != nil {
		return nil, doc.errorAt("/nats/prefix", err)
	}
	if len(text.Hooks) == 0 {
		return nil, doc.errorAt("/hooks", errors.New("the file has no hooks: give it at least one"))
	}
	f := &File{NATS: text.NATS}
	var wrong []error
	firstAt := map[string]jsontext.Pointer{}
	for i, raw := range text.Hooks {
		at := jsontext.Pointer("/hooks").AppendToken(fmt.Sprint(i))
		h, err := doc.hook(at, raw, opts)
		if first, again := firstAt[h.Registration.ID]; again && err == nil {
			err = doc.errorAt(at+"/id", fmt.Errorf("hook id %q is taken already, in line %d", h.Registration.ID, doc.places[first].line))
		}
		if err != nil {
			wrong = append(wrong, err)
		}
		firstAt[h.Registration.ID] = at + "/id"
		f.Hooks = append(f.Hooks, h)
	}
	if f.Tests, err = doc.tests(text.Tests, f.Hooks); err != nil {
		wrong = append(wrong, err)
	}
	if len(wrong) > 0 {
		f.Close()
		return nil, errors.Join(wrong...)
	}
	return f, nil
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
	p := d.nearest(at.AppendToken("id"))
	h := Hook{Registration: text.Registration, place: d.errorIn(p.line, p.column, at, nil)}
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
	h.section, h.doc, h.at = text.Sections[h.Kind], d, section
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

// checkRegistration checks what a file may say of a registration.
func (d *document) checkRegistration(at jsontext.Pointer, r chain.Registration, checkMatch func(string) error) error {
	for _, own := range [...]struct {
		name  string
		given bool
	}{{"instance", r.Instance != ""}, {"protocol", r.Protocol != 0}} {
		if own.given {
			return d.errorAt(at.AppendToken(own.name), errors.New("the worker says this itself: leave it out"))
		}
	}
	if len(r.Channels) > 0 {
		return d.errorAt(at+"/channels", errors.New("a hook of a worker file answers events: contributors are written in Go"))
	}
	if err := r.Check(); err != nil {
		return d.errorAt(d.mentioned(at, err), err)
	}
	if r.Match != "" && checkMatch != nil {
		if err := checkMatch(r.Match); err != nil {
			return d.errorAt(at+"/match", err)
		}
	}
	return nil
}

// strict is how all is decoded but a hook: it takes its unknown keys as sections.
var strict = jsonv2.RejectUnknownMembers(true)

// decode reads a value. at is where it stands in the document.
func (d *document) decode(at jsontext.Pointer, raw jsontext.Value, into any, opts ...jsonv2.Options) error {
	err := jsonv2.Unmarshal(raw, into, opts...)
	if err == nil {
		return nil
	}
	var sem *jsonv2.SemanticError
	if !errors.As(err, &sem) {
		return d.errorAt(at, err)
	}
	where := at + sem.JSONPointer
	if errors.Is(sem.Err, jsonv2.ErrUnknownName) {
		return d.unknownKey(where, fieldNamesOf(sem.GoType))
	}
	return d.errorAt(where, mismatch(sem))
}
