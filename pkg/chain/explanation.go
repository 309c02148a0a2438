package chain

// Explanation is the answer of hooks.explain for one hook: whether it would be called for an event,
// and its registration with defaults filled in.
type Explanation struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Events     []string `json:"events"`
	Priority   int      `json:"priority"`
	Mode       Mode     `json:"mode"`
	Match      string   `json:"match,omitempty"`
	Matches    bool     `json:"matches"`               // whether the hook would be called
	MatchError string   `json:"match_error,omitempty"` // why that is unknown; on_failure would apply
	TimeoutMS  int      `json:"timeout_ms"`
	OnFailure  Policy   `json:"on_failure"`
	SessionID  string   `json:"session_id,omitempty"`
	Effect     Effect   `json:"effect,omitempty"`
	Group      int      `json:"group,omitempty"` // number of the group of hooks called concurrently, from 1; 0 if called alone
	Instances  int      `json:"instances"`       // live instances; if there are none, on_failure would apply
}
