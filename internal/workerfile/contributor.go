package workerfile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// contributorText is a contributor as written in a file.
type contributorText struct {
	ID       string                    `json:"id"`
	Name     string                    `json:"name"`
	Channels []string                  `json:"channels"`
	Sections map[string]jsontext.Value `json:",embed"`
}

// dataSection is the key of a value that a contributor returns unchanged.
const dataSection = "data"

// contributor parses one contributor, as far as possible, and notes its errors.
func (d *document) contributor(at jsontext.Pointer, raw jsontext.Value, opts Options) Hook {
	var text contributorText
	d.note(d.decode(at, raw, &text))
	h := Hook{Registration: chain.Registration{ID: text.ID, Name: text.Name, Channels: text.Channels}, doc: d, at: at}
	d.checkContributor(at, h.Registration)
	known, given := contributorKinds(opts.Kinds), []string(nil)
	for _, name := range slices.Sorted(maps.Keys(text.Sections)) {
		if slices.Contains(known, name) {
			given = append(given, name)
		} else {
			d.note(d.unknownKey(at.AppendToken(name), append(fieldNames[contributorText](), known...), nil))
		}
	}
	switch len(given) {
	case 0:
		d.note(d.missing(at, "kind", "the contributor gives nothing: give it one of %s", list(known)))
	case 1:
		h.Kind, h.section = given[0], text.Sections[given[0]]
		give := d.buildContributor(at, &h, opts)
		h.Acts, h.Contributors = h.Kind != dataSection, map[string]kind.Contributor{}
		for _, channel := range text.Channels {
			h.Contributors[channel] = give
		}
	default:
		d.note(d.missing(at, "kind", "the contributor has both %s and %s: give it one", given[0], given[1]))
	}
	return h
}

// contributorKinds returns the keys of the sections that a contributor may have.
func contributorKinds(kinds map[string]kind.Kind) []string {
	known := []string{dataSection}
	for name, k := range kinds {
		if k.Contribute != nil {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	return known
}

// buildContributor builds a contributor from its section.
func (d *document) buildContributor(at jsontext.Pointer, h *Hook, opts Options) kind.Contributor {
	if h.Kind == dataSection {
		value := h.section
		return func(context.Context, string) (any, error) { return value, nil }
	}
	section := at.AppendToken(h.Kind)
	give, err := opts.Kinds[h.Kind].Contribute(d.sectionOf(section, h, opts, func(string) bool { return false }))
	_ = d.noteBuild(section, h, opts, err)
	if lacks := h.Lacks; lacks != nil {
		return func(context.Context, string) (any, error) { return nil, lacks }
	}
	return give
}

// checkContributor notes the errors in the registration of a contributor.
func (d *document) checkContributor(at jsontext.Pointer, r chain.Registration) {
	if r.ID == "" {
		d.note(d.missing(at, "id", "the contributor has no id: give it one, like id: deployer"))
	} else if err := events.CheckHookID(r.ID); err != nil {
		d.note(d.errorAt(at+"/id", err))
	}
	if len(r.Channels) == 0 {
		d.note(d.missing(at, "channels", "the contributor has no channels: say to which it gives, like channels: [session.status]"))
		return
	}
	for i, channel := range r.Channels {
		one := chain.Registration{ID: "x", Channels: []string{channel}}
		if err := one.Check(); err != nil {
			d.note(d.errorAt((at + "/channels").AppendToken(fmt.Sprint(i)), errors.New(strings.TrimPrefix(err.Error(), `hook "x": `))))
		}
	}
	r.ID = "x"
	if err := r.Check(); err != nil {
		d.note(d.errorAt(at+"/channels", errors.New(strings.TrimPrefix(err.Error(), `hook "x": `))))
	}
}
