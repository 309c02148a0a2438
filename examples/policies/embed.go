package policies

import _ "embed"

// CodingAgent is coding-agent.yaml, the starter policy that `hookctl scan` runs.
//
//go:embed coding-agent.yaml
var CodingAgent []byte
