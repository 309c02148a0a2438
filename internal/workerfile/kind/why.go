package kind

import (
	"context"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// whyKey is the key of who is told what decided.
type whyKey struct{}

// WithWhy returns a context for calls of which told hears what part of a hook's section
// decided. It is called by the goroutine of the call.
func WithWhy(ctx context.Context, told func(part jsontext.Pointer)) context.Context {
	return context.WithValue(ctx, whyKey{}, told)
}

// Decided says that an element of a list of the section, such as a rule, decides the
// call, or fails to. It costs nothing where nobody asked with [WithWhy].
func Decided(ctx context.Context, list string, i int) {
	if told, ok := ctx.Value(whyKey{}).(func(jsontext.Pointer)); ok {
		told(jsontext.Pointer("").AppendToken(list).AppendToken(strconv.Itoa(i)))
	}
}
