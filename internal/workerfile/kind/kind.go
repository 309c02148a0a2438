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

// Handler answers one event. The context carries the deadline of the call. An error means that the
// hook could not decide, and its on_failure applies. A Handler must be safe for concurrent use. It
// is the same type as worker.Handler.
type Handler = func(ctx context.Context, ev events.Event) (chain.Result, error)

// Contributor returns a value for a channel, or nil for none. It must be safe for concurrent use.
// It is the same type as worker.Contributor.
type Contributor = func(ctx context.Context, channel string) (any, error)

// Hook is a hook that a kind built from a section.
type Hook struct {
	// Handler answers the events of the hook's registration.
	Handler Handler
	// Wants reports whether the hook handles an event that its registration matches. For any other
	// event it does nothing and continues. Nil means that it handles all events.
	Wants func(ev events.Event) bool
	// Contributors are the contributors by channel that are registered with the hook; nil means
	// none.
	Contributors map[string]Contributor
	// Acts is set if a call has effects besides the answer and the hook's state: it runs commands,
	// writes files or calls other services. Tests of policies do not call the hook unless told to.
	Acts bool
	// Files are the absolute paths of the files, besides the section, that the hook was built from.
	// When one changes, the hook is rebuilt. A directory changes with the files in it. Files that
	// the hook reads or runs for each event do not count.
	Files []string
	// Warnings are likely mistakes that are valid; a [*FieldError] names the place. The reader of
	// the file reports them.
	Warnings []error
	// Start begins slow preparations that the first call would otherwise wait for, such as starting
	// a program. It does not block, and the hook works without it. Nil means that there is nothing
	// to prepare.
	Start func()
	// Close releases the hook's resources after its last call. Nil means that there are none.
	Close func()
}

// Section is the input that a hook is built from.
type Section struct {
	// Registration is the hook's registration as in the file, for the kind to complete; it is
	// checked afterwards. Given reports whether the file sets a field, so that a written value is
	// not taken for a default.
	Registration *chain.Registration
	Given        func(field string) bool
	// Decode decodes the section, or the part that a pointer names, into a configuration: a pointer
	// to a struct with json tags. It is strict, and its errors name the place. Parts without errors
	// are decoded even if others have errors.
	Decode func(at jsontext.Pointer, config any) error
	// Worker is the worker that will call the hook.
	Worker Worker
}

// FailsOpen reports whether events pass when the hook fails, although the file does not say so.
func (s Section) FailsOpen() bool {
	return s.Registration != nil && s.Registration.Enforced() && s.Registration.OnFailure == ""
}

// OpenWarning is the warning about the first rule that denies or asks in a hook that
// [Section.FailsOpen].
const OpenWarning = "if the hook fails, the event passes: set on_failure: deny, or on_failure: continue if that is intended"

// Worker provides what hooks may use of the worker that calls them. The zero Worker shares no state
// and uses the working directory.
type Worker struct {
	// Dir is the directory that relative paths in a file refer to; empty means the working
	// directory.
	Dir string
	// States stores the state of hooks for every replica of the worker; nil means that each hook
	// keeps its own state.
	States hookstate.Store
	// Log receives what the answers do not report; nil discards it.
	Log *slog.Logger
}

// Path returns the absolute path of a file that a section names.
func (w Worker) Path(name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.Dir, name)
	}
	path, err := filepath.Abs(name)
	if err != nil { // the working directory does not exist
		return name
	}
	return path
}

// Kind is a kind of hook. The section under its key configures it.
type Kind struct {
	// Summary is a one-sentence description.
	Summary string
	// Config is the zero value of the type that a section is decoded into. The schema is generated
	// from it. Nil for a kind with Members.
	Config any
	// Members are the kinds of which the section may have one.
	Members map[string]Kind
	// Build builds a hook. An error that is a [*FieldError] names its place; several may be joined.
	// If Build returns an error, the hook is closed and not used.
	Build func(Section) (Hook, error)
	// Contribute builds a contributor from a section. Gives is the zero value of the type of that
	// section, as Config is for Build. Nil for a kind without contributors.
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
		built, err := build(s, c) // after a misfit too, so that all errors are reported at once
		return built, errors.Join(misfits, err)
	}
}

// FieldError says which field of a configuration is wrong, and where in the field's text, so that
// the reader of a file can find the place in the file.
type FieldError struct {
	Pointer      jsontext.Pointer // the field, from the configuration's root; empty means the root
	Line, Column int              // within the field's text, starting at 1; zero means the whole field
	Key          bool             // the field's name is wrong, not its value
	Err          error            // what is wrong
}

// Error returns a message like "/rules/0/when: 1:6: undeclared reference to 'dta'".
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

// Range checks that a number of a configuration is in a range, and replaces 0 with the default.
func Range(field jsontext.Pointer, value *int, standard, least, most int) error {
	if *value = cmp.Or(*value, standard); *value < least || *value > most {
		return At(field, "must be %d to %d, not %d", least, most, *value)
	}
	return nil
}

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }

// At returns an error at the field that pointer names. The message is formatted as in fmt.Errorf.
func At(pointer jsontext.Pointer, format string, args ...any) *FieldError {
	return &FieldError{Pointer: pointer, Err: fmt.Errorf(format, args...)}
}

// Within prefixes the pointers of the [*FieldError]s in err with the place of their configuration
// in an enclosing one.
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
