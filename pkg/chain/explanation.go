package chain

// Explanation is the router's answer on hooks.explain for one hook: whether it would be called
// for an event, in its place in the chain, and how it is registered, with the defaults filled
// in.
type Explanation struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Events     []string `json:"events"`
	Priority   int      `json:"priority"`
	Mode       Mode     `json:"mode"`
	Match      string   `json:"match,omitempty"`
	Matches    bool     `json:"matches"`               // whether it would be called
	MatchError string   `json:"match_error,omitempty"` // why that is unknown; on_failure would decide
	TimeoutMS  int      `json:"timeout_ms"`
	OnFailure  Policy   `json:"on_failure"`
	SessionID  string   `json:"session_id,omitempty"`
	Effect     Effect   `json:"effect,omitempty"`
	Group      int      `json:"group,omitempty"` // of hooks that would be called concurrently, from 1; 0: alone
	Instances  int      `json:"instances"`       // live ones; with none, on_failure would decide
}
