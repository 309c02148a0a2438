package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// complete fills in the defaults of the format and checks what the decoder
// cannot: that everything the case says is something this runner does.
func (c *Case) complete() error {
	if err := c.Config.complete(); err != nil {
		return err
	}
	ids := map[string]bool{}
	for i := range c.Handlers {
		if err := c.Handlers[i].complete(ids); err != nil {
			return err
		}
	}
	for i := range c.Contributors {
		if err := c.Contributors[i].complete(ids); err != nil {
			return err
		}
	}
	if len(c.Steps) == 0 {
		return errors.New("no steps")
	}
	for i := range c.Steps {
		if err := c.Steps[i].complete(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *Config) complete() error {
	c.ApprovalSystem = cmp.Or(c.ApprovalSystem, Present)
	c.DisplaySystem = cmp.Or(c.DisplaySystem, Present)
	c.ContextManager = cmp.Or(c.ContextManager, Present)
	for system, state := range map[string]string{
		"approval_system": c.ApprovalSystem, "display_system": c.DisplaySystem, "context_manager": c.ContextManager,
	} {
		if state == Present || state == Absent || state == Failing && system == "context_manager" {
			continue
		}
		return fmt.Errorf("unknown %s %q", system, state)
	}
	return nil
}

// complete adds the handler's id to ids, the ids taken so far.
func (h *Handler) complete(ids map[string]bool) error {
	h.ID = cmp.Or(h.ID, h.Name)
	h.OnFailure = cmp.Or(h.OnFailure, "continue")
	switch {
	case h.Name == "" || h.Event == "":
		return fmt.Errorf("handler %q: no name or no event", h.ID)
	case ids[h.ID]:
		return fmt.Errorf("handler %q: its id is taken", h.ID)
	case h.OnFailure != "continue" && h.OnFailure != "deny":
		return fmt.Errorf("handler %q: unknown on_failure %q", h.ID, h.OnFailure)
	}
	ids[h.ID] = true
	if err := h.Behavior.check(hookKeys); err != nil {
		return fmt.Errorf("handler %q: %w", h.ID, err)
	}
	return nil
}

func (c *Contributor) complete(ids map[string]bool) error {
	c.ID = cmp.Or(c.ID, c.Name)
	switch {
	case c.Name == "" || c.Channel == "":
		return fmt.Errorf("contributor %q: no name or no channel", c.ID)
	case ids[c.ID]:
		return fmt.Errorf("contributor %q: its id is taken", c.ID)
	}
	ids[c.ID] = true
	if err := c.Behavior.check(contributorKeys); err != nil {
		return fmt.Errorf("contributor %q: %w", c.ID, err)
	}
	return nil
}

func (s *Step) complete() error {
	switch s.Op {
	case OpEmit, OpExecute, OpCollect:
		if s.Event == "" || s.Data == nil {
			return fmt.Errorf("%s: no event or no data", s.Op)
		}
	case OpContributions:
		if s.Channel == "" {
			return fmt.Errorf("%s: no channel", s.Op)
		}
	case OpRegister:
		if err := decodeStrictly(s.Handler, &s.register); err != nil {
			return fmt.Errorf("%s: %w", s.Op, err)
		}
		if err := s.register.complete(map[string]bool{}); err != nil {
			return fmt.Errorf("%s: %w", s.Op, err)
		}
	case OpUnregister:
		if err := decodeStrictly(s.Handler, &s.unregister); err != nil {
			return fmt.Errorf("%s: %w", s.Op, err)
		}
	case OpSetDefaultFields:
		if s.Fields == nil {
			return fmt.Errorf("%s: no fields", s.Op)
		}
	case OpList, OpResetTurn, OpEndSession, OpSleep:
	default:
		return fmt.Errorf("unknown op %q", s.Op)
	}
	for key := range s.Expect {
		if checks[key] == nil {
			return fmt.Errorf("%s: unknown expectation %q", s.Op, key)
		}
	}
	return nil
}

// check reports what the behavior says beyond one of the allowed keys.
func (b Behavior) check(allowed []string) error {
	keys := b.keys()
	if len(keys) > 1 {
		return fmt.Errorf("behavior: more than one of %q", keys)
	}
	for _, key := range keys {
		if !slices.Contains(allowed, key) {
			return fmt.Errorf("behavior: %q is not for this", key)
		}
	}
	for _, nested := range b.Sequence {
		if nested.NoResponder || nested.Sequence != nil {
			return errors.New("behavior: no_responder and sequence cannot be one call of a sequence")
		}
		if err := nested.check(allowed); err != nil {
			return err
		}
	}
	return nil
}
