package agenthook

// above returns the session that spawned that of an event, and the one at the root of their tree. An agent
// that another one started from its shell finds the other's session in its environment. Both
// are empty if they are not known.
//
// This is a claim, and only adds labels. An agent that clears its environment escapes them
// only if it also has another identity.
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
			return parent, id // of more agents, the router knows what is above these
		}
	}
	return parent, ""
}
