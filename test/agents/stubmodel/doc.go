// Package stubmodel is a model server without a model, for tests of real agents.
//
// It implements OpenAI Responses, OpenAI Chat Completions, Anthropic Messages and Gemini
// generateContent, each with and without streaming. It makes the agent call its shell tool with one
// command, or several in turn, and finishes when the agent has sent the results. It records the
// requests, so that a test can check what reached the model.
//
// It keeps no conversation: it chooses the answer by the number of tool results in the request. It
// answers a request without tools, for example for a title, with the final text.
package stubmodel
