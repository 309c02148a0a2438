// Package stubmodel is a model server without a model, for tests of real agents.
//
// It speaks OpenAI Responses, OpenAI Chat Completions, Anthropic Messages and Gemini
// generateContent, each streamed and not. It has the agent call its shell tool with one
// command, and finishes once the agent sends a result. It keeps what agents send, so that
// a test can look for what reached the model.
//
// It holds no conversation: a request without a tool's result is answered with the call,
// any other one with a text, and a request without tools (for a title, say) with the same
// text.
package stubmodel
