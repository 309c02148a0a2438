package agents

import (
	"slices"

	"github.com/tailscale/hujson"
)

// element is a text that connect adds to a list of the settings. The zero element is none.
type element struct {
	list, text string
	why        string // what happens without it
}

// in reports whether the settings have the element.
func (e element) in(settings []byte) bool {
	root, _ := hujson.Parse(settings)
	_, at := e.find(&root)
	return at >= 0
}

// find returns the elements of the list, and the index of this one, or -1.
func (e element) find(root *hujson.Value) (elements []hujson.Value, at int) {
	top, ok := objectOf(root)
	if !ok || e.list == "" {
		return nil, -1
	}
	v, _ := member(top, e.list)
	if v == nil {
		return nil, -1
	}
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, -1
	}
	return array.Elements, slices.IndexFunc(array.Elements, func(v hujson.Value) bool { return textOf(&v) == e.text })
}

// span returns the span of the element in the settings, or of its list if that has nothing else.
func (e element) span(root *hujson.Value) (from, to int, found bool) {
	elements, at := e.find(root)
	if at < 0 {
		return 0, 0, false
	}
	top, _ := objectOf(root)
	_, place := member(top, e.list)
	switch {
	case len(elements) > 1:
		from, to = spanOf(at, len(elements), func(i int) (int, int) { return elements[i].StartOffset, elements[i].EndOffset })
	case len(top.Members) > 1:
		from, to = spanOf(place, len(top.Members), membersOf(top))
	default:
		from, to = root.StartOffset+1, root.EndOffset-1
	}
	return from, to, true
}
