package agenthook

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed plugin.js
var plugin string

// Plugin returns the OpenCode plug-in that asks hook-agent. program and args are the command line
// of hook-agent up to the dialect.
func Plugin(program string, args []string) string {
	return strings.NewReplacer(`"PROGRAM"`, string(marshal(program)), `["ARGS"]`, string(marshal(args))).Replace(plugin)
}

// marshal returns the JSON of a value that always encodes.
func marshal(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}
