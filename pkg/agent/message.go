package agent

import (
	"context"
	"slices"
	"sync"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// RoleTool is the role of a tool's result. Hooks can't write messages with it.
const RoleTool chain.Role = "tool"

// Message is one message of a conversation.
type Message struct {
	Role    chain.Role `json:"role"` // system, user, assistant or tool
	Content string     `json:"content"`
	// Metadata identifies the hook that the message comes from; nil for the agent's own messages.
	Metadata *verdict.Metadata `json:"metadata,omitempty"`
}

// ContextManager keeps the conversation that a model sees. A [Session] adds the hooks' injections
// and reads all messages before a model call; the agent adds everything else. It must be safe for
// concurrent use.
type ContextManager interface {
	// AddMessage appends a message.
	AddMessage(ctx context.Context, m Message) error
	// Messages returns all messages, oldest first.
	Messages(ctx context.Context) ([]Message, error)
}

// MemoryContext is a [ContextManager] that keeps every message in memory. The zero MemoryContext
// is empty and ready to use.
type MemoryContext struct {
	mu       sync.Mutex // guards messages
	messages []Message
}

// AddMessage appends a message. It never fails.
func (c *MemoryContext) AddMessage(_ context.Context, m Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages = append(c.messages, m)
	return nil
}

// Messages returns a copy of all messages, oldest first. It never fails.
func (c *MemoryContext) Messages(context.Context) ([]Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.messages), nil
}

// fromHook converts a hook's message for a context manager.
func fromHook(m verdict.Message) Message {
	return Message{Role: m.Role, Content: m.Content, Metadata: &m.Metadata}
}

// withEphemeral returns messages followed by the hooks' ephemeral ones. It does not change
// messages.
func withEphemeral(messages []Message, ephemeral []verdict.Message) []Message {
	messages = slices.Clone(messages)
	for _, m := range ephemeral {
		last := len(messages) - 1
		if m.AppendToLastToolResult && last >= 0 && messages[last].Role == RoleTool {
			messages[last].Content += "\n\n" + m.Content
			continue
		}
		messages = append(messages, fromHook(m))
	}
	return messages
}
