package hookfile

import (
	"errors"
	"fmt"
	"os"
	"strings"

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
	if info.IsDir() {
		return nil, fmt.Errorf("read worker file: %s is a directory: give the files in it, such as %s/*.yaml", path, strings.TrimSuffix(path, "/"))
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
