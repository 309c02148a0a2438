// Package transcript reads the transcripts that coding agents store on this machine. It returns
// them as the events that the agents would have reported: prompts, tool calls and their results.
//
// [Read] supports the line formats of Claude Code (~/.claude/projects/**/*.jsonl) and Codex
// (~/.codex/sessions/**/*.jsonl), including older ones, and detects them by their content. It
// ignores lines of unknown types, and counts lines that are not JSON objects or are longer than
// [MaxLine]. [Files] finds the transcripts. The package writes nothing and sends nothing.
package transcript
