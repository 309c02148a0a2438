package agenthook

// above returns the session that spawned own, and the one at the root of their tree, as
// agents name them to the programs that they run: an agent that another one started from
// its shell finds the other's session in its environment. Each is empty if nobody says.
//
// It is a claim, and only adds labels; an agent that clears its environment is on its own,
// as far as its identity is another one.
func (o Options) above(own string) (parent, root string) {
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
