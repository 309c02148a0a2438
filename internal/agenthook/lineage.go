package agenthook

// above returns the parent session of an event's session, and the root of the session tree; empty
// if unknown. An agent that another agent started from its shell has the other's session in its
// environment.
//
// The result is an unverified claim that only adds labels. An agent that clears its environment
// loses them only if it also has another identity.
func (h *Hook) above(in input) (parent, root string) {
	o := h.Options
	own, _ := in.members.GetString("session_id")
	if o.Getenv == nil {
		return "", ""
	}
	for _, d := range Dialects() {
		if d.SessionEnv == "" {
			continue
		}
		switch id := o.Getenv(d.SessionEnv); {
		case id == "" || id == own || id == parent:
		case parent == "":
			parent = id
		default:
			return parent, id // with more agents, the router knows the sessions above these
		}
	}
	return parent, ""
}
