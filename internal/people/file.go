package people

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// maxFile is the maximum size of a file, in bytes.
const maxFile = 1 << 20

// person is a person in the file.
type person struct {
	Identities []string `json:"identities"`
	Agents     []string `json:"agents"`
}

// need is the approval that the questions of some hooks need.
type need struct {
	Hook             string      `json:"hook"`
	Event            string      `json:"event"`
	Approvers        []approvers `json:"approvers"`
	ExcludeRequester bool        `json:"exclude_requester"`
}

type approvers struct {
	Group string `json:"group"`
	Count int    `json:"count"`
}

func (n need) approval() *chain.Approval {
	a := &chain.Approval{ExcludeRequester: n.ExcludeRequester}
	for _, g := range n.Approvers {
		a.Approvers = append(a.Approvers, chain.Approvers(g))
	}
	return a
}

// Parse parses a file of people in YAML or JSON. name identifies the file in errors:
//
//	people:
//	  ann:
//	    identities: [console ann, nats approver/ann] # as records name who answers
//	    agents: [nats agent/ann-laptop]              # that ask for ann, and approve nothing
//	  bob: {identities: [console bob]}
//	models: [nats approver/gatekeeper]               # may deny, and never allow
//	groups:
//	  security: [ann]
//	  oncall: [ann, bob]
//	approvals:                                       # besides what hooks ask for themselves
//	  - hook: deploy-*                               # globs; event may be missing
//	    event: tool:pre
//	    approvers: [{group: security}, {group: oncall, count: 1}]
//	    exclude_requester: true
//
// Unknown keys are errors.
func Parse(name string, text []byte) (*People, error) {
	var file struct {
		People    map[string]person   `json:"people"`
		Models    []string            `json:"models"`
		Groups    map[string][]string `json:"groups"`
		Approvals []need              `json:"approvals"`
	}
	if err := strictyaml.Decode(text, maxFile, `write "people: {}" for nobody`, &file); err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	s := newSet()
	for _, who := range slices.Sorted(maps.Keys(file.People)) {
		if err := s.addPerson(who, file.People[who]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, identity := range file.Models {
		if err := s.addModel(identity); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(file.Groups)) {
		if err := s.addGroup(group, file.Groups[group], file.People); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for i, n := range file.Approvals {
		if err := s.addNeed(n); err != nil {
			return nil, fmt.Errorf("%s: approvals[%d]: %w", name, i, err)
		}
	}
	return of(s), nil
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`)

func (s *set) addPerson(name string, p person) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("people: the name %q: letters, digits and . _ @ + -, at most 128, are allowed", strictyaml.Clip(name))
	}
	for _, identity := range p.Identities {
		if err := s.free(identity); err != nil {
			return fmt.Errorf("people: %s: %w", name, err)
		}
		s.people[identity], s.senders[identity] = name, name
	}
	for _, agent := range p.Agents {
		if owner, taken := s.senders[agent]; taken {
			return fmt.Errorf("people: %s: %q is %s's already", name, agent, owner)
		}
		if !strings.HasPrefix(agent, "nats ") {
			return fmt.Errorf("people: %s: agents: %q is not a sender of events: want one like \"nats agent/coder\"", name, strictyaml.Clip(agent))
		}
		s.senders[agent] = name
	}
	return nil
}

func (s *set) addModel(identity string) error {
	if err := s.free(identity); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	s.models[identity] = true
	return nil
}

// free returns an error if an identity can't be a person's, or is assigned already.
func (s *set) free(identity string) error {
	owner, taken := s.senders[identity]
	switch {
	case taken:
		return fmt.Errorf("%q is %s's already", identity, owner)
	case s.models[identity]:
		return fmt.Errorf("%q is a model's already", identity)
	case identity == "console token":
		return fmt.Errorf("%q proves nobody: give each person a token of their own (--console-token=ann:TOKEN,bob:TOKEN)", identity)
	case strings.HasPrefix(identity, "nats agent/"):
		return fmt.Errorf("%q is an agent's, which approves nothing: list it under agents", identity)
	case !strings.HasPrefix(identity, "nats ") && !strings.HasPrefix(identity, "console "):
		return fmt.Errorf("%q proves nobody: an identity is like \"console ann\" or \"nats approver/ann\", as records name who answers", strictyaml.Clip(identity))
	}
	return nil
}

func (s *set) addGroup(group string, members []string, people map[string]person) error {
	if err := chain.CheckGroup(group); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	s.groups[group] = map[string]bool{}
	for _, member := range members {
		if _, known := people[member]; !known {
			return fmt.Errorf("groups: %s: there is no person %q", group, strictyaml.Clip(member))
		}
		s.groups[group][member] = true
	}
	return nil
}

func (s *set) addNeed(n need) error {
	a := n.approval()
	if n.Hook == "" {
		return fmt.Errorf("hook is missing: the id of a hook, or \"*\"")
	}
	if len(n.Hook) > approval.MaxGlob || len(n.Event) > approval.MaxGlob {
		return fmt.Errorf("a glob has more than %d bytes", approval.MaxGlob)
	}
	if err := a.Check(); err != nil {
		return err
	}
	if why := s.impossible(a, ""); why != "" {
		return fmt.Errorf("nobody could allow it: %s", why)
	}
	s.needs = append(s.needs, n)
	return nil
}
