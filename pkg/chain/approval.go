package chain

import (
	"errors"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of an [Approval].
const (
	MaxApprovers = 16 // people, in all groups together
	maxGroups    = 8
)

// Approval says whose approval a hook's question needs. A nil Approval accepts anyone who may
// answer.
type Approval struct {
	// Approvers are the groups that must allow, each with its own people: a person in two groups
	// counts for one of them. The router's operator defines the groups.
	Approvers []Approvers `json:"approvers,omitempty"`
	// ExcludeRequester forbids people to approve their own requests: the sender of the event,
	// which must be proven, and the person behind it.
	ExcludeRequester bool `json:"exclude_requester,omitempty"`
}

// Approvers is a number of people from a group.
type Approvers struct {
	Group string `json:"group"`
	Count int    `json:"count,omitempty"` // 0 means 1
}

// People returns the number of people from the group that must allow.
func (a Approvers) People() int { return max(a.Count, 1) }

// People returns the number of people that must allow; 0 for a nil Approval.
func (a *Approval) People() (n int) {
	if a == nil {
		return 0
	}
	for _, g := range a.Approvers {
		n += g.People()
	}
	return n
}

// CheckGroup returns an error unless name is a valid name of a group.
func CheckGroup(name string) error {
	if !isName(name, 63, "_-") {
		return fmt.Errorf("group %q: a name has lower-case letters, digits, - and _, at most 63, and begins with a letter or a digit", name)
	}
	return nil
}

// Check returns an error unless the approval is valid. Nil is valid.
func (a *Approval) Check() error {
	if a == nil {
		return nil
	}
	if len(a.Approvers) == 0 {
		return errors.New("approval: approvers are missing: name a group, like {group: security, count: 1}")
	}
	for i, g := range a.Approvers {
		if err := CheckGroup(g.Group); err != nil {
			return fmt.Errorf("approval: %w", err)
		}
		if slices.ContainsFunc(a.Approvers[:i], func(o Approvers) bool { return o.Group == g.Group }) {
			return fmt.Errorf("approval: the group %q is named twice", g.Group)
		}
		if g.Count < 0 || g.Count > MaxApprovers {
			return fmt.Errorf("approval: count of %s is %d: 1 to %d are allowed", g.Group, g.Count, MaxApprovers)
		}
	}
	if len(a.Approvers) > maxGroups || a.People() > MaxApprovers {
		return fmt.Errorf("approval: %d groups with %d people: at most %d groups with %d people in all are allowed", len(a.Approvers), a.People(), maxGroups, MaxApprovers)
	}
	return nil
}

// parseApproval parses the approval of a registration; nil if there is none. An unknown member is
// an error in every protocol version, since ignoring a misspelled one would require less.
func parseApproval(text jsontext.Value) (*Approval, error) {
	var a *Approval
	if len(text) == 0 {
		return nil, nil
	}
	if err := jsonv2.Unmarshal(text, &a, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf(`registration: approval must be like {"approvers":[{"group":"security","count":1}],"exclude_requester":true}: %w`, err)
	}
	return a, nil
}

// Stricter returns an approval with the requirements of all approvals in list; nil if there are
// none.
func Stricter(list ...*Approval) *Approval {
	var sum *Approval
	for _, a := range list {
		if a == nil {
			continue
		}
		if sum == nil {
			sum = &Approval{}
		}
		sum.ExcludeRequester = sum.ExcludeRequester || a.ExcludeRequester
		for _, g := range a.Approvers {
			i := slices.IndexFunc(sum.Approvers, func(o Approvers) bool { return o.Group == g.Group })
			if i < 0 {
				sum.Approvers = append(sum.Approvers, g)
				continue
			}
			sum.Approvers[i].Count = max(sum.Approvers[i].People(), g.People())
		}
	}
	return sum
}
