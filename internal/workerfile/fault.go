package workerfile

import (
	"cmp"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// faults collects the errors of a file. It leaves out errors that only follow from others: a value
// that could not be read is missing afterwards, and so is a key that was misspelt.
type faults struct {
	all     []*Error
	wrong   map[jsontext.Pointer]bool // values with an error
	holding map[jsontext.Pointer]bool // those values, and the values that contain them
	unknown map[jsontext.Pointer]bool // mappings with an unknown key
}

func newFaults() faults {
	return faults{nil, map[jsontext.Pointer]bool{}, map[jsontext.Pointer]bool{}, map[jsontext.Pointer]bool{}}
}

// note adds the errors in err, except those that follow from an earlier one.
func (d *document) note(err error) {
	for _, e := range Errors(err) {
		if d.follows(e.at) {
			continue
		}
		d.all = append(d.all, e)
		d.wrong[e.at] = true
		for at := e.at; ; at = at.Parent() {
			d.holding[at] = true
			if at == "" {
				break
			}
		}
		if e.unknown {
			d.unknown[e.at.Parent()] = true
		}
	}
}

// follows reports whether an error at a value may be the consequence of an earlier one: at the
// value, in it or around it, or at an unknown key in the same mapping.
func (d *document) follows(at jsontext.Pointer) bool {
	if _, there := d.places[at]; !there && d.unknown[at.Parent()] {
		return true
	}
	if d.holding[at] {
		return true
	}
	for ; at != ""; at = at.Parent() {
		if d.wrong[at] {
			return true
		}
	}
	return d.wrong[""]
}

// err returns the noted errors in the order of the file, or nil if there are none.
func (f *faults) err() error {
	slices.SortStableFunc(f.all, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	errs := make([]error, len(f.all))
	for i, e := range f.all {
		errs[i] = e
	}
	return errors.Join(errs...)
}
