// Package transcript reads what coding agents kept of their sessions on this machine as the
// events that they would have reported: prompts, tool calls and what came of them.
//
// [Read] knows the lines of Claude Code (~/.claude/projects/**/*.jsonl) and of Codex
// (~/.codex/sessions/**/*.jsonl), the older ones too, by what is in them. What it doesn't
// know is passed over; what is no JSON object, or longer than [MaxLine], is counted. [Files]
// finds them. Nothing is written, and nothing leaves the machine.
package transcript
