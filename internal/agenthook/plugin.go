package agenthook

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed plugin.js
var plugin string

// Plugin is the plug-in that makes OpenCode ask hook-agent: the program and its arguments
// up to the dialect.
func Plugin(program string, args []string) string {
	return strings.NewReplacer(`"PROGRAM"`, string(marshal(program)), `["ARGS"]`, string(marshal(args))).Replace(plugin)
}

// marshal is for values that can't fail.
func marshal(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}
