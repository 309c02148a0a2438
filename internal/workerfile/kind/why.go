package kind

import (
	"context"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// whyKey is the context key of the callback of [WithWhy].
type whyKey struct{}

// WithWhy returns a context for a call. notify is called, in the goroutine of the call, with the
// part of the hook's section that decided.
func WithWhy(ctx context.Context, notify func(part jsontext.Pointer)) context.Context {
	return context.WithValue(ctx, whyKey{}, notify)
}

// Decided reports that an element of a list in the section, such as a rule, decides the call or
// fails to decide it. Without [WithWhy] it does nothing.
func Decided(ctx context.Context, list string, i int) {
	if notify, ok := ctx.Value(whyKey{}).(func(jsontext.Pointer)); ok {
		notify(jsontext.Pointer("").AppendToken(list).AppendToken(strconv.Itoa(i)))
	}
}

// Rule returns the Rule of a [chain.Result] for a hook of a worker file: the part of the section
// that decided, and a readable name. Either may be empty. The worker adds file and line.
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
