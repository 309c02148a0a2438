package identity

import (
	"reflect"
	"slices"
	"strings"
)

// Difference is a change of an identity since the files were last read.
type Difference struct {
	// Action is "added", "changed" (such as what it may do, or a first token), "rotated" (its
	// credentials or its token), "revoked" or "removed".
	Action   string
	Identity Identity // as it is now; of "removed", as it was
}

// since lists how the identities differ from those of an older directory, by name.
func (d *directory) since(old *directory) (changes []Difference) {
	for name, now := range d.listed {
		was, known := old.listed[name]
		token := old.digests[name]
		if action := compare(was, now, known, token != "" && token != d.digests[name]); action != "" {
			changes = append(changes, Difference{action, now})
		}
	}
	for name, was := range old.listed {
		if _, still := d.listed[name]; !still {
			changes = append(changes, Difference{"removed", was})
		}
	}
	slices.SortFunc(changes, func(a, b Difference) int { return strings.Compare(a.Identity.Name, b.Identity.Name) })
	return changes
}

// compare returns the action of a change; empty for none.
func compare(was, now Identity, known, otherToken bool) string {
	switch {
	case was.Revoked.IsZero() && !now.Revoked.IsZero():
		return "revoked"
	case !known:
		return "added"
	case was.User != now.User || was.Account != now.Account || was.Revoked != now.Revoked || otherToken:
		return "rotated"
	case !reflect.DeepEqual(was, now):
		return "changed"
	}
	return ""
}
