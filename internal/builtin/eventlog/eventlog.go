package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Data says what a line holds of an event's data.
type Data string

// What a line may hold. The zero Data means [DataRedacted].
const (
	DataNone     Data = "none"     // nothing
	DataRedacted Data = "redacted" // the data with its secrets masked
	DataFull     Data = "full"     // the data as it was sent, secrets included
)

// Defaults and limits of [Options].
const (
	DefaultFile        = "events.jsonl"
	DefaultMaxSizeMB   = 100
	DefaultRotateHours = 24
	DefaultKeep        = 30

	maxSizeMB      = 1 << 20
	maxRotateHours = 366 * 24
	maxKeep        = 100_000
)

// Options of the builtin. The zero Options are its defaults.
type Options struct {
	// File is where events are written, found from the worker's directory; empty means
	// [DefaultFile]. Its directory is made where there is none.
	File string `json:"file"`
	// Data is what a line holds of the data: none, redacted or full; empty means
	// redacted. What is masked is masked in the whole line, ids included.
	Data Data `json:"data"`
	// MaxSizeMB is after how many mebibytes a new file is begun; 0 means
	// [DefaultMaxSizeMB]. A longer event is not written.
	MaxSizeMB int `json:"max_size_mb"`
	// RotateHours is after how many hours of writing a new file is begun, or at the
	// start where the old one was left alone for so long; 0 means [DefaultRotateHours].
	RotateHours int `json:"rotate_hours"`
	// Keep is how many older files are kept; 0 means [DefaultKeep].
	Keep int `json:"keep"`
	// Gzip compresses older files.
	Gzip bool `json:"gzip"`
}

// Builtin is event-log.
var Builtin = builtin.Of("Writes all events to a file, one line of JSON each.",
	chain.Registration{Events: []string{"*"}, Priority: 100, Mode: chain.Observe}, New)

// New builds the hook. The file is opened at the first write.
func New(s kind.Section, o Options) (kind.Hook, error) {
	set, err := o.settings(s.Worker.Dir)
	if err != nil {
		return kind.Hook{}, err
	}
	if !slices.Contains([]Data{"", DataNone, DataRedacted, DataFull}, o.Data) {
		return kind.Hook{}, kind.At("/data", "must be none, redacted or full, not %q", o.Data)
	}
	var warnings []error
	if s.Registration != nil && s.Given("mode") && s.Registration.Mode != chain.Observe {
		warnings = append(warnings, kind.At("", "answers nothing: with mode observe it would cost agents no time"))
	}
	f := share(set, builtin.LogOf(s))
	return kind.Hook{
		Acts:     true,
		Warnings: warnings,
		Handler: func(_ context.Context, ev events.Event) (chain.Result, error) {
			line, err := o.Data.line(ev)
			if err != nil {
				return chain.Result{}, err
			}
			return chain.Result{}, f.append(line)
		},
		Close: f.release,
	}, nil
}

// settings checks the options and returns them with defaults.
func (o Options) settings(dir string) (settings, error) {
	set := settings{maxSizeMB: o.MaxSizeMB, rotateHours: o.RotateHours, keep: o.Keep, gzip: o.Gzip}
	if err := cmp.Or(
		kind.Range("/max_size_mb", &set.maxSizeMB, DefaultMaxSizeMB, 1, maxSizeMB),
		kind.Range("/rotate_hours", &set.rotateHours, DefaultRotateHours, 1, maxRotateHours),
		kind.Range("/keep", &set.keep, DefaultKeep, 1, maxKeep),
	); err != nil {
		return set, err
	}
	path := kind.Worker{Dir: dir}.Path(cmp.Or(o.File, DefaultFile))
	if info, err := os.Stat(path); strings.HasSuffix(o.File, "/") || err == nil && !info.Mode().IsRegular() {
		return set, kind.At("/file", "%s is not a file that lines could be added to: give the path of a file", path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err == nil && !info.IsDir() {
		return set, kind.At("/file", "%s is not a directory", filepath.Dir(path))
	}
	set.path = path
	return set, nil
}

// line returns the event as a line of the file.
func (d Data) line(ev events.Event) ([]byte, error) {
	w := events.NewObjectWriter(make([]byte, 0, len(ev.Data)+512))
	w.String("specversion", "1.0")
	w.String("id", ev.ID)
	w.String("source", ev.Source)
	w.String("type", ev.Name)
	w.Text("subject", ev.Session)
	w.Text("time", ev.Time)
	names := make([]string, 0, len(ev.Extensions))
	for name := range ev.Extensions {
		if isAttribute(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		w.Text(name, ev.Extensions[name])
	}
	if d != DataNone && len(ev.Data) > 0 {
		w.String("datacontenttype", "application/json")
		w.Raw("data", ev.Data)
	}
	line := w.End()
	if d == "" || d == DataRedacted {
		line, _ = redact.Default().Object(line)
	}
	if bytes.ContainsAny(line, "\r\n") { // whitespace between JSON tokens; inside strings they are escaped
		compact := jsontext.Value(line)
		if err := compact.Compact(); err != nil {
			return nil, errors.New("the event is not written: its data is no JSON") // a router rejects such events
		}
		line = compact
	}
	return append(line, '\n'), nil
}

// isAttribute reports whether name is a valid name of a CloudEvents extension. Any other name could
// change the meaning of the line.
func isAttribute(name string) bool {
	if slices.Contains([]string{"specversion", "id", "source", "type", "subject", "time", "datacontenttype", "data"}, name) {
		return false
	}
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
