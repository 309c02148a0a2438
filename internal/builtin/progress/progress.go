package progress

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Defaults of [Options].
const (
	DefaultMember = "files_processed"
	DefaultText   = "Processed {count} files successfully"
)

// maxText limits the configured text in bytes and the shown text in characters.
const maxText = 200

// Options of the builtin. The zero Options are its defaults.
type Options struct {
	// Member is the member of the data, or of the tool's result, that counts; empty means
	// [DefaultMember]. Events without it pass.
	Member string `json:"member"`
	// Text is shown, with {count} for the number; empty means [DefaultText].
	Text string `json:"text"`
	// Verbose leaves the tool's output where it is shown.
	Verbose bool `json:"verbose"`
}

// Builtin is progress.
var Builtin = builtin.Of("Shows how much a tool did, in the place of its output.",
	chain.Registration{Events: []string{events.ToolPost}, Priority: 50, ReplaySafe: true}, New)

// New builds the hook.
func New(_ kind.Section, o Options) (kind.Hook, error) {
	if len(o.Text) > maxText {
		return kind.Hook{}, kind.At("/text", "has %d bytes: at most %d are shown", len(o.Text), maxText)
	}
	member, text := cmp.Or(o.Member, DefaultMember), cmp.Or(o.Text, DefaultText)
	return kind.Hook{Handler: func(_ context.Context, ev events.Event) (chain.Result, error) {
		data, err := events.ParseObject(ev.Data)
		if err != nil || builtin.Failed(data) {
			return chain.Result{}, err
		}
		count, found := countOf(data, member)
		if !found {
			return chain.Result{}, nil
		}
		return chain.Result{
			UserMessage:      builtin.Line(strings.ReplaceAll(text, "{count}", strconv.FormatInt(count, 10)), maxText),
			UserMessageLevel: chain.LevelInfo, SuppressOutput: !o.Verbose,
		}, nil
	}}, nil
}

// countOf returns the number in a member of the data or, if the data has no such member, of the
// tool's result.
func countOf(data events.Object, member string) (n int64, found bool) {
	raw, found := data.Get(member)
	if !found {
		result, err := events.ParseObject(data.ToolResult())
		if err != nil {
			return 0, false
		}
		raw, _ = result.Get(member)
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}
