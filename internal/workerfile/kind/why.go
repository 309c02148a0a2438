package kind

import (
	"context"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// whyKey is the key of the callback of [WithWhy].
type whyKey struct{}

// WithWhy returns a context for calls. notify gets the part of the hook's section that decided, in the
// goroutine of the call.
func WithWhy(ctx context.Context, notify func(part jsontext.Pointer)) context.Context {
	return context.WithValue(ctx, whyKey{}, notify)
}

// Decided says that an element of a list of the section, such as a rule, decides the call, or fails
// to. It costs nothing without [WithWhy].
func Decided(ctx context.Context, list string, i int) {
	if notify, ok := ctx.Value(whyKey{}).(func(jsontext.Pointer)); ok {
		notify(jsontext.Pointer("").AppendToken(list).AppendToken(strconv.Itoa(i)))
	}
}

// Rule returns the Rule of a [chain.Result] for a hook of a worker file, to which the worker adds
// file and line: the part of the section that decided, and its name for people. Either may be
// empty.
func Rule(part jsontext.Pointer, name string) string {
	return strings.TrimSpace(string(part) + " " + name)
}

// SplitRule reverses [Rule].
func SplitRule(rule string) (part jsontext.Pointer, name string) {
	if !strings.HasPrefix(rule, "/") {
		return "", rule
	}
	at, name, _ := strings.Cut(rule, " ")
	return jsontext.Pointer(at), name
}
