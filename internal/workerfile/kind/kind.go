package kind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Handler answers one event. The context carries the deadline of the call. An
// error means that the hook could not decide; its on_failure then does. A Handler
// is called by many goroutines at once. It is the same type as a worker.Handler.
type Handler = func(ctx context.Context, ev events.Event) (chain.Result, error)

// Contributor gives a value to a channel; nil gives none. It is called by many
// goroutines at once. It is the same type as a worker.Contributor.
type Contributor = func(ctx context.Context, channel string) (any, error)

// Hook is a hook that a kind built from a section.
type Hook struct {
	// Handler answers the events of the hook's registration.
	Handler Handler
	// Wants reports whether the hook looks at an event that its registration takes; with
	// any other it does nothing and continues. Nil means that it looks at all.
	Wants func(ev events.Event) bool
	// Contributors are registered beside the hook, by their channel; nil for none.
	Contributors map[string]Contributor
	// Acts says that a call has effects besides the answer and what the hook remembers: it runs
	// commands, writes files or calls others. Tests of policies do not call it unless told to.
	Acts bool
	// Files are what the hook was built from besides its section, with their absolute
	// paths: when one changes, the hook is built anew. A directory changes with
	// the files in it. Not those that it reads, or runs, with each event.
	Files []string
	// Warnings are likely mistakes that are valid; a [*FieldError] names the place. The reader of
	// the file reports them.
	Warnings []error
	// Start begins slow preparations that the first call would wait for, such as the start of a
	// program. It does not block, and a hook works without it. Nil for none.
	Start func()
	// Close releases what the hook holds, after its last call. Nil for nothing.
	Close func()
}

// Section is what a hook is built from.
type Section struct {
	// Registration is the hook's as the file has it, for the kind to complete; it is
	// checked afterwards. Given reports whether the file has one of its fields, so
	// that what was written is not taken for a default.
	Registration *chain.Registration
	Given        func(field string) bool
	// Decode reads the section, or the part of it that a pointer names, into a
	// configuration: a pointer to a struct with json tags. It is strict, and its
	// errors name the place. What has no error is read nonetheless.
	Decode func(at jsontext.Pointer, config any) error
	// Worker will call the hook.
	Worker Worker
}

// Worker is what hooks may use of the worker that calls them. The zero Worker shares no state and
// uses the working directory.
type Worker struct {
	// Dir is where the paths of a file are found from; empty means the working
	// directory.
	Dir string
	// States keeps what hooks remember, for every replica of the worker; nil means
	// that each hook remembers alone.
	States hookstate.Store
	// Log gets what the answers do not say; nil discards it.
	Log *slog.Logger
}

// Path is the absolute path of a file that a section names.
func (w Worker) Path(name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.Dir, name)
	}
	path, err := filepath.Abs(name)
	if err != nil { // there is no working directory
		return name
	}
	return path
}

// Kind is a kind of hook. The section under its key configures it.
type Kind struct {
	// Summary is one sentence for people.
	Summary string
	// Config is the zero value of what a section is decoded into, which a schema is
	// made from. Nil for a kind with Members.
	Config any
	// Members are what the section may hold, one of them: kinds of their own.
	Members map[string]Kind
	// Build builds a hook. An error that is a [*FieldError] names its place; several
	// may be joined. With an error, the hook is closed and not used.
	Build func(Section) (Hook, error)
	// Contribute builds a contributor of the section that Gives is the zero value of, as Config
	// is of Build's. Nil for a kind that has none.
	Contribute func(Section) (Contributor, error)
	Gives      any
}

// Of returns the kind that builds a hook from a configuration of type C.
func Of[C any](summary string, build func(Section, C) (Hook, error)) Kind {
	return Kind{Summary: summary, Config: *new(C), Build: decoded(build)}
}

// Giving returns the kind with contributors that are built from a configuration of type C.
func Giving[C any](k Kind, build func(Section, C) (Contributor, error)) Kind {
	k.Gives, k.Contribute = *new(C), decoded(build)
	return k
}

// decoded returns a build function that decodes the section first.
func decoded[C, T any](build func(Section, C) (T, error)) func(Section) (T, error) {
	return func(s Section) (T, error) {
		var c C
		misfits := s.Decode("", &c)
		built, err := build(s, c) // so that all errors are reported at once
		return built, errors.Join(misfits, err)
	}
}

// FieldError says which field of a configuration is wrong, and where in the field's text, so that the
// reader of a file can name the place in the file.
type FieldError struct {
	Pointer      jsontext.Pointer // the field, from the configuration's root; empty means the root
	Line, Column int              // within the field's text, from 1; zero means the whole field
	Key          bool             // whether the field's name is wrong, not its value
	Err          error            // what is wrong
}

// Error is like "/rules/0/when: 1:6: undeclared reference to 'dta'".
func (e *FieldError) Error() string {
	text := e.Err.Error()
	if e.Line > 0 {
		text = fmt.Sprintf("%d:%d: %s", e.Line, e.Column, text)
	}
	if e.Pointer != "" {
		text = string(e.Pointer) + ": " + text
	}
	return text
}

// Range checks that a number of a configuration is in a range, and replaces 0 by the default.
func Range(field jsontext.Pointer, value *int, standard, least, most int) error {
	if *value = cmp.Or(*value, standard); *value < least || *value > most {
		return At(field, "must be %d to %d, not %d", least, most, *value)
	}
	return nil
}

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// At returns err as an error of the field that pointer names, with fmt.Errorf's
// format.
func At(pointer jsontext.Pointer, format string, args ...any) *FieldError {
	return &FieldError{Pointer: pointer, Err: fmt.Errorf(format, args...)}
}

// Within prefixes the pointers of the [*FieldError]s in err with the place of their configuration in an
// enclosing one.
func Within(pointer jsontext.Pointer, err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, Within(pointer, e))
		}
		return errors.Join(all...)
	}
	if field, ok := errors.AsType[*FieldError](err); ok {
		moved := *field
		moved.Pointer = pointer + field.Pointer
		return &moved
	}
	return err
}
