package workerfile

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxSize bounds a worker file, in bytes.
const maxSize = 4 << 20

// Options determine what a file may contain. With zero Options, no kind is known.
type Options struct {
	// Kinds maps the key of a section to its kind of hook.
	Kinds map[string]kind.Kind
	// Worker is the worker that will call the hooks.
	Worker kind.Worker
	// FileOnly checks only the file, and not whether this machine has what its hooks need. A hook
	// that lacks something (see [kind.MachineError]) is built nevertheless, and fails when it is
	// called.
	FileOnly bool
}

// File is a worker file that was read and checked.
type File struct {
	// NATS is the connection to the bus; flags and environment variables take precedence.
	NATS NATS
	// Hooks are the hooks in the order of the file. Their ids are unique.
	Hooks []Hook
	// Contributors are the contributors in the order of the file: hooks with channels instead of
	// events, and without a handler. Their ids differ from those of the hooks.
	Contributors []Hook
	// Tests are the tests in the order of the file.
	Tests []Test
}

// NATS is the section nats of a file. Its zero fields mean that the file does
// not say.
type NATS struct {
	URL    string `json:"url"`
	Prefix string `json:"prefix"`
}

// Close releases the resources of the hooks. Call it after the last call of a hook.
func (f *File) Close() {
	for _, h := range slices.Concat(f.Hooks, f.Contributors) {
		if h.Close != nil {
			h.Close()
		}
	}
}

// Load reads a worker file. The error consists of [*Error]s, or says why the file can't be read.
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

// Parse parses the text of a worker file. name is the file's name in errors.
func Parse(name string, source []byte, opts Options) (*File, error) {
	doc, err := newDocument(name, source, opts.Kinds)
	if err != nil {
		return nil, err
	}
	var text struct {
		NATS         NATS             `json:"nats"`
		Hooks        []jsontext.Value `json:"hooks"`
		Contributors []jsontext.Value `json:"contributors"`
		Tests        []jsontext.Value `json:"tests"`
	}
	doc.note(doc.decode("", doc.json, &text, strict))
	if _, err := events.NewSubjects(text.NATS.Prefix); err != nil {
		doc.note(doc.errorAt("/nats/prefix", err))
	}
	if len(text.Hooks)+len(text.Contributors) == 0 {
		doc.note(doc.errorAt("/hooks", errors.New("the file has no hooks: give it at least one")))
	}
	f := &File{NATS: text.NATS}
	firstAt := map[string]jsontext.Pointer{}
	for i, raw := range text.Hooks {
		h := doc.hook(jsontext.Pointer("/hooks").AppendToken(fmt.Sprint(i)), raw, opts)
		doc.checkUnique(h, firstAt)
		f.Hooks = append(f.Hooks, h)
	}
	for i, raw := range text.Contributors {
		h := doc.contributor(jsontext.Pointer("/contributors").AppendToken(fmt.Sprint(i)), raw, opts)
		doc.checkUnique(h, firstAt)
		f.Contributors = append(f.Contributors, h)
	}
	f.Tests, err = doc.tests(text.Tests, f.Hooks)
	doc.note(err)
	if err := doc.err(); err != nil {
		f.Close()
		return nil, &invalidError{err, f.Warnings()}
	}
	return f, nil
}

// checkUnique notes an id that is already used in the file. firstAt maps each id to its first
// place.
func (d *document) checkUnique(h Hook, firstAt map[string]jsontext.Pointer) {
	id := h.Registration.ID
	if first, again := firstAt[id]; again {
		d.note(d.errorAt(h.at+"/id", fmt.Errorf("hook id %q is taken already, in line %d", id, d.places[first].line)))
	} else if id != "" {
		firstAt[id] = h.at + "/id"
	}
}
